//! Draining: no new work, patience until the deadline, then the rest is moved.

use mainspring_engine::Event;
use mainspring_model::spec::RetryNode;
use mainspring_model::{Cause, NodeId, NodeState, RunState, Timestamp};

use crate::world::{World, at, secs};

fn drain(world: &mut World, node: NodeId, deadline: Option<Timestamp>) {
    let request = world.request();
    world.handle(Event::Drain { request, node, deadline });
}

#[test]
fn a_draining_node_finishes_what_it_has() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.hush();
    drain(&mut world, a, Some(at(100)));
    world.expect(&["2: done"]);
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(100) });
    let waits = world.submit(&job);
    assert_eq!(world.why(waits).name(), "no_node");
    world.finish(run);
    world.states(&[run], RunState::Success);
    world.hush();
    world.pass_until(at(200));
    world.quiet();
    drain(&mut world, a, None);
    world.expect(&["4: done", "start r2#1 on a"]);
    assert_eq!(world.node_state(a), NodeState::Up);
}

#[test]
fn at_the_deadline_the_rest_is_stopped_and_moved() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| spec.retry.max = 0);
    let run = world.submit(&job);
    drain(&mut world, a, Some(at(50)));
    world.node("b");
    world.hush();
    world.pass_until(at(50));
    world.expect(&["stop r1#1 on a after 10s"]);
    world.stopped(run);
    assert_eq!(world.earlier(run), [Cause::Drained { node: a }]);
    assert_eq!((world.node_of(run).as_str(), world.state(run)), ("b", RunState::Running));
    assert_eq!(world.row(run).status.losses, 1, "a move is not one of the job's retries");
    world.hush();
    world.pass(secs(100));
    world.quiet();
}

#[test]
fn a_drain_survives_reconnection_and_takeover() {
    let mut world = World::new();
    let a = world.node("a");
    drain(&mut world, a, Some(at(50)));
    world.connect(a);
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(50) });
    world.take_over();
    world.connect(a);
    world.hush();
    let job = world.job();
    let run = world.submit(&job);
    world.expect(&["2: submitted r1"]);
    assert_eq!(world.why(run).to_string(), "a, the only node that matches, is draining");
}

#[test]
fn a_new_deadline_counts() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    world.submit(&job);
    drain(&mut world, a, Some(at(500)));
    drain(&mut world, a, Some(at(40)));
    world.hush();
    world.pass_until(at(40));
    world.expect(&["stop r1#1 on a after 10s"]);
}

#[test]
fn a_deadline_that_moved_later_stops_nothing_early() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    world.submit(&job);
    drain(&mut world, a, Some(at(40)));
    drain(&mut world, a, Some(at(500)));
    world.hush();
    world.pass_until(at(499));
    world.quiet();
    world.pass_until(at(500));
    world.expect(&["stop r1#1 on a after 10s"]);
}

#[test]
fn what_cannot_be_drained() {
    let mut world = World::new();
    let a = world.node("a");
    let session = world.agent(a).session;
    world.handle(Event::Goodbye { node: a, session });
    world.hush();
    drain(&mut world, a, Some(at(100)));
    drain(&mut world, NodeId::new(at(0), 99), Some(at(100)));
    world.expect(&["1: refused IllegalState", "2: refused NotFound"]);
}

#[test]
fn a_drained_node_that_was_away_is_still_drained() {
    let mut world = World::new();
    let a = world.node("a");
    drain(&mut world, a, Some(at(50)));
    let agent = world.silence(a);
    world.pass(secs(100));
    world.revive(agent);
    world.connect(a);
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(50) }, "lost and back");
    let session = world.agent(a).session;
    world.handle(Event::Goodbye { node: a, session });
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(50) }, "gone on purpose");
    world.connect(a);
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(50) }, "and back");
    let job = world.job();
    let run = world.submit(&job);
    assert_eq!(world.why(run).name(), "no_node");
    drain(&mut world, a, None);
    assert_eq!(world.state(run), RunState::Running);
}

#[test]
fn the_attempts_of_a_drained_node_are_given_up_when_it_is_lost() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    drain(&mut world, a, Some(at(5_000)));
    world.silence(a);
    world.pass(secs(60));
    assert_eq!(world.earlier(run), [Cause::Lost { node: a }]);
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(5_000) });
    world.hush();
    world.pass(secs(600));
    world.quiet();
}

#[test]
fn a_lost_node_can_be_drained_before_it_returns() {
    let mut world = World::new();
    let a = world.node("a");
    let agent = world.silence(a);
    world.pass(secs(60));
    assert_eq!(world.node_state(a), NodeState::Lost);
    drain(&mut world, a, Some(at(900)));
    world.revive(agent);
    world.connect(a);
    assert_eq!(world.node_state(a), NodeState::Draining { deadline: at(900) });
}

#[test]
fn a_drained_node_that_a_new_owner_has_not_heard_is_waited_for_like_any_other() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| spec.retry.node = RetryNode::Same);
    let run = world.submit(&job);
    let b = world.node("b");
    drain(&mut world, a, Some(at(5_000)));
    world.end(run, Cause::Exit { code: 1 });
    world.states(&[run], RunState::Waiting);
    let agent = world.silence(a);
    world.take_over();
    world.connect(b);
    world.pass(secs(5));
    world.states(&[run], RunState::Waiting);
    world.revive(agent);
    world.connect(a);
    drain(&mut world, a, None);
    assert_eq!(world.node_of(run), "a", "it is back");
    // Once more, and this time it stays away.
    drain(&mut world, a, Some(at(5_000)));
    world.end(run, Cause::Exit { code: 1 });
    world.silence(a);
    world.take_over();
    world.connect(b);
    world.pass(secs(5));
    world.states(&[run], RunState::Waiting);
    world.pass(secs(30));
    assert_eq!(world.node_of(run), "b", "the node is gone: another will do");
}
