//! Submitting: one durable answer for each request, and a start order only after it.

use mainspring_engine::Event;
use mainspring_model::spec::{Concurrency, PriorityClass};
use mainspring_model::{RunState, Shelf, limits};

use crate::world::{World, at, secs};

#[test]
fn a_run_is_inserted_placed_and_ordered_in_one_commit() {
    let mut world = World::new().by_hand();
    world.node("a");
    world.hush();
    let job = world.job();
    world.commits = false;
    let run = world.submit(&job);
    world.quiet();
    let batch = world.cell.cut().unwrap();
    assert_eq!(batch.transaction.writes.len(), 1, "one insert is all it costs");
    world.write(&batch);
    world.settle();
    world.expect(&["1: submitted r1", "start r1#1 on a"]);
    let status = world.row(run).status;
    assert_eq!((status.state, status.attempt, status.version), (RunState::Running, 1, 1));
    assert_eq!(status.place.unwrap().shelf, Shelf::Flight);
    world.commits = true;
    world.finish(run);
    world.expect(&["forget r1#1 on a"]);
    let status = world.row(run).status;
    assert_eq!(
        (status.state, status.version, status.place),
        (RunState::Success, 2, None),
        "two writes in all"
    );
    assert!(world.cell.run(run).is_none(), "an ended run leaves memory");
    assert!(world.earlier(run).is_empty() && world.events(run).is_empty());
}

#[test]
fn the_same_key_is_the_same_run() {
    let mut world = World::new();
    world.node("a");
    let (job, other) = (world.job(), world.job_in("elsewhere", |_| {}));
    let first = world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    world.hush();
    let second = world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    world.expect(&["2: already r1"]);
    assert!(world.store.run(second).is_none() && world.cell.run(second).is_none());
    assert_eq!(world.cell.running(), 1, "what memory did for the second run is undone");
    let third = world.submit_with(&other, |head| head.idempotency_key = Some("k".into()));
    world.expect(&["3: submitted r3", "start r3#1 on a"]);
    world.finish(first);
    world.finish(third);
    world.hush();
    world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    world.expect(&["4: already r1"]);
    assert_eq!(world.cell.running(), 0);
}

#[test]
fn two_runs_with_one_key_in_one_batch_are_one_run() {
    let mut world = World::new();
    world.node("a");
    world.hush();
    let job = world.job();
    world.commits = false;
    for _ in 0..2 {
        world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    }
    world.commits = true;
    world.settle();
    world.expect(&["1: submitted r1", "2: already r1", "start r1#1 on a"]);
    assert_eq!(world.cell.running(), 1);
}

#[test]
fn a_refused_run_gives_its_room_to_the_next() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let job = world.job();
    let first = world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    world.finish(first);
    world.hush();
    world.commits = false;
    world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    let waits = world.submit(&job);
    world.commits = true;
    world.settle();
    world.expect(&["2: already r1", "3: submitted r3", "start r3#1 on a"]);
    world.states(&[waits], RunState::Running);
}

#[test]
fn the_same_submission_twice_is_one_run() {
    let mut world = World::new();
    world.node("a");
    world.hush();
    let job = world.job();
    let head = world.head(&job);
    world.submit_head(&job, head.clone());
    world.expect(&["1: submitted r1", "start r1#1 on a"]);
    world.submit_head(&job, head.clone());
    world.expect(&["2: already r1"]);
    world.finish(head.id);
    world.hush();
    world.submit_head(&job, head);
    world.expect(&["3: already r1"]);
    assert_eq!(world.cell.running(), 0);
}

#[test]
fn not_before_its_time() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.hush();
    let run = world.submit_with(&job, |head| head.not_before = Some(at(100)));
    world.expect(&["1: submitted r1"]);
    world.states(&[run], RunState::Ready);
    world.pass_until(at(100) - secs(1));
    world.quiet();
    world.pass(secs(1));
    world.expect(&["start r1#1 on a"]);
    assert_eq!(world.row(run).status.eligible_at, Some(at(100)));
}

#[test]
fn a_far_time_waits_in_the_store() {
    let mut world = World::with(|config| config.timed_horizon = secs(60));
    world.node("a");
    let job = world.job();
    world.hush();
    let run = world.submit_with(&job, |head| head.not_before = Some(at(1_000)));
    world.expect(&["1: submitted r1"]);
    assert!(world.cell.run(run).is_none(), "not in memory");
    world.pass_until(at(999));
    world.quiet();
    world.pass(secs(1));
    world.expect(&["start r1#1 on a"]);
}

#[test]
fn what_is_more_important_goes_first() {
    let mut world = World::new();
    let job = world.job();
    let urgent = world.job_with(|spec| spec.priority.class = PriorityClass::Service);
    let (low, high) = (world.submit(&job), world.submit_with(&job, |head| head.priority += 1));
    let first = world.submit(&urgent);
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    for (run, next) in [(first, "r2#1 on a"), (high, "r1#1 on a")] {
        world.hush();
        world.finish(run);
        assert_eq!(world.starts(), [next]);
    }
    world.finish(low);
}

#[test]
fn what_is_too_large_or_cannot_be_rendered_is_refused_at_once() {
    let mut world = World::new();
    world.node("a");
    world.hush();
    let job = world.job_with(|spec| {
        let mut concurrency = Concurrency::new(1.try_into().unwrap());
        concurrency.key = Some("{{ params.tenant }}".into());
        spec.concurrency = Some(concurrency);
    });
    world.commits = false;
    let large = vec![b' '; limits::PARAMS_BYTES_MAX + 1];
    world.submit_with(&job, |head| head.params = large.into());
    world.submit_with(&job, |head| head.idempotency_key = Some("k".repeat(256).into()));
    world.submit_params(&job, "{}");
    world.submit_params(&job, "not json");
    let tenant = format!(r#"{{"tenant":"{}"}}"#, "t".repeat(256));
    world.submit_params(&job, &tenant);
    world.expect(&[
        "1: refused TooLarge",
        "2: refused TooLarge",
        "3: refused InvalidTemplate",
        "4: refused InvalidTemplate",
        "5: refused InvalidTemplate",
    ]);
    assert!(world.cell.cut().is_none(), "nothing to write");
}

#[test]
fn the_rendered_keys_are_stored_with_the_run() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| {
        let mut concurrency = Concurrency::new(1.try_into().unwrap());
        concurrency.key = Some("tenant-{{ params.tenant }}".into());
        spec.concurrency = Some(concurrency);
    });
    let run = world.submit_params(&job, r#"{"tenant":7}"#);
    assert_eq!(&*world.row(run).head.keys.as_ref().unwrap().concurrency, "tenant-7");
}

#[test]
fn a_run_inserted_elsewhere_is_found_by_a_hint_or_by_the_poll() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.hush();
    world.insert_elsewhere(&job, |_| {});
    world.quiet();
    world.handle(Event::Hint);
    world.expect(&["start r1#1 on a"]);
    world.insert_elsewhere(&job, |_| {});
    world.pass(world.config.poll_every);
    world.expect(&["start r2#1 on a"]);
    let late = world.insert_elsewhere(&job, |head| head.not_before = Some(at(500)));
    world.handle(Event::Hint);
    world.quiet();
    world.states(&[late], RunState::Ready);
    world.pass_until(at(500));
    world.expect(&["start r3#1 on a"]);
}
