//! Nodes come, change, fall silent, return and leave.

use mainspring_engine::{Event, Heartbeat};
use mainspring_model::spec::{Action, Balancer, Body, CauseMatch, Handler, OnDisconnect, Rule};
use mainspring_model::{Cause, NodeId, NodeState, Reason, RunEventKind, RunState};
use mainspring_store::{Transaction, Write};

use crate::world::{World, balancer, millis, secs};

#[test]
fn a_node_may_be_silent_for_as_long_as_its_owner_has_patience() {
    let mut world = World::new();
    let patient = world.node("patient");
    world.config.patience.insert(patient, secs(3_600));
    world.take_over();
    world.connect_all();
    let job = world.job();
    let run = world.submit(&job);
    let silent = world.silence(patient);
    world.pass(world.config.lost_after * 3);
    world.states(&[run], RunState::Running);
    // Nothing new goes there meanwhile, and the next owner is as patient.
    let second = world.submit(&job);
    world.states(&[second], RunState::Waiting);
    world.take_over();
    world.pass(secs(3_500));
    world.states(&[run], RunState::Running);
    world.pass(secs(200));
    world.states(&[run], RunState::Waiting);
    drop(silent);
}

#[test]
fn a_silent_node_that_is_known_to_be_gone_is_not_waited_for() {
    let mut world = World::new();
    let patient = world.node("patient");
    world.config.patience.insert(patient, secs(86_400));
    world.take_over();
    world.connect_all();
    let job = world.job();
    let run = world.submit(&job);
    lose(&mut world, patient);
    world.states(&[run], RunState::Running);
    world.silence(patient);
    // The next owner has heard nobody, and knows no better at first.
    world.take_over();
    lose(&mut world, patient);
    world.states(&[run], RunState::Running);
    world.pass(world.config.lost_after);
    world.node("spare");
    world.hush();
    lose(&mut world, patient);
    world.expect(&["4: done", "start r1#2 on spare"]);
    assert_eq!(world.node_state(patient), NodeState::Lost);
    assert_eq!(world.earlier(run), [Cause::Lost { node: patient }]);
    // A repeat does not bring back what somebody removed meanwhile.
    let expected = world.store.node(patient).unwrap().revision;
    let removal = Write::RemoveNode { id: patient, expected };
    world.store.commit(&Transaction::unfenced(vec![removal])).unwrap();
    lose(&mut world, patient);
    world.expect(&["5: done"]);
    assert_eq!(world.store.node(patient), None);
    world.finish(run);
}

#[test]
fn one_that_is_heard_is_not_given_up_and_one_that_was_emptied_is() {
    let mut world = World::new();
    let node = world.node("a");
    world.hush();
    lose(&mut world, node);
    world.expect(&["1: refused IllegalState"]);
    lose(&mut world, NodeId::MIN);
    world.expect(&["2: refused NotFound"]);
    let (request, deadline) = (world.request(), Some(world.now + secs(600)));
    world.handle(Event::Drain { request, node, deadline });
    world.silence(node);
    world.pass(world.config.lost_after * 2);
    assert!(matches!(world.node_state(node), NodeState::Draining { .. }));
    lose(&mut world, node);
    assert_eq!(world.node_state(node), NodeState::Lost);
}

#[test]
fn a_node_whose_row_was_removed_is_written_again_when_it_returns() {
    let mut world = World::new();
    let node = world.node("a");
    let silent = world.silence(node);
    world.pass(world.config.lost_after);
    let expected = world.store.node(node).unwrap().revision;
    let removal = Write::RemoveNode { id: node, expected };
    world.store.commit(&Transaction::unfenced(vec![removal])).unwrap();
    assert_eq!(world.store.node(node), None);
    world.revive(silent);
    world.settle();
    assert_eq!(world.node_state(node), NodeState::Up);
    let (job, next) = (world.job(), world.config.lost_after);
    let run = world.submit(&job);
    world.pass(next / 3);
    world.finish(run);
}

fn lose(world: &mut World, node: NodeId) {
    let request = world.request();
    world.handle(Event::Lose { request, node });
    world.settle();
}

#[test]
fn a_node_joins_and_takes_what_waits() {
    let mut world = World::new();
    let job = world.job();
    let runs = world.submit_many(&job, 3);
    world.hush();
    let node = world.node_with("a", |node| node.slots = 2);
    world.expect(&["welcome a 1", "start r1#1 on a", "start r2#1 on a"]);
    world.states(&runs[..2], RunState::Running);
    world.states(&runs[2..], RunState::Waiting);
    assert_eq!(world.node_state(node), NodeState::Up);
    assert_eq!(world.store.node(node).unwrap().revision, 1);
}

#[test]
fn a_node_that_grew_takes_more_and_one_that_shrank_takes_nothing() {
    let mut world = World::new();
    let job = world.job();
    let node = world.node_with("a", |node| node.slots = 1);
    let runs = world.submit_many(&job, 4);
    world.agent(node).node.slots = 3;
    world.hush();
    world.connect(node);
    assert_eq!(world.starts(), ["r2#1 on a", "r3#1 on a"]);
    assert_eq!(world.store.node(node).unwrap().slots, 3);
    world.agent(node).node.slots = 1;
    world.connect(node);
    for run in &runs[..2] {
        world.hush();
        world.finish(*run);
        assert_eq!(world.starts(), [""; 0], "it still holds more than it has, or just as much");
    }
    world.finish(runs[2]);
    assert_eq!(world.starts(), ["r4#1 on a"]);
    assert_eq!(world.cell.running(), 1);
}

#[test]
fn labels_and_handlers_are_looked_at_again_when_they_change() {
    let mut world = World::new();
    let node = world.node("a");
    let zoned = world.job_with(|spec| spec.placement.selector = "zone=eu".parse().unwrap());
    let body = Body::Handler(Handler { name: "resize".into() });
    let handled = world.job_with(|spec| spec.body = body);
    let (labelled, function) = (world.submit(&zoned), world.submit(&handled));
    world.states(&[labelled, function], RunState::Waiting);
    world.hush();
    world.agent(node).node.labels.insert("zone", "eu").unwrap();
    world.connect(node);
    assert_eq!(world.starts(), ["r1#1 on a"]);
    world.agent(node).node.handlers = vec!["scale".into(), "resize".into()];
    world.connect(node);
    assert_eq!(world.starts(), ["r2#1 on a"]);
    world.finish(labelled);
    world.agent(node).node.labels = Default::default();
    world.connect(node);
    let run = world.submit(&zoned);
    world.states(&[run], RunState::Waiting);
}

#[test]
fn a_silent_node_is_lost_and_its_runs_are_retried_elsewhere() {
    let mut world = World::new();
    let (a, _) = (world.node_with("a", |node| node.slots = 1), world.node_with("b", |node| node.slots = 1));
    let job = world.job_with(|spec| spec.retry.max = 0);
    let runs = world.submit_many(&job, 2);
    let run = runs.iter().copied().find(|run| world.node_of(*run) == "a").unwrap();
    let other = runs.iter().copied().find(|run| world.node_of(*run) == "b").unwrap();
    world.silence(a);
    world.hush();
    world.pass(world.config.lost_after - secs(1));
    world.quiet();
    world.pass(secs(1));
    assert_eq!(world.node_state(a), NodeState::Lost);
    assert_eq!(world.state(run), RunState::Waiting, "a loss is not one of the job's retries");
    assert_eq!(world.earlier(run), [Cause::Lost { node: a }]);
    assert_eq!(world.events(run), [RunEventKind::NodeLost { node: a, attempt: 1 }]);
    world.finish(other);
    assert_eq!(world.node_of(run), "b");
    world.finish(run);
    world.states(&runs, RunState::Success);
}

#[test]
fn a_lost_run_fails_if_its_rule_says_so() {
    let mut world = World::new();
    let a = world.node("a");
    let rule = Rule { cause: CauseMatch::Lost, then: Action::Fail };
    let job = world.job_with(|spec| spec.retry.rules = vec![rule]);
    let run = world.submit(&job);
    world.silence(a);
    world.pass(world.config.lost_after);
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, Cause::Lost { node: a }));
}

#[test]
fn a_task_that_was_kept_by_its_lost_node_is_stopped_when_that_returns_and_the_run_says_so() {
    let mut world = World::new();
    let (a, _) = (world.node("a"), world.node("b"));
    let job = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::First);
        spec.on_disconnect = OnDisconnect::Keep;
    });
    let run = world.submit(&job);
    let silent = world.silence(a);
    world.pass(world.config.lost_after);
    assert_eq!(world.node_of(run), "b");
    world.hush();
    world.revive(silent);
    world.expect(&["welcome a 2", "stop r1#1 on a after 0s"]);
    assert!(world.row(run).status.extra.unwrap().maybe_doubled);
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn a_node_that_missed_heartbeats_gets_nothing_new_until_it_is_heard() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    world.submit(&job);
    world.agent(a).next_beat_at = world.now + secs(11);
    world.pass(secs(10));
    world.hush();
    let waits = world.submit(&job);
    world.expect(&["2: submitted r2"]);
    assert_eq!(world.why(waits).to_string(), "a, the only node that matches, is silent");
    world.pass(secs(1));
    world.expect(&["start r2#1 on a"]);
}

#[test]
fn a_run_does_not_hop_from_one_silent_node_to_the_next() {
    let mut world = World::new();
    for n in 0..20 {
        world.node(&format!("n{n}"));
        world.pass(millis(250));
    }
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::RoundRobin));
    let runs = world.submit_many(&job, 20);
    world.agents.clear();
    world.pass(secs(60));
    for run in &runs {
        assert_eq!((world.state(*run), world.row(*run).status.losses), (RunState::Waiting, 1));
    }
}

#[test]
fn a_node_that_returns_in_time_has_lost_nothing() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let silent = world.silence(a);
    world.pass(world.config.lost_after - secs(1));
    world.hush();
    world.revive(silent);
    world.expect(&["welcome a 2"]);
    assert_eq!((world.row(run).status.attempt, world.cell.stats().nodes_lost), (1, 0));
    world.pass(secs(100));
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn what_a_node_accepted_and_no_longer_holds_has_vanished() {
    for by_heartbeat in [false, true] {
        let mut world = World::new();
        let a = world.node("a");
        let job = world.job_with(|spec| spec.retry.max = 0);
        let run = world.submit(&job);
        world.agent(a).held.clear();
        world.hush();
        if by_heartbeat {
            world.beat(a);
        } else {
            world.connect(a);
        }
        assert_eq!(world.earlier(run), [Cause::Vanished { node: a }]);
        assert_eq!(world.starts(), ["r1#2 on a"], "it is the only node");
    }
}

#[test]
fn an_order_that_was_lost_is_repeated_and_not_given_up() {
    let mut world = World::new().by_hand();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.hush();
    world.beat(a);
    world.quiet();
    world.pass(world.config.repeat_every);
    world.expect(&["start r1#1 on a"]);
    world.connect(a);
    world.expect(&["welcome a 2", "start r1#1 on a"]);
    world.accept(run);
    world.pass(world.config.repeat_every * 3);
    world.quiet();
}

#[test]
fn a_heartbeat_of_an_unknown_or_old_connection() {
    let mut world = World::new();
    let a = world.node("a");
    world.connect(a);
    world.hush();
    let heartbeat = |session| Event::Heartbeat(Heartbeat { node: a, session, beat: 99, held: Vec::new() });
    world.handle(heartbeat(1));
    world.quiet();
    world.handle(heartbeat(3));
    world.expect(&["who are you a"]);
    world.take_over();
    world.beat(a);
    world.expect(&["who are you a"]);
}

#[test]
fn a_heartbeat_that_was_overtaken_proves_nothing() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.beat(a);
    let (session, beat) = (world.agent(a).session, world.agent(a).beat);
    world.hush();
    // Sent before the order was accepted, so it does not list it; arrived after one that does.
    world.handle(Event::Heartbeat(Heartbeat { node: a, session, beat: beat - 1, held: Vec::new() }));
    world.quiet();
    world.states(&[run], RunState::Running);
}

#[test]
fn goodbye_of_an_empty_node_and_of_one_that_still_holds_something() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let session = world.agent(a).session;
    world.handle(Event::Goodbye { node: a, session });
    assert_eq!(world.node_state(a), NodeState::Up, "it holds an attempt: it returns or is lost");
    world.finish(run);
    world.handle(Event::Goodbye { node: a, session: session - 1 });
    assert_eq!(world.node_state(a), NodeState::Up, "an old connection says nothing");
    world.handle(Event::Goodbye { node: a, session });
    assert_eq!(world.node_state(a), NodeState::Left);
    world.hush();
    let waits = world.submit(&job);
    assert!(matches!(world.why(waits), Reason::NoNode(_)));
    world.connect(a);
    assert_eq!(world.starts(), ["r2#1 on a"]);
    assert_eq!(world.node_state(a), NodeState::Up);
}

#[test]
fn a_goodbye_crosses_an_order() {
    let mut world = World::new().by_hand();
    let a = world.node("a");
    let job = world.job();
    let (first, second) = (world.submit(&job), world.submit(&job));
    world.start(first);
    let b = world.node("b");
    let session = world.agent(a).session;
    world.hush();
    world.handle(Event::Goodbye { node: a, session });
    world.expect(&["start r2#2 on b"]);
    assert_eq!(world.node_state(a), NodeState::Up, "it said that it executes one: it returns or is lost");
    let third = world.submit(&job);
    assert_eq!(world.node_of(third), "b", "nothing new for a node that left");
    world.start(second);
    world.start(third);
    let session = world.agent(b).session;
    world.handle(Event::Goodbye { node: b, session });
    world.states(&[first, second, third], RunState::Running);

    let c = world.node("c");
    let fourth = world.submit(&job);
    let session = world.agent(c).session;
    world.handle(Event::Goodbye { node: c, session });
    assert_eq!((world.node_state(c), world.state(fourth)), (NodeState::Left, RunState::Waiting));
}

#[test]
fn many_nodes_lost_at_once_fit_into_the_stores_transactions() {
    let mut world = World::new();
    for n in 0..3_000 {
        world.node(&format!("n{n}"));
    }
    let job = world.job();
    world.commits = false;
    let runs = world.submit_many(&job, 12_000);
    world.commits = true;
    world.settle();
    assert_eq!(world.cell.running(), 12_000);
    world.agents.clear();
    world.pass(world.config.lost_after);
    for run in runs {
        assert_eq!((world.state(run), world.earlier(run).len()), (RunState::Waiting, 1));
    }
}

#[test]
fn a_node_tells_what_it_holds_in_any_order() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let runs = world.submit_many(&job, 4);
    world.agent(a).held.reverse();
    world.beat(a);
    world.states(&runs, RunState::Running);
    world.connect(a);
    world.states(&runs, RunState::Running);
    assert!(runs.iter().all(|run| world.row(*run).status.attempt == 1));
}
