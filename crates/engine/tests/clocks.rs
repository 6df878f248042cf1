//! Two times: leases, silence and the timeouts of attempts do not follow a step of the store's clock; planned moments, back-off
//! and deadlines do.

use mainspring_engine::{Event, Outcome};
use mainspring_model::spec::Curve;
use mainspring_model::{Cause, RunState};

use crate::world::{World, at, secs, wait};

const HOUR: std::time::Duration = secs(3_600);

#[test]
fn a_step_of_the_stores_clock_ends_no_lease_no_node_and_no_attempt() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        spec.timeout.run = Some(secs(1_800));
        spec.timeout.heartbeat = Some(secs(600));
    });
    let run = world.submit(&job);
    world.pass(secs(5));
    world.step_clock(HOUR);
    world.states(&[run], RunState::Running);
    assert_eq!(world.row(run).status.attempt, 1);
    assert_eq!(world.cell.stats().nodes_lost, 0);
    world.pass(secs(594));
    world.states(&[run], RunState::Running);
    world.hush();
    world.pass(secs(2));
    world.expect(&["stop r1#1 on a after 10s"]);
}

#[test]
fn back_off_begin_times_and_deadlines_follow_a_step_of_the_stores_clock() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.retry.backoff = wait(Curve::Fixed { base: secs(500) }));
    let failed = world.submit(&job);
    world.end(failed, Cause::Exit { code: 1 });
    let timed = world.submit_with(&job, |head| head.not_before = Some(at(600)));
    let late = world.submit_with(&job, |head| head.deadline = Some(at(400)));
    world.states(&[failed], RunState::Failed);
    world.states(&[timed], RunState::Ready);
    world.hush();
    world.step_clock(HOUR);
    world.states(&[failed, timed, late], RunState::Running);
    world.expect(&["start r1#2 on a", "start r2#1 on a", "stop r3#1 on a after 10s"]);
}

#[test]
fn moments_that_a_step_passed_over_are_late_and_the_ledger_says_so() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s, misfire: {policy: skip}"]);
    world.pass(secs(100));
    world.step_clock(HOUR);
    let fired = world.runs_of(&job).len();
    let lines = world.lines(&job, "every");
    let missed = lines.iter().filter(|line| line.outcome == Outcome::Missed).filter_map(|line| line.count);
    let missed: u64 = missed.sum();
    assert!((59..=60).contains(&missed), "{missed} of the moments that were passed over: {lines:?}");
    world.pass(secs(60));
    assert_eq!(world.runs_of(&job).len(), fired + 1, "and the next moment fires");
}

#[test]
fn after_a_sleep_of_eight_hours_moments_fire_when_they_are_due() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s, misfire: {policy: skip}"]);
    world.pass(secs(100));
    let fired = world.runs_of(&job).len();
    for run in world.runs_of(&job) {
        world.finish(run.head.id);
    }
    // The machine is suspended with everything on it: both clocks go on, and the lease is over when it wakes.
    world.sleep(8 * HOUR);
    world.handle(Event::Tick);
    assert_eq!(world.runs_of(&job).len(), fired, "it may have a successor");
    world.renew();
    world.connect(a);
    world.handle(Event::Tick);
    let missed = world.lines(&job, "every").into_iter().filter(|line| line.outcome == Outcome::Missed);
    let missed: u64 = missed.filter_map(|line| line.count).sum();
    let woken = world.runs_of(&job).len();
    // The last moment may be hardly late, and fires.
    assert!(woken - fired <= 1 && (woken - fired) as u64 + missed == 8 * 60, "{fired}, {woken}, {missed}");
    world.hush();
    for minute in 1..=3 {
        world.pass(secs(60));
        let runs = world.runs_of(&job);
        assert_eq!(runs.len(), woken + minute);
        let planned = runs.iter().filter_map(|run| run.head.fired.as_ref()).map(|fired| fired.planned);
        let late = world.now.since(planned.max().unwrap());
        assert!(late < secs(60), "the newest moment is {late:?} old");
    }
}

#[test]
fn nothing_is_placed_whose_deadline_the_step_passed_over() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let job = world.job();
    let first = world.submit(&job);
    let due = |seconds| move |head: &mut mainspring_model::RunHead| head.deadline = Some(at(seconds));
    let waiting = [world.submit_with(&job, due(300)), world.submit_with(&job, due(301))];
    world.states(&waiting, RunState::Waiting);
    world.now = world.now + HOUR;
    world.stepped += HOUR;
    world.finish(first);
    world.states(&waiting, RunState::FinalFailed);
}
