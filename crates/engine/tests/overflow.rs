//! Bounded memory: what does not fit waits in the store and is read in by order.

use mainspring_model::spec::{Concurrency, Overlap, RateLimit};
use mainspring_model::{Cause, Reason, RunId, RunState, TimeoutKind};

use crate::world::{Job, World, at, millis, paused, secs};

const WAITING_MAX: usize = 50;

fn small() -> World {
    World::with(|config| {
        config.waiting_max = WAITING_MAX;
        config.page_rows = 20;
    })
}

/// Works through everything with one slot; tells the order of the runs' numbers.
fn work_through(world: &mut World, count: usize) -> Vec<usize> {
    let mut order = Vec::new();
    for _ in 0..count {
        let Some(words) = next_start(world, &mut order) else { break };
        let run = words;
        world.finish(run);
        assert!(world.cell.waiting() <= WAITING_MAX, "{} wait in memory", world.cell.waiting());
    }
    order
}

fn next_start(world: &mut World, order: &mut Vec<usize>) -> Option<RunId> {
    let starts = world.starts();
    assert!(starts.len() <= 1, "one slot: {starts:?}");
    let name = starts.first()?.split('#').next()?.to_owned();
    order.push(name[1..].parse().unwrap());
    Some(world.named(&name))
}

#[test]
fn memory_is_bounded_and_the_order_is_kept() {
    let mut world = small();
    let job = world.job();
    let runs = world.submit_many(&job, 1_000);
    assert!(world.cell.waiting() <= WAITING_MAX);
    assert!(world.cell.stats().spilled >= 900);
    world.states(&runs, RunState::Waiting);
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    let order = work_through(&mut world, 1_000);
    assert_eq!(order, (1..=1_000).collect::<Vec<_>>());
    world.states(&runs, RunState::Success);
    assert!(world.pages < 200, "{} pages of 20 for 1,000 runs", world.pages);
}

#[test]
fn a_flood_that_cannot_go_on_keeps_nobody_out() {
    let mut world = small();
    let impossible = world.job_in("stuck", |spec| spec.resources.cpu_milli = 1_000_000);
    let jobs: Vec<Job> = (0..4).map(|n| world.job_in(&format!("team-{n}"), |_| {})).collect();
    let stuck = world.submit_many(&impossible, 400);
    let mut possible = Vec::new();
    for _ in 0..150 {
        for job in &jobs {
            possible.push(world.submit(job));
        }
    }
    assert!(world.cell.waiting() <= WAITING_MAX);
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    let mut order = Vec::new();
    let mut idle = 0;
    while order.len() < 600 && idle < 20 {
        match next_start(&mut world, &mut order) {
            Some(run) => {
                idle = 0;
                world.finish(run);
            }
            None => {
                idle += 1;
                world.pass(world.config.poll_every);
            }
        }
        assert!(world.cell.waiting() <= WAITING_MAX);
    }
    assert_eq!(order.len(), 600, "every run that can go on did");
    world.states(&possible, RunState::Success);
    world.states(&stuck, RunState::Waiting);
    for namespace in 0..4 {
        let mine: Vec<_> = order.iter().filter(|n| (**n - 401) % 4 == namespace).collect();
        assert!(mine.is_sorted(), "each namespace in the order of its submissions");
    }
    for window in order.chunks(40) {
        for namespace in 0..4 {
            let share = window.iter().filter(|n| (**n - 401) % 4 == namespace).count();
            assert!((6..=14).contains(&share), "turns of four: {share} of 40");
        }
    }
}

#[test]
fn the_impossible_is_read_in_when_it_becomes_possible() {
    let mut world = small();
    let large = world.job_in("stuck", |spec| spec.resources.cpu_milli = 6_000);
    let stuck = world.submit_many(&large, 200);
    let job = world.job();
    let others = world.submit_many(&job, 200);
    world.node_with("small", |node| node.slots = 10);
    for _ in 0..40 {
        for run in &others {
            if world.cell.run(*run).is_some_and(|run| run.status.state == RunState::Running) {
                world.finish(*run);
            }
        }
        world.pass(world.config.poll_every);
    }
    world.states(&others, RunState::Success);
    world.states(&stuck, RunState::Waiting);
    world.node_with("large", |node| {
        node.slots = 1_000;
        node.capacity.cpu_milli = 6_000_000;
    });
    world.pass(world.config.poll_every * 20);
    world.states(&stuck, RunState::Running);
}

#[test]
fn what_is_more_important_passes_those_in_the_store() {
    let mut world = small();
    let job = world.job();
    world.submit_many(&job, 300);
    let urgent = world.submit_with(&job, |head| head.priority += 1);
    assert!(world.cell.run(urgent).is_some_and(|run| run.status.state == RunState::Waiting));
    assert_ne!(world.why(urgent), Reason::Overflow);
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    assert_eq!(world.starts(), ["r301#1 on a"]);
}

#[test]
fn a_paused_or_limited_flood_keeps_nobody_out() {
    let mut world = small();
    let held = world.job_in("held", |_| {});
    let limited = world.job_in("limited", |spec| {
        spec.rate_limit = Some(RateLimit { limit: 1.try_into().unwrap(), per: secs(1_000_000), key: None });
    });
    world.pause_job(&held, Some(paused(world.now)));
    world.submit_many(&held, 200);
    world.submit_many(&limited, 200);
    let job = world.job_in("free", |_| {});
    let free = world.submit_many(&job, 100);
    world.node_with("a", |node| node.slots = 1_000);
    for _ in 0..20 {
        world.pass(world.config.poll_every);
    }
    world.states(&free, RunState::Running);
    assert!(world.cell.waiting() <= WAITING_MAX);
}

#[test]
fn a_takeover_reads_no_more_than_memory_takes() {
    let mut world = small();
    let job = world.job();
    let runs = world.submit_many(&job, 300);
    world.take_over();
    assert!(world.cell.waiting() <= WAITING_MAX);
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    let order = work_through(&mut world, 300);
    assert_eq!(order, (1..=300).collect::<Vec<_>>());
    world.states(&runs, RunState::Success);
}

/// A full memory that nothing leaves, and many runs behind it that are only in the store.
fn crowded(
    change: impl Fn(usize, &mut mainspring_model::RunHead),
    queue: Option<u64>,
) -> (World, Vec<RunId>) {
    let mut world = small();
    world.node_with("a", |node| node.slots = 1);
    for _ in 0..60 {
        let patient = world.job_with(|spec| spec.priority.level = 100);
        world.submit_many(&patient, 2);
    }
    let job = world.job_with(|spec| spec.timeout.queue = queue.map(secs));
    let runs: Vec<RunId> = (0..200).map(|n| world.submit_with(&job, |head| change(n, head))).collect();
    assert!(runs.iter().filter(|run| world.cell.run(**run).is_none()).count() >= 150);
    (world, runs)
}

#[test]
fn a_timeout_holds_in_the_store_to_the_moment_and_for_every_owner() {
    for takes_over in [false, true] {
        let (mut world, runs) = crowded(|_, _| {}, Some(1_000));
        if takes_over {
            world.pass(secs(500));
            world.take_over();
        }
        world.pass_until(at(1_000) - millis(1));
        world.states(&runs, RunState::Waiting);
        world.pass(millis(2));
        world.states(&runs, RunState::FinalFailed);
        assert!(runs.iter().all(|run| world.cause(*run) == Cause::Timeout { limit: TimeoutKind::Queue }));
    }
}

#[test]
fn deadlines_in_the_store_are_met_one_after_the_other() {
    // Those that come last must be over first.
    let (mut world, mut runs) = crowded(|n, head| head.deadline = Some(at(2_090 - 10 * n as i64)), None);
    runs.reverse();
    world.pages = 0;
    for (n, run) in runs.iter().enumerate() {
        world.pass_until(at(100 + 10 * n as i64));
        assert_eq!(world.state(*run), RunState::FinalFailed);
        assert_eq!(world.cause(*run), Cause::Timeout { limit: TimeoutKind::Total });
        world.states(&runs[n + 1..], RunState::Waiting);
    }
    let (looks, polls) = (200, 2_100 / 30);
    assert!(world.pages < looks * 20 + polls * 3, "{} pages", world.pages);
    world.pages = 0;
    world.pass(secs(1_000));
    assert!(world.pages < 200, "{} pages when nothing is due any more", world.pages);
}

#[test]
fn runs_that_are_only_in_the_store_can_be_cancelled() {
    let mut world = small();
    let job = world.job();
    let runs = world.submit_many(&job, 200);
    let stored: Vec<RunId> = runs.iter().copied().filter(|run| world.cell.run(*run).is_none()).collect();
    assert!(stored.len() >= 150);
    for run in &stored {
        world.cancel(*run);
    }
    world.states(&stored, RunState::Cancelled);
    world.node_with("a", |node| node.slots = 1_000);
    world.pass(secs(60));
    let left: Vec<RunId> = runs.into_iter().filter(|run| !stored.contains(run)).collect();
    world.states(&left, RunState::Running);
}

/// A job that has one active run at a time, and a flood around it that leaves no memory.
fn one_of_many(overlap: Overlap) -> (World, Job) {
    let (mut world, _) = crowded(|_, _| {}, None);
    let job = world.job_with(|spec| {
        let one = 1.try_into().unwrap();
        spec.concurrency = Some(Concurrency { overlap, ..Concurrency::new(one) });
        spec.resources.cpu_milli = 1_000_000;
    });
    (world, job)
}

#[test]
fn overlap_policies_see_those_that_wait_however_little_memory_there_is() {
    use RunState::{Cancelled, Skipped, Waiting};
    for (overlap, expected) in [
        (Overlap::Skip, [Waiting, Skipped, Skipped, Skipped, Skipped, Skipped]),
        (Overlap::QueueOne, [Waiting, Waiting, Skipped, Skipped, Skipped, Skipped]),
        (Overlap::CancelOld, [Cancelled, Cancelled, Cancelled, Cancelled, Cancelled, Waiting]),
    ] {
        let (mut world, job) = one_of_many(overlap);
        let mut runs = world.submit_many(&job, 2);
        // Nothing here can take them: the poll makes room for others.
        world.pass(world.config.poll_every * 3);
        runs.extend(world.submit_many(&job, 2));
        // A new owner loads less than there is.
        world.take_over();
        runs.push(world.submit(&job));
        runs.push(world.insert_elsewhere(&job, |_| {}));
        world.pass(world.config.poll_every * 3);
        let states: Vec<RunState> = runs.iter().map(|run| world.state(*run)).collect();
        assert_eq!(states, expected, "{overlap:?}");
        assert!(world.cell.waiting() <= WAITING_MAX + 2);
    }
}

#[test]
fn when_too_many_keys_wait_a_newcomer_begins_later() {
    let mut world = World::with(|config| config.kept_max = 3);
    let job = world.job_with(|spec| {
        let one = 1.try_into().unwrap();
        let key = Some("{{ params.k }}".into());
        spec.concurrency = Some(Concurrency { overlap: Overlap::Skip, key, ..Concurrency::new(one) });
    });
    let runs: Vec<RunId> = (0..5).map(|k| world.submit_params(&job, &format!("{{\"k\": {k}}}"))).collect();
    world.states(&runs[..3], RunState::Waiting);
    world.states(&runs[3..], RunState::Ready);
    assert!(world.cell.run(runs[4]).is_none(), "it waits in the store");
    world.node_with("a", |node| node.slots = 10);
    world.pass(world.config.timed_horizon * 3);
    world.states(&runs, RunState::Running);
}
