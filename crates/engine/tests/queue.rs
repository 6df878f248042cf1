//! The queue: priority classes, fair share between namespaces, age; and nobody in the way of others.

use mainspring_model::spec::PriorityClass;
use mainspring_model::{Reason, RunEventKind, RunId, RunState};

use crate::world::{Job, World, secs};

/// Lets one slot work through everything that waits and tells the order, by name.
fn work_through(world: &mut World, runs: &[RunId]) -> Vec<String> {
    world.hush();
    world.node_with("a", |node| node.slots = 1);
    let mut order = Vec::new();
    for _ in runs {
        let running = runs.iter().copied().find(|run| world.cell.run(*run).is_some_and(is_running));
        let Some(run) = running else { break };
        order.push(world.run_name(run));
        world.finish(run);
    }
    order
}

fn is_running(run: mainspring_model::Run) -> bool {
    run.status.state == RunState::Running
}

#[test]
fn classes_then_levels_then_age() {
    let mut world = World::new();
    let of = |class, level| {
        move |spec: &mut mainspring_model::JobSpec| {
            (spec.priority.class, spec.priority.level) = (class, level);
        }
    };
    let jobs = [
        world.job_with(of(PriorityClass::Spare, 100)),
        world.job_with(of(PriorityClass::Standard, 50)),
        world.job_with(of(PriorityClass::Standard, 51)),
        world.job_with(of(PriorityClass::Service, 0)),
        world.job_with(of(PriorityClass::Deferrable, 100)),
        world.job_with(of(PriorityClass::Standard, 50)),
    ];
    let runs: Vec<RunId> = jobs.iter().map(|job| world.submit(job)).collect();
    assert_eq!(work_through(&mut world, &runs), ["r4", "r3", "r2", "r6", "r5", "r1"]);
}

#[test]
fn a_run_that_is_made_more_important_goes_first_and_stays_so_under_a_new_owner() {
    let mut world = World::new();
    let job = world.job();
    let runs = world.submit_many(&job, 4);
    world.prioritise(runs[3], u16::MAX);
    world.prioritise(runs[0], 0);
    let since = |world: &World, run: RunId| world.cell.run(run).and_then(|run| run.status.waits_since());
    assert_eq!(since(&world, runs[3]), since(&world, runs[1]), "it has waited as long as before");
    let told = [RunEventKind::Prioritised { by: "ann".into(), from: 562, to: u16::MAX }];
    assert_eq!(world.events(runs[3]), told);
    // Once more is the same.
    world.prioritise(runs[3], u16::MAX);
    assert_eq!(world.events(runs[3]), told);
    world.take_over();
    assert_eq!(work_through(&mut world, &runs), ["r4", "r2", "r3", "r1"]);
}

#[test]
fn what_has_ended_has_no_priority_to_change() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    // While it runs it counts for the next attempt.
    world.prioritise(run, 7);
    assert_eq!(world.cell.run(run).map(|run| run.status.priority(&run.head)), Some(7));
    world.finish(run);
    world.hush();
    world.prioritise(run, 9);
    world.expect(&["3: refused IllegalState"]);
    let _ = node;
}

#[test]
fn namespaces_take_turns_whatever_one_of_them_floods() {
    let mut world = World::new();
    let (flood, small) = (world.job_in("flood", |_| {}), world.job_in("small", |_| {}));
    let mut runs = world.submit_many(&flood, 20);
    runs.extend(world.submit_many(&small, 3));
    let order = work_through(&mut world, &runs);
    let position = |name: &str| order.iter().position(|have| have == name).unwrap();
    for (n, name) in ["r21", "r22", "r23"].into_iter().enumerate() {
        assert!(position(name) <= 2 * n + 1, "{name} in {order:?}");
    }
    assert_eq!(order.len(), 23);
}

#[test]
fn weights_are_shares() {
    let mut world = World::with(|config| {
        config.weights.insert("heavy".parse().unwrap(), 3);
    });
    let (heavy, light) = (world.job_in("heavy", |_| {}), world.job_in("light", |_| {}));
    let mut runs = world.submit_many(&light, 40);
    runs.extend(world.submit_many(&heavy, 40));
    let order = work_through(&mut world, &runs);
    let of_heavy = order[..40].iter().filter(|name| name[1..].parse::<u32>().unwrap() > 40).count();
    assert!((29..=31).contains(&of_heavy), "three of four: {of_heavy}");
}

#[test]
fn a_namespace_does_not_save_up_turns_while_it_is_idle() {
    let mut world = World::new();
    let (busy, late) = (world.job_in("busy", |_| {}), world.job_in("late", |_| {}));
    world.node_with("z", |node| node.slots = 1);
    for _ in 0..50 {
        let run = world.submit(&busy);
        world.finish(run);
    }
    let blocker = world.submit(&busy);
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.extend([world.submit(&busy), world.submit(&late)]);
    }
    world.hush();
    world.finish(blocker);
    let first: Vec<String> = (0..4).map(|_| finish_the_running(&mut world, &runs)).collect();
    let of_late = first.iter().filter(|name| ["r53", "r55", "r57"].contains(&name.as_str())).count();
    assert_eq!(of_late, 2, "{first:?}");
}

fn finish_the_running(world: &mut World, runs: &[RunId]) -> String {
    let run = runs.iter().copied().find(|run| world.cell.run(*run).is_some_and(is_running)).unwrap();
    world.finish(run);
    world.run_name(run)
}

#[test]
fn impossible_runs_block_nobody() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let impossible: Vec<Job> = vec![
        world.job_with(|spec| spec.resources.cpu_milli = 1_000_000),
        world.job_with(|spec| spec.placement.selector = "zone=moon".parse().unwrap()),
        world.job_with(|spec| spec.placement.pool = Some("gpu".parse().unwrap())),
        world.job_with(|spec| {
            spec.resources.named.insert("licence".into(), 1_000);
        }),
    ];
    let stuck: Vec<RunId> = impossible
        .iter()
        .flat_map(|job| (0..5).map(|_| job.clone()).collect::<Vec<_>>())
        .map(|job| world.submit_with(&job, |head| head.priority = u16::MAX))
        .collect();
    let job = world.job();
    for _ in 0..10 {
        let run = world.submit(&job);
        world.states(&[run], RunState::Running);
        world.finish(run);
    }
    world.states(&stuck, RunState::Waiting);
    let filters: Vec<&str> = stuck
        .iter()
        .step_by(5)
        .map(|run| match world.why(*run) {
            Reason::NoNode(no_node) => no_node.filter.name(),
            why => panic!("{why:?}"),
        })
        .collect();
    assert_eq!(filters, ["capacity", "selector", "pool", "capacity"]);
}

#[test]
fn a_large_run_is_not_passed_by_equals_for_ever_once_a_node_has_room() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 8);
    let (small, large) = (
        world.job_with(|spec| spec.resources.cpu_milli = 1_000),
        world.job_with(|spec| spec.resources.cpu_milli = 4_000),
    );
    let mut running = world.submit_many(&small, 4);
    let big = world.submit(&large);
    assert_eq!(world.why(big).to_string(), "it needs 4 CPU; none is free on 1 node that matches");
    for run in running.drain(..) {
        world.finish(run);
    }
    world.states(&[big], RunState::Running);
}

#[test]
fn reservations_never_exceed_what_a_node_has() {
    let mut world = World::new();
    world.node_with("a", |node| {
        node.slots = 10;
        node.capacity.named.insert("gpu".into(), 2_000);
    });
    let cpu = world.job_with(|spec| spec.resources.cpu_milli = 1_500);
    let gpu = world.job_with(|spec| {
        spec.resources.named.insert("gpu".into(), 1_000);
    });
    let memory = world.job_with(|spec| spec.resources.memory_bytes = 3 << 30);
    let (cpus, gpus) = (world.submit_many(&cpu, 3), world.submit_many(&gpu, 3));
    let memories = world.submit_many(&memory, 2);
    world.states(&cpus[..2], RunState::Running);
    world.states(&gpus[..2], RunState::Running);
    world.states(&memories[..1], RunState::Running);
    for (run, needs, free) in [
        (cpus[2], "1.5 CPU", "at most 1"),
        (gpus[2], "1 gpu", "none"),
        (memories[1], "3 GiB of memory", "at most 1 GiB"),
    ] {
        let words = format!("it needs {needs}; {free} is free on 1 node that matches");
        assert_eq!(world.why(run).to_string(), words);
    }
    world.hush();
    world.finish(gpus[0]);
    assert_eq!(world.starts(), ["r6#1 on a"]);
    for run in [cpus[0], cpus[1], gpus[1], memories[0]] {
        world.finish(run);
    }
    world.pass(secs(1));
    assert_eq!(world.cell.running(), 3);
    for run in [cpus[2], gpus[2], memories[1]] {
        world.finish(run);
    }
    assert_eq!((world.cell.running(), world.cell.waiting()), (0, 0));
}
