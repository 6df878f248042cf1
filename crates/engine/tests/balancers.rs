//! Every balancer: which of the nodes that fit.

use std::collections::BTreeMap;

use mainspring_model::spec::{Balancer, Sticky};
use mainspring_model::{Cause, NodeId, RunId, RunState};

use crate::world::{Job, World, balancer, secs};

/// A world with nodes of 100 slots, 10 cores and 4 GiB, named in order.
fn world_of(names: &[&str]) -> (World, Vec<NodeId>) {
    let mut world = World::new();
    let nodes = names.iter().map(|name| {
        world.node_with(name, |node| {
            node.slots = 100;
            node.capacity.cpu_milli = 10_000;
        })
    });
    let nodes = nodes.collect();
    (world, nodes)
}

fn job_by(world: &mut World, by: Balancer) -> Job {
    world.job_with(|spec| spec.dispatch = balancer(by))
}

/// How many of the runs each node has.
fn shares(world: &World, runs: &[RunId]) -> BTreeMap<String, usize> {
    let mut shares = BTreeMap::new();
    for node in world.nodes_of(runs) {
        *shares.entry(node).or_insert(0) += 1;
    }
    shares
}

#[test]
fn round_robin_gives_each_its_turn() {
    let (mut world, nodes) = world_of(&["a", "b", "c"]);
    let job = job_by(&mut world, Balancer::RoundRobin);
    let runs = world.submit_many(&job, 6);
    assert_eq!(world.nodes_of(&runs), ["a", "b", "c", "a", "b", "c"]);
    world.silence(nodes[1]);
    world.pass(secs(10));
    let runs = world.submit_many(&job, 4);
    assert_eq!(world.nodes_of(&runs), ["a", "c", "a", "c"]);
}

#[test]
fn random_reaches_everyone_about_equally_and_a_replay_chooses_the_same() {
    let choose = || {
        let (mut world, _) = world_of(&["a", "b", "c", "d"]);
        let job = job_by(&mut world, Balancer::Random);
        let runs = world.submit_many(&job, 200);
        (shares(&world, &runs), world.nodes_of(&runs))
    };
    let (shares, nodes) = choose();
    assert!(shares.len() == 4 && shares.values().all(|share| (25..=75).contains(share)), "{shares:?}");
    assert_eq!(choose().1, nodes);
}

#[test]
fn random_is_equal_wherever_a_pool_s_nodes_stand_among_others() {
    let mut world = World::new();
    for n in 0..40 {
        world.node_with(&format!("n{n}"), |node| {
            node.slots = 1_000;
            node.pool = if matches!(n, 0 | 1 | 30 | 39) { "few".into() } else { "many".into() };
        });
    }
    let job = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::Random);
        spec.placement.pool = Some("few".parse().unwrap());
    });
    let runs = world.submit_many(&job, 400);
    let shares = shares(&world, &runs);
    assert!(shares.len() == 4 && shares.values().all(|share| (70..=130).contains(share)), "{shares:?}");
}

#[test]
fn weighted_is_in_proportion_and_evenly_spread() {
    let (mut world, nodes) = world_of(&["a", "b"]);
    world.agent(nodes[0]).node.weight = 3;
    world.connect(nodes[0]);
    let job = job_by(&mut world, Balancer::Weighted);
    let runs = world.submit_many(&job, 80);
    assert_eq!(shares(&world, &runs), BTreeMap::from([("a".into(), 60), ("b".into(), 20)]));
    for window in runs.chunks(8) {
        assert_eq!(shares(&world, window)["a"], 6, "{:?}", world.nodes_of(window));
    }
}

#[test]
fn a_weighted_newcomer_does_not_get_everything_at_first() {
    let (mut world, _) = world_of(&["a"]);
    let job = job_by(&mut world, Balancer::Weighted);
    world.submit_many(&job, 50);
    world.node_with("b", |node| {
        node.slots = 100;
        node.capacity.cpu_milli = 10_000;
    });
    let runs = world.submit_many(&job, 10);
    assert_eq!(shares(&world, &runs), BTreeMap::from([("a".into(), 5), ("b".into(), 5)]));
}

#[test]
fn least_active_least_cpu_and_least_memory() {
    for (by, fields) in [
        (Balancer::LeastActive, (0, 0)),
        (Balancer::LeastCpu, (1_000, 0)),
        (Balancer::LeastMemory, (0, 100 << 20)),
    ] {
        let (mut world, _) = world_of(&["a", "b"]);
        let filler = world.job_with(|spec| {
            spec.dispatch = balancer(Balancer::Node("a".parse().unwrap()));
            (spec.resources.cpu_milli, spec.resources.memory_bytes) = fields;
        });
        world.submit_many(&filler, 3);
        let job = world.job_with(|spec| {
            spec.dispatch = balancer(by.clone());
            (spec.resources.cpu_milli, spec.resources.memory_bytes) = fields;
        });
        let runs = world.submit_many(&job, 5);
        assert_eq!(shares(&world, &runs), BTreeMap::from([("a".into(), 1), ("b".into(), 4)]), "{by:?}");
    }
}

#[test]
fn shares_of_cpu_are_relative_to_what_a_node_has() {
    let (mut world, nodes) = world_of(&["small", "large"]);
    world.agent(nodes[1]).node.capacity.cpu_milli = 30_000;
    world.connect(nodes[1]);
    let job = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::LeastCpu);
        spec.resources.cpu_milli = 1_000;
    });
    let runs = world.submit_many(&job, 20);
    assert_eq!(shares(&world, &runs)["large"], 15);
}

#[test]
fn best_fit_fills_one_before_the_next() {
    let (mut world, _) = world_of(&["a", "b"]);
    let job = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::BestFit);
        spec.resources.cpu_milli = 2_500;
    });
    let runs = world.submit_many(&job, 8);
    assert_eq!(world.nodes_of(&runs[..4]).iter().collect::<std::collections::BTreeSet<_>>().len(), 1);
    assert_eq!(shares(&world, &runs), BTreeMap::from([("a".into(), 4), ("b".into(), 4)]));
    world.states(&runs, RunState::Running);
}

#[test]
fn spread_keeps_a_job_apart_whatever_others_do() {
    let (mut world, _) = world_of(&["a", "b", "c"]);
    let other = job_by(&mut world, Balancer::First);
    world.submit_many(&other, 10);
    let job = job_by(&mut world, Balancer::Spread);
    let runs = world.submit_many(&job, 6);
    assert_eq!(shares(&world, &runs).into_values().collect::<Vec<_>>(), [2, 2, 2]);
}

#[test]
fn first_last_failover_and_node_by_name() {
    for (by, expected) in [
        (Balancer::First, ["a", "b", "c"]),
        (Balancer::Last, ["c", "b", "a"]),
        (Balancer::Failover(["b", "c", "a"].map(|name| name.parse().unwrap()).to_vec()), ["b", "c", "a"]),
    ] {
        let mut world = World::new();
        for name in ["b", "c", "a"] {
            world.node_with(name, |node| node.slots = 1);
        }
        let job = job_by(&mut world, by);
        let runs = world.submit_many(&job, 4);
        assert_eq!(world.nodes_of(&runs[..3]), expected);
        world.states(&runs[3..], RunState::Waiting);
        world.finish(runs[1]);
        assert_eq!(world.node_of(runs[3]), expected[1]);
        for run in [runs[2], runs[3], runs[0]] {
            world.finish(run);
        }
        let again = world.submit_many(&job, 3);
        assert_eq!(world.nodes_of(&again), expected, "whatever came free first");
    }
}

#[test]
fn failover_and_node_use_no_other_node() {
    for by in [Balancer::Failover(vec!["b".parse().unwrap()]), Balancer::Node("b".parse().unwrap())] {
        let mut world = World::new();
        world.node("a");
        let job = job_by(&mut world, by);
        let run = world.submit(&job);
        world.states(&[run], RunState::Waiting);
        assert_eq!(world.why(run).name(), "no_node");
        world.node("b");
        assert_eq!(world.node_of(run), "b");
    }
}

#[test]
fn consistent_hash_keeps_keys_where_they_are_when_a_node_goes_or_comes() {
    let (mut world, nodes) = world_of(&["a", "b", "c", "d"]);
    let job = job_by(&mut world, Balancer::ConsistentHash("{{ params.k }}".into()));
    let place = |world: &mut World| -> Vec<String> {
        let runs: Vec<RunId> =
            (0..100).map(|k| world.submit_params(&job, &format!(r#"{{"k":{k}}}"#))).collect();
        let places = world.nodes_of(&runs);
        runs.into_iter().for_each(|run| world.finish(run));
        places
    };
    let before = place(&mut world);
    assert_eq!(place(&mut world), before, "the same key, the same node");
    let silent = world.silence(nodes[2]);
    world.pass(secs(20));
    let without = place(&mut world);
    for (was, is) in before.iter().zip(&without) {
        assert!(was == "c" || was == is, "only the keys of the lost node move");
    }
    world.revive(silent);
    assert_eq!(place(&mut world), before, "and they come back with it");
    let moved = before.iter().filter(|node| *node == "c").count();
    assert!((5..=60).contains(&moved), "{moved}");
}

#[test]
fn sticky_returns_to_the_node_of_the_last_success() {
    for (sticky, by) in [(None, Some(Balancer::Sticky)), (Some(Sticky::Prefer), None)] {
        let (mut world, nodes) = world_of(&["a", "b"]);
        let job = world.job_with(|spec| {
            spec.placement.sticky = sticky;
            spec.dispatch = by.map_or(balancer(Balancer::Last), balancer);
        });
        let first = world.submit(&job);
        let home = world.node_of(first);
        let busy = job_by(&mut world, Balancer::Node(home.parse().unwrap()));
        world.submit_many(&busy, 10);
        world.finish(first);
        let runs = world.submit_many(&job, 3);
        assert!(world.nodes_of(&runs).iter().all(|node| *node == home));
        world.end(runs[0], Cause::Exit { code: 1 });
        let id = nodes[usize::from(home == "b")];
        world.silence(id);
        world.pass(secs(20));
        let elsewhere = world.submit(&job);
        assert_ne!(world.node_of(elsewhere), home);
    }
}

#[test]
fn sticky_knows_its_node_whoever_owns_the_cell() {
    let (mut world, mut nodes) = world_of(&["b"]);
    let job = world.job_with(|spec| {
        spec.placement.sticky = Some(Sticky::Require);
        spec.dispatch = balancer(Balancer::First);
    });
    let first = world.submit(&job);
    world.finish(first);
    nodes.push(world.node("a"));
    for _ in 0..4 {
        world.take_over();
        nodes.iter().for_each(|node| world.connect(*node));
        let run = world.submit(&job);
        assert_eq!(world.node_of(run), "b");
        world.finish(run);
    }
}

#[test]
fn sticky_that_requires_waits_for_its_node_while_it_lives() {
    let mut world = World::new();
    let a = world.node_with("a", |node| node.slots = 1);
    let job = world.job_with(|spec| spec.placement.sticky = Some(Sticky::Require));
    let first = world.submit(&job);
    world.finish(first);
    world.node("b");
    let (second, third) = (world.submit(&job), world.submit(&job));
    assert_eq!(world.node_of(second), "a");
    world.states(&[third], RunState::Waiting);
    assert_eq!(world.why(third).name(), "resources");
    world.silence(a);
    world.pass(secs(20));
    assert_eq!(world.node_of(third), "b");
}

#[test]
fn random_is_random_for_a_job_with_preferences_too() {
    let names: Vec<String> = (0..20).map(|n| format!("n{n:02}")).collect();
    let (mut world, _) = world_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let job = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::Random);
        let selector = "rare=yes".parse().unwrap();
        spec.placement.affinity = vec![mainspring_model::spec::Affinity { selector, weight: 1 }];
    });
    let runs = world.submit_many(&job, 40);
    let used = shares(&world, &runs).len();
    assert!(used >= 10, "40 draws hit {used} of 20 nodes");
}

#[test]
fn spread_finds_the_free_node_among_many() {
    let names: Vec<String> = (0..60).map(|n| format!("n{n:02}")).collect();
    let (mut world, _) = world_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let job = job_by(&mut world, Balancer::Spread);
    let runs = world.submit_many(&job, 59);
    // The one that has none of the job is the busiest.
    let held: std::collections::BTreeSet<String> = world.nodes_of(&runs).into_iter().collect();
    let free = names.iter().find(|name| !held.contains(*name)).unwrap().clone();
    let filler = job_by(&mut world, Balancer::Node(free.parse().unwrap()));
    world.submit_many(&filler, 3);
    let last = world.submit(&job);
    assert_eq!(world.node_of(last), free);
}

#[test]
fn best_fit_is_by_share_and_spreads_what_reserves_nothing() {
    let (mut world, _) = world_of(&["a", "b", "c"]);
    let job = job_by(&mut world, Balancer::BestFit);
    let runs = world.submit_many(&job, 6);
    assert_eq!(shares(&world, &runs).into_values().collect::<Vec<_>>(), [2, 2, 2]);

    // `large` has more cpu free than `small` and is the fuller one all the same; memory counts for those that need much.
    let mut world = World::new();
    world.node_with("small", |node| node.capacity.cpu_milli = 4_000);
    world.node_with("large", |node| node.capacity.cpu_milli = 64_000);
    let reserving = |world: &mut World, node: Option<&str>, cpu: u64, memory: u64| {
        world.job_with(|spec| {
            let named = node.map(|name| Balancer::Node(name.parse().unwrap()));
            spec.dispatch = balancer(named.unwrap_or(Balancer::BestFit));
            (spec.resources.cpu_milli, spec.resources.memory_bytes) = (cpu, memory << 20);
        })
    };
    let filler = reserving(&mut world, Some("large"), 32_000, 1);
    world.submit(&filler);
    let job = reserving(&mut world, None, 1_000, 1);
    let run = world.submit(&job);
    assert_eq!(world.node_of(run), "large");
    let filler = reserving(&mut world, Some("small"), 1, 3_000);
    world.submit(&filler);
    let by_memory = reserving(&mut world, None, 100, 900);
    let (by_memory, by_cpu) = (world.submit(&by_memory), world.submit(&job));
    assert_eq!(world.nodes_of(&[by_memory, by_cpu]), ["small", "large"]);
}
