//! Concurrency limits by key, with every overlap policy.

use std::num::NonZeroU32;

use mainspring_model::spec::{Concurrency, Curve, Overlap};
use mainspring_model::{Cause, OverlapRule, Reason, RunEventKind, RunState};

use crate::world::{Job, World, secs, wait};

fn limited(world: &mut World, limit: u32, key: Option<&str>, overlap: Overlap) -> Job {
    world.job_with(|spec| {
        let limit = NonZeroU32::new(limit).unwrap();
        spec.concurrency = Some(Concurrency { limit, key: key.map(Into::into), overlap, queue_max: None });
    })
}

#[test]
fn queue_all_waits_for_its_turn_by_key() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 2, Some("{{ params.t }}"), Overlap::QueueAll);
    let a: Vec<_> = (0..4).map(|_| world.submit_params(&job, r#"{"t":"a"}"#)).collect();
    let b: Vec<_> = (0..3).map(|_| world.submit_params(&job, r#"{"t":"b"}"#)).collect();
    world.states(&[a[0], a[1], b[0], b[1]], RunState::Running);
    world.states(&[a[2], a[3], b[2]], RunState::Waiting);
    assert_eq!(world.why(a[2]), Reason::Concurrency { key: "a".into(), running: 2, limit: 2 });
    world.pass(secs(1));
    world.hush();
    world.finish(a[0]);
    assert_eq!(world.starts(), ["r3#1 on a"]);
    world.finish(b[1]);
    assert_eq!(world.starts(), ["r7#1 on a"]);
    assert_eq!(
        world.row(b[2]).status.reason.unwrap().name(),
        "concurrency",
        "the row says what it waited for"
    );
    for run in [a[1], a[2], b[0], b[2]] {
        world.finish(run);
    }
    world.finish(a[3]);
    assert_eq!((world.cell.running(), world.cell.waiting()), (0, 0));
}

#[test]
fn the_limit_holds_over_versions_priorities_and_retries() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 1, None, Overlap::QueueAll);
    let next = world.change_job(&job, |spec| spec.priority.level += 1);
    let first = world.submit(&job);
    let (second, third) = (world.submit(&job), world.submit(&next));
    world.states(&[second, third], RunState::Waiting);
    world.hush();
    world.end(first, Cause::Exit { code: 1 });
    assert_eq!(world.starts(), ["r3#1 on a"], "the more important goes first; a retry waits like the rest");
    world.states(&[first, second], RunState::Waiting);
    world.finish(third);
    assert_eq!(world.cell.running(), 1);
}

#[test]
fn a_run_in_its_back_off_does_not_hold_the_key() {
    let mut world = World::new();
    world.node("a");
    let job = limited(&mut world, 1, None, Overlap::QueueAll);
    let job = world.change_job(&job, |spec| spec.retry.backoff = wait(Curve::Fixed { base: secs(60) }));
    let (first, second) = (world.submit(&job), world.submit(&job));
    world.end(first, Cause::Exit { code: 1 });
    world.states(&[second], RunState::Running);
    world.pass(secs(61));
    world.states(&[first], RunState::Waiting);
    world.finish(second);
    world.states(&[first], RunState::Running);
}

#[test]
fn skip_leaves_the_new_run_out() {
    let mut world = World::new();
    world.node("a");
    let job = limited(&mut world, 1, None, Overlap::Skip);
    let first = world.submit(&job);
    world.hush();
    let second = world.submit(&job);
    world.expect(&["2: submitted r2"]);
    assert_eq!((world.state(second), world.cause(second)), (RunState::Skipped, Cause::Overlap));
    world.finish(first);
    let third = world.submit(&job);
    world.states(&[third], RunState::Running);
}

#[test]
fn queue_one_lets_one_wait() {
    let mut world = World::new();
    world.node("a");
    let job = limited(&mut world, 1, Some("{{ params.t }}"), Overlap::QueueOne);
    let a: Vec<_> = (0..3).map(|_| world.submit_params(&job, r#"{"t":"a"}"#)).collect();
    let b: Vec<_> = (0..2).map(|_| world.submit_params(&job, r#"{"t":"b"}"#)).collect();
    world.states(&[a[0], b[0]], RunState::Running);
    world.states(&[a[1], b[1]], RunState::Waiting);
    world.states(&[a[2]], RunState::Skipped);
    world.finish(a[0]);
    world.states(&[a[1]], RunState::Running);
    let next = world.submit_params(&job, r#"{"t":"a"}"#);
    world.states(&[next], RunState::Waiting);
}

#[test]
fn queue_max_bounds_those_that_wait_for_a_key() {
    let mut world = World::new();
    let node = world.node("a");
    let job = limited(&mut world, 1, Some("{{ params.t }}"), Overlap::QueueAll);
    let job = world.change_job(&job, |spec| {
        if let Some(concurrency) = &mut spec.concurrency {
            concurrency.queue_max = NonZeroU32::new(2);
        }
    });
    let a: Vec<_> = (0..4).map(|_| world.submit_params(&job, r#"{"t":"a"}"#)).collect();
    let b: Vec<_> = (0..3).map(|_| world.submit_params(&job, r#"{"t":"b"}"#)).collect();
    world.states(&[a[0], b[0]], RunState::Running);
    world.states(&[a[1], a[2], b[1], b[2]], RunState::Waiting);
    world.states(&[a[3]], RunState::Skipped);
    world.take_over();
    world.connect(node);
    world.finish(a[0]);
    world.states(&[a[1]], RunState::Running);
    let next = [(); 2].map(|()| world.submit_params(&job, r#"{"t":"a"}"#));
    assert_eq!(next.map(|run| world.state(run)), [RunState::Waiting, RunState::Skipped]);
}

#[test]
fn a_forced_run_begins_beside_the_others_and_counts() {
    for overlap in Overlap::ALL {
        let mut world = World::new();
        let node = world.node("a");
        let job = limited(&mut world, 1, None, overlap);
        let first = world.submit(&job);
        let forced = world.submit_with(&job, |head| head.overlap = OverlapRule::Force);
        world.states(&[first, forced], RunState::Running);
        world.take_over();
        world.connect(node);
        world.states(&[first, forced], RunState::Running);
        if matches!(overlap, Overlap::CancelOld | Overlap::KillOld) {
            continue;
        }
        world.finish(first);
        let next = world.submit(&job);
        let state = if overlap == Overlap::Skip { RunState::Skipped } else { RunState::Waiting };
        world.states(&[next], state);
    }
}

#[test]
fn a_run_that_waits_whatever_the_policy_is_not_skipped_and_stops_nobody() {
    for overlap in Overlap::ALL {
        let mut world = World::new();
        let node = world.node("a");
        let job = limited(&mut world, 1, None, overlap);
        let first = world.submit(&job);
        let patient = [(); 3].map(|()| world.submit_with(&job, |head| head.overlap = OverlapRule::Wait));
        world.states(&[first], RunState::Running);
        world.states(&patient, RunState::Waiting);
        world.take_over();
        world.connect(node);
        world.finish(first);
        world.states(&patient[..1], RunState::Running);
        world.states(&patient[1..], RunState::Waiting);
    }
}

#[test]
fn a_run_that_waits_whatever_the_policy_is_in_nobodys_way() {
    for (overlap, state) in [
        (Overlap::Skip, RunState::Skipped),
        (Overlap::QueueOne, RunState::Waiting),
        (Overlap::CancelOld, RunState::Waiting),
    ] {
        let mut world = World::new();
        world.node("a");
        let job = limited(&mut world, 1, None, overlap);
        let patient = [(); 3].map(|()| world.submit_with(&job, |head| head.overlap = OverlapRule::Wait));
        let newcomer = world.submit(&job);
        world.states(&[newcomer], state);
        assert_eq!(world.state(patient[0]), RunState::Running, "{overlap:?} stops none of them");
        world.states(&patient[1..], RunState::Waiting);
    }
}

#[test]
fn cancel_old_and_kill_old_stop_the_old_and_take_its_place() {
    for (overlap, grace) in [(Overlap::CancelOld, "10s"), (Overlap::KillOld, "0s")] {
        let mut world = World::new();
        world.node("a");
        let job = limited(&mut world, 1, None, overlap);
        let old = world.submit(&job);
        world.hush();
        let new = world.submit(&job);
        world.expect(&["2: submitted r2", &format!("stop r1#1 on a after {grace}")]);
        world.states(&[new], RunState::Waiting);
        world.stopped(old);
        assert_eq!((world.state(old), world.cause(old)), (RunState::Cancelled, Cause::Overlap));
        assert_eq!(world.events(old), [RunEventKind::Overlapped]);
        world.states(&[new], RunState::Running);
    }
}

#[test]
fn with_a_limit_of_several_only_the_oldest_makes_way() {
    let mut world = World::new();
    world.node("a");
    let job = limited(&mut world, 2, None, Overlap::CancelOld);
    let (oldest, younger) = (world.submit(&job), world.submit(&job));
    world.hush();
    world.submit(&job);
    world.expect(&["3: submitted r3", "stop r1#1 on a after 10s"]);
    let fourth = world.submit(&job);
    world.expect(&["4: submitted r4", "stop r2#1 on a after 10s"]);
    world.stopped(oldest);
    world.stopped(younger);
    world.states(&[fourth], RunState::Running);
}

#[test]
fn what_finds_no_node_does_not_pile_up() {
    for (overlap, states) in [
        (Overlap::Skip, [RunState::Waiting, RunState::Skipped, RunState::Skipped]),
        (Overlap::QueueOne, [RunState::Waiting, RunState::Waiting, RunState::Skipped]),
        (Overlap::QueueAll, [RunState::Waiting, RunState::Waiting, RunState::Waiting]),
        (Overlap::CancelOld, [RunState::Cancelled, RunState::Cancelled, RunState::Waiting]),
        (Overlap::KillOld, [RunState::Cancelled, RunState::Cancelled, RunState::Waiting]),
    ] {
        let mut world = World::new();
        let job = limited(&mut world, 1, None, overlap);
        let runs = world.submit_many(&job, 3);
        let found: Vec<RunState> = runs.iter().map(|run| world.state(*run)).collect();
        assert_eq!(found, states, "{overlap:?}");
    }
}

#[test]
fn of_those_that_wait_for_the_old_to_stop_the_newest_takes_its_place() {
    let mut world = World::new();
    world.node("a");
    let job = limited(&mut world, 1, None, Overlap::CancelOld);
    let (old, between, new) = (world.submit(&job), world.submit(&job), world.submit(&job));
    assert_eq!((world.state(between), world.cause(between)), (RunState::Cancelled, Cause::Overlap));
    world.stopped(old);
    world.states(&[new], RunState::Running);
}

#[test]
fn an_old_run_that_ends_well_before_it_is_stopped_has_ended_well() {
    let mut world = World::new();
    world.node("a");
    let job = limited(&mut world, 1, None, Overlap::CancelOld);
    let (old, new) = (world.submit(&job), world.submit(&job));
    world.finish(old);
    world.states(&[old], RunState::Success);
    world.states(&[new], RunState::Running);
}

#[test]
fn a_submission_that_was_an_earlier_run_stops_nothing() {
    for overlap in Overlap::ALL {
        let mut world = World::new();
        world.node("a");
        let job = limited(&mut world, 1, None, overlap);
        let keyed = |head: &mut mainspring_model::RunHead| head.idempotency_key = Some("k".into());
        let first = world.submit_with(&job, keyed);
        world.states(&[first], RunState::Running);
        world.hush();
        world.submit_with(&job, keyed);
        world.expect(&["2: already r1"]);
        world.finish(first);
        world.states(&[first], RunState::Success);
        let counts = counted(&world);
        assert_eq!((counts.success, counts.skipped), (1, 0), "{overlap:?}");
    }
}

fn counted(world: &World) -> mainspring_model::Counts {
    let query = mainspring_store::CounterQuery {
        namespace: None,
        job: None,
        from: mainspring_model::Timestamp::ZERO,
        until: mainspring_model::Timestamp::MAX,
        after: None,
        limit: 100,
    };
    let mut sum = mainspring_model::Counts::default();
    for (_, counts) in world.store.counters(&query).unwrap().rows {
        sum.add(&counts);
    }
    sum
}

#[test]
fn the_keys_survive_the_owner() {
    let mut world = World::new();
    let node = world.node("a");
    let job = limited(&mut world, 1, Some("{{ params.t }}"), Overlap::QueueAll);
    let (first, second) = (world.submit_params(&job, r#"{"t":1}"#), world.submit_params(&job, r#"{"t":1}"#));
    world.take_over();
    world.connect(node);
    world.states(&[second], RunState::Waiting);
    assert_eq!(world.why(second), Reason::Concurrency { key: "1".into(), running: 1, limit: 1 });
    world.finish(first);
    world.states(&[second], RunState::Running);
}
