//! The five timeouts and the deadline: each ends what it is about, when it is due, with its own cause.

use mainspring_engine::Event;
use mainspring_model::spec::{Backoff, Curve};
use mainspring_model::{Cause, RunState, TimeoutKind};

use crate::world::{World, at, millis, secs, wait};

fn timeout(limit: TimeoutKind) -> Cause {
    Cause::Timeout { limit }
}

#[test]
fn queue_ends_a_run_that_nobody_takes() {
    let mut world = World::new();
    let job = world.job_with(|spec| spec.timeout.queue = Some(secs(30)));
    let run = world.submit(&job);
    world.hush();
    world.pass(secs(30) - millis(1));
    world.states(&[run], RunState::Waiting);
    world.pass(millis(1));
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, timeout(TimeoutKind::Queue)));
    assert_eq!(world.row(run).status.reason.unwrap().name(), "no_node", "the row says what it waited for");
    world.quiet();
}

#[test]
fn queue_counts_each_wait_and_not_the_execution() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.timeout.queue = Some(secs(30)));
    let run = world.submit(&job);
    world.pass(secs(100));
    world.states(&[run], RunState::Running);
    world.end(run, Cause::Exit { code: 1 });
    world.states(&[run], RunState::Running);
}

#[test]
fn queue_counts_the_same_wait_for_every_owner() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.queue = Some(secs(60));
        spec.retry.backoff = wait(Curve::Fixed { base: secs(100) });
    });
    let run = world.submit(&job);
    world.end(run, Cause::Exit { code: 1 });
    world.silence(a);
    world.pass_until(at(110));
    world.take_over();
    world.pass_until(at(160) - millis(1));
    world.states(&[run], RunState::Waiting);
    world.pass(millis(1));
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, timeout(TimeoutKind::Queue)));
}

#[test]
fn queue_counts_the_same_wait_in_every_cell() {
    let mut world = World::with(|config| config.cells = 2);
    let job = world.job_with(|spec| spec.timeout.queue = Some(secs(35)));
    let run = world.submit(&job);
    for cell in [1, 0] {
        while world.row(run).status.cell != mainspring_model::CellId(cell) {
            world.pass(secs(1));
        }
        world.config.cell = mainspring_model::CellId(cell);
        world.take_over();
    }
    world.pass_until(at(35) - millis(1));
    world.states(&[run], RunState::Waiting);
    world.pass(millis(1));
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, timeout(TimeoutKind::Queue)));
}

#[test]
fn start_stops_an_attempt_that_does_not_begin() {
    let mut world = World::new().by_hand();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.start = secs(5);
        spec.retry.max = 0;
    });
    let run = world.submit(&job);
    world.accept(run);
    world.hush();
    world.pass(secs(5) - millis(1));
    world.quiet();
    world.pass(millis(1));
    world.expect(&["stop r1#1 on a after 10s"]);
    world.stopped(run);
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, timeout(TimeoutKind::Start)));
}

#[test]
fn run_stops_an_attempt_that_takes_too_long() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.run = Some(secs(60));
        spec.retry.max = 1;
    });
    let run = world.submit(&job);
    world.hush();
    world.pass(secs(60) - millis(1));
    world.quiet();
    world.pass(millis(1));
    world.expect(&["stop r1#1 on a after 10s"]);
    world.stopped(run);
    assert_eq!(world.earlier(run), [timeout(TimeoutKind::Run)]);
    world.states(&[run], RunState::Running);
    world.pass(secs(60));
    world.stopped(run);
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, timeout(TimeoutKind::Run)));
}

#[test]
fn a_task_that_ends_well_while_it_is_stopped_has_ended_well() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.timeout.run = Some(secs(60)));
    let run = world.submit(&job);
    world.pass(secs(61));
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn heartbeat_is_about_the_task_and_progress_moves_it() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.heartbeat = Some(secs(20));
        spec.retry.max = 0;
    });
    let run = world.submit(&job);
    world.hush();
    for _ in 0..5 {
        world.pass(secs(15));
        world.progress(run, 100, None);
    }
    world.quiet();
    world.pass(secs(20));
    world.expect(&["stop r1#1 on a after 10s"]);
    world.stopped(run);
    assert_eq!(
        (world.state(run), world.cause(run)),
        (RunState::FinalFailed, timeout(TimeoutKind::Heartbeat))
    );
}

#[test]
fn a_stop_is_repeated_however_much_the_task_says() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.timeout.run = Some(secs(60)));
    let run = world.submit(&job);
    world.pass(secs(60));
    world.expect(&["welcome a 1", "1: submitted r1", "start r1#1 on a", "stop r1#1 on a after 10s"]);
    for _ in 0..4 {
        world.progress(run, 100, None);
        world.pass(secs(1));
    }
    world.expect(&["stop r1#1 on a after 10s", "stop r1#1 on a after 10s"]);
}

#[test]
fn total_holds_for_a_back_off_that_ends_far_behind_it() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.total = Some(secs(1_000));
        spec.retry.backoff = Backoff { cap: secs(10_000), ..wait(Curve::Fixed { base: secs(10_000) }) };
    });
    let run = world.submit(&job);
    world.end(run, Cause::Exit { code: 1 });
    assert!(world.cell.run(run).is_none(), "it waits in the store");
    world.pass_until(at(1_000));
    assert_eq!((world.state(run), world.cause(run)), (RunState::FinalFailed, timeout(TimeoutKind::Total)));
}

#[test]
fn total_counts_everything_from_the_first_moment_on() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.total = Some(secs(100));
        spec.retry.max = 9;
        spec.retry.backoff = wait(Curve::Fixed { base: secs(30) });
    });
    let (running, failed) = (world.submit(&job), world.submit(&job));
    for run in [running, failed] {
        world.end(run, Cause::Exit { code: 1 });
    }
    world.pass(secs(90));
    world.end(failed, Cause::Exit { code: 1 });
    world.states(&[failed], RunState::Failed);
    world.hush();
    world.pass(secs(10));
    world.expect(&["stop r1#2 on a after 10s"]);
    let ended = (RunState::FinalFailed, timeout(TimeoutKind::Total));
    assert_eq!((world.state(failed), world.cause(failed)), ended);
    world.stopped(running);
    assert_eq!((world.state(running), world.cause(running)), ended, "and no retry follows");
}

#[test]
fn the_deadline_holds_in_every_state() {
    let mut world = World::new();
    let job = world.job();
    let by = |seconds| move |head: &mut mainspring_model::RunHead| head.deadline = Some(at(seconds));
    let waiting = world.submit_with(&job, by(50));
    let ready = world.submit_with(&job, |head| {
        by(50)(head);
        head.not_before = Some(at(70));
    });
    world.pass_until(at(50));
    let ended = (RunState::FinalFailed, timeout(TimeoutKind::Total));
    for run in [waiting, ready] {
        assert_eq!((world.state(run), world.cause(run)), ended);
    }
    world.node("a");
    world.hush();
    let late = world.submit_with(&job, by(50));
    world.expect(&["3: submitted r3"]);
    assert_eq!((world.state(late), world.cause(late)), ended, "it is over before it begins");
    let running = world.submit_with(&job, by(200));
    world.pass_until(at(200));
    world.stopped(running);
    assert_eq!((world.state(running), world.cause(running)), ended);
}

#[test]
fn a_deadline_is_seen_however_late_the_tick_comes() {
    let mut world = World::new();
    let job = world.job_with(|spec| spec.timeout.queue = Some(secs(30)));
    let run = world.submit(&job);
    world.now = world.now + secs(500);
    world.renew();
    world.handle(Event::Tick);
    assert_eq!(world.cause(run), timeout(TimeoutKind::Queue));
}
