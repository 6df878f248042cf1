//! Cancelling in every state: the wish is durable before anybody acts on it, and success wins a race.

use mainspring_model::spec::Curve;
use mainspring_model::{Cause, RunEventKind, RunState};

use crate::world::{World, at, secs, wait};

fn cancelled() -> Cause {
    Cause::Cancelled { by: "ann".into() }
}

#[test]
fn a_run_that_waits_ends_at_once() {
    let mut world = World::new();
    let job = world.job();
    let waiting = world.submit(&job);
    let ready = world.submit_with(&job, |head| head.not_before = Some(at(50)));
    world.hush();
    for run in [waiting, ready] {
        world.cancel(run);
        assert_eq!((world.state(run), world.cause(run)), (RunState::Cancelled, cancelled()));
        assert_eq!(world.events(run), [RunEventKind::CancelRequested { by: "ann".into() }]);
    }
    world.expect(&["3: done", "4: done"]);
    world.node("a");
    world.hush();
    world.pass(secs(100));
    world.quiet();
}

#[test]
fn a_run_in_its_back_off_ends_at_once() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.retry.backoff = wait(Curve::Fixed { base: secs(60) }));
    let run = world.submit(&job);
    world.end(run, Cause::Exit { code: 1 });
    world.states(&[run], RunState::Failed);
    world.hush();
    world.cancel(run);
    world.expect(&["2: done"]);
    assert_eq!((world.state(run), world.cause(run)), (RunState::Cancelled, cancelled()));
}

#[test]
fn a_running_task_gets_its_grace() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.timeout.stop_grace = secs(7));
    let run = world.submit(&job);
    world.hush();
    world.commits = false;
    world.cancel(run);
    world.quiet();
    world.commits = true;
    world.settle();
    world.expect(&["2: done", "stop r1#1 on a after 7s"]);
    world.states(&[run], RunState::Running);
    assert_eq!(world.row(run).status.cancel().unwrap().by, "ann".into());
    world.stopped(run);
    world.expect(&["forget r1#1 on a"]);
    assert_eq!((world.state(run), world.cause(run)), (RunState::Cancelled, cancelled()));
    assert_eq!(world.cell.running(), 0);
}

#[test]
fn a_stop_is_repeated_until_the_node_answers() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.cancel(run);
    world.hush();
    world.pass(world.config.repeat_every);
    world.expect(&["stop r1#1 on a after 10s"]);
    world.stopped(run);
    world.hush();
    world.pass(secs(60));
    world.quiet();
}

#[test]
fn a_kill_has_no_grace_and_may_follow_a_cancel() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.hush();
    world.cancel(run);
    world.cancel(run);
    world.expect(&["2: done", "3: done", "stop r1#1 on a after 10s"]);
    world.kill(run);
    world.expect(&["4: done", "stop r1#1 on a after 0s"]);
    world.cancel(run);
    world.expect(&["5: done"]);
    world.stopped(run);
    world.states(&[run], RunState::Cancelled);
}

#[test]
fn a_task_that_ended_well_before_the_stop_reached_it_has_ended_well() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.cancel(run);
    world.hush();
    world.finish(run);
    world.expect(&["forget r1#1 on a"]);
    assert_eq!((world.state(run), world.cause(run)), (RunState::Success, Cause::Exit { code: 0 }));
}

#[test]
fn a_task_that_failed_by_itself_is_cancelled_and_not_retried() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.cancel(run);
    world.hush();
    world.end(run, Cause::Exit { code: 3 });
    world.expect(&["forget r1#1 on a"]);
    world.states(&[run], RunState::Cancelled);
}

#[test]
fn an_order_that_never_arrived_is_cancelled_when_its_node_is_back() {
    let mut world = World::new().by_hand();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.cancel(run);
    world.hush();
    world.connect(node);
    // The node answers a stop of what it does not know: it never begins.
    world.expect(&["stop r1#1 on a after 10s", "welcome a 2"]);
    assert_eq!(world.state(run), RunState::Running);
    world.stopped(run);
    assert_eq!((world.state(run), world.cause(run)), (RunState::Cancelled, cancelled()));
}

#[test]
fn a_hello_from_before_the_order_ends_nothing_under_a_new_owner() {
    let mut world = World::new().by_hand();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.cancel(run);
    world.take_over();
    // It travelled slowly: the task has ended well since.
    world.connect(node);
    assert_eq!(world.state(run), RunState::Running);
    world.finish(run);
    assert_eq!(world.state(run), RunState::Success, "finished work is finished");
}

#[test]
fn the_wish_survives_the_owner() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.cancel(run);
    world.take_over();
    world.connect(node);
    world.expect(&["welcome a 2", "stop r1#1 on a after 10s"]);
    world.stopped(run);
    assert_eq!((world.state(run), world.cause(run)), (RunState::Cancelled, cancelled()));
}

#[test]
fn an_ended_run_cannot_be_cancelled() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let (done, gone) = (world.submit(&job), world.submit(&job));
    world.finish(done);
    world.cancel(gone);
    world.stopped(gone);
    world.hush();
    world.cancel(done);
    world.cancel(gone);
    world.expect(&["4: refused IllegalState", "5: refused IllegalState"]);
    world.states(&[done], RunState::Success);
}

#[test]
fn a_run_that_is_not_in_memory_is_cancelled_by_its_row() {
    let mut world = World::with(|config| config.timed_horizon = secs(60));
    let job = world.job();
    let run = world.submit_with(&job, |head| head.not_before = Some(at(5_000)));
    assert!(world.cell.run(run).is_none());
    world.hush();
    let request = world.request();
    let (by, kill) = ("ann".into(), false);
    world.handle(mainspring_engine::Event::Cancel { request, run, row: None, by, kill });
    world.expect(&["2: refused NotFound"]);
    world.cancel(run);
    world.expect(&["3: done"]);
    world.states(&[run], RunState::Cancelled);
    assert!(world.cell.run(run).is_none());
}
