//! Preferences: affinity, spread over a label, and where a retry goes.

use mainspring_model::spec::{Affinity, Balancer, RetryNode};
use mainspring_model::{Cause, RunState};

use crate::world::{World, balancer, secs};

fn failed() -> Cause {
    Cause::Exit { code: 1 }
}

fn zoned(world: &mut World, name: &str, zone: &str) -> mainspring_model::NodeId {
    world.node_with(name, |node| node.labels.insert("zone", zone).unwrap())
}

#[test]
fn affinity_prefers_and_avoids_but_does_not_forbid() {
    for by in
        [Balancer::BestFit, Balancer::LeastActive, Balancer::RoundRobin, Balancer::First, Balancer::Last]
    {
        let mut world = World::new();
        for (name, zone) in [("a", "eu"), ("b", "us"), ("c", "asia")] {
            zoned(&mut world, name, zone);
        }
        let like =
            |zone: &str, weight| Affinity { selector: format!("zone={zone}").parse().unwrap(), weight };
        let job = world.job_with(|spec| {
            spec.dispatch = balancer(by.clone());
            spec.placement.affinity = vec![like("us", 10), like("eu", -10)];
        });
        let runs = world.submit_many(&job, 12);
        let expected = [["b"; 4], ["c"; 4], ["a"; 4]].concat();
        assert_eq!(world.nodes_of(&runs), expected, "{by:?}");
    }
}

#[test]
fn only_an_aversion_counts_too() {
    let mut world = World::new();
    zoned(&mut world, "a", "eu");
    zoned(&mut world, "b", "us");
    let job = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::First);
        spec.placement.affinity = vec![Affinity { selector: "zone=eu".parse().unwrap(), weight: -1 }];
    });
    let run = world.submit(&job);
    assert_eq!(world.node_of(run), "b");
}

#[test]
fn spread_over_a_label() {
    let mut world = World::new();
    for n in 0..60 {
        zoned(&mut world, &format!("eu-{n}"), "eu");
    }
    for (name, zone) in [("us-1", "us"), ("us-2", "us"), ("asia-1", "asia")] {
        zoned(&mut world, name, zone);
    }
    // The nodes of one zone come first in the balancer's order: they are fuller, and there are many.
    let filler = world.job_with(|spec| {
        spec.placement.selector = "zone=eu".parse().unwrap();
        spec.dispatch = balancer(Balancer::Spread);
        spec.resources.cpu_milli = 1_000;
    });
    world.submit_many(&filler, 60);
    let job = world.job_with(|spec| {
        spec.placement.spread = Some("zone".into());
        spec.resources.cpu_milli = 1_000;
    });
    let runs = world.submit_many(&job, 9);
    let zones: Vec<String> =
        world.nodes_of(&runs).iter().map(|node| node.split('-').next().unwrap().to_owned()).collect();
    for zone in ["eu", "us", "asia"] {
        assert_eq!(zones.iter().filter(|have| *have == zone).count(), 3, "{zones:?}");
    }
    world.finish(runs[zones.iter().position(|zone| zone == "asia").unwrap()]);
    let next = world.submit(&job);
    assert_eq!(world.node_of(next), "asia-1");
}

#[test]
fn a_full_domain_does_not_stop_the_spread() {
    let mut world = World::new();
    zoned(&mut world, "eu-1", "eu");
    world.node_with("us-1", |node| {
        node.slots = 1;
        node.labels.insert("zone", "us").unwrap();
    });
    let job = world.job_with(|spec| spec.placement.spread = Some("zone".into()));
    let runs = world.submit_many(&job, 5);
    world.states(&runs, RunState::Running);
}

#[test]
fn a_retry_goes_to_the_same_node_if_the_job_says_so() {
    let mut world = World::new();
    for name in ["a", "b", "c"] {
        world.node(name);
    }
    let job = world.job_with(|spec| {
        spec.retry.node = RetryNode::Same;
        spec.dispatch = balancer(Balancer::RoundRobin);
    });
    let run = world.submit(&job);
    for _ in 0..3 {
        world.end(run, failed());
        assert_eq!(world.node_of(run), "a");
    }
}

#[test]
fn the_same_node_is_waited_for_while_it_lives() {
    let mut world = World::new();
    let a = world.node_with("a", |node| node.slots = 1);
    let job = world.job_with(|spec| spec.retry.node = RetryNode::Same);
    let other = world.job_with(|spec| spec.priority.level = 100);
    let run = world.submit(&job);
    world.node("b");
    let rival = world.submit_with(&other, |head| head.priority = u16::MAX);
    assert_eq!(world.node_of(rival), "b");
    let blocker = world.job_with(|spec| {
        spec.dispatch = balancer(Balancer::Node("a".parse().unwrap()));
        spec.priority.level = 100;
    });
    let next = world.submit(&blocker);
    world.end(run, failed());
    world.states(&[next], RunState::Running);
    world.states(&[run], RunState::Waiting);
    world.silence(a);
    world.pass(secs(20));
    assert_eq!(world.node_of(run), "b", "the node is gone: another will do");
}

#[test]
fn a_retry_goes_to_another_node_unless_there_is_only_one() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| {
        spec.retry.max = 9;
        spec.dispatch = balancer(Balancer::First);
    });
    let run = world.submit(&job);
    world.end(run, failed());
    assert_eq!(world.node_of(run), "a", "the only one");
    world.node("b");
    world.end(run, failed());
    assert_eq!(world.node_of(run), "b");
    world.end(run, failed());
    assert_eq!(world.row(run).status.state, RunState::Running, "both failed it: either will do");
    world.end(run, failed());
    world.silence(a);
    world.pass(secs(20));
    assert_eq!((world.node_of(run).as_str(), world.state(run)), ("b", RunState::Running));
}

#[test]
fn the_only_one_that_is_large_enough_is_the_only_one() {
    let mut world = World::new();
    world.node_with("large", |node| node.capacity.cpu_milli = 64_000);
    let small = world.node("small");
    let job = world.job_with(|spec| {
        spec.retry.max = 9;
        spec.resources.cpu_milli = 16_000;
    });
    let run = world.submit(&job);
    for _ in 0..3 {
        world.end(run, failed());
        assert_eq!((world.state(run), world.node_of(run)), (RunState::Running, "large".into()));
    }
    world.node_with("larger", |node| node.capacity.cpu_milli = 65_000);
    world.end(run, failed());
    assert_eq!(world.node_of(run), "larger", "there are two by now");
    // A node that grows is another one too, and one that shrinks is none.
    world.end(run, failed());
    world.end(run, failed());
    world.agent(small).node.capacity.cpu_milli = 16_000;
    world.connect(small);
    world.end(run, failed());
    assert_eq!(world.node_of(run), "small");
}

#[test]
fn a_node_that_refuses_is_avoided_like_one_that_failed() {
    let mut world = World::new();
    let full = world.node("a");
    world.node("b");
    let refused = || Cause::Refused { message: "the disk is full".into() };
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::First));
    let run = world.submit(&job);
    assert_eq!(world.node_of(run), "a");
    world.end(run, refused());
    assert_eq!((world.state(run), world.node_of(run)), (RunState::Running, "b".into()));
    world.finish(run);

    // Who wants its node again waits for it, and whoever has refused once is not pinned to it.
    let same = world.job_with(|spec| {
        spec.retry.node = RetryNode::Same;
        spec.dispatch = balancer(Balancer::First);
    });
    let run = world.submit(&same);
    world.end(run, refused());
    assert_eq!(world.node_of(run), "a");
    world.silence(full);
    world.pass(secs(20));
    assert_eq!((world.state(run), world.node_of(run)), (RunState::Running, "b".into()));
}

#[test]
fn a_run_that_avoids_a_node_takes_it_when_the_others_go() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let b = world.node_with("b", |node| node.slots = 1);
    let job = world.job_with(|spec| spec.dispatch = balancer(Balancer::First));
    let (run, other) = (world.submit(&job), world.submit(&job));
    world.end(run, failed());
    world.states(&[run], RunState::Waiting);
    assert_eq!((world.node_of(other).as_str(), world.why(run).name()), ("b", "resources"));
    world.silence(b);
    world.pass(secs(8));
    assert_eq!(world.node_of(run), "a", "b missed heartbeats");
}

#[test]
fn another_node_or_none() {
    let mut world = World::new();
    world.node("a");
    world.node("b");
    let job = world.job_with(|spec| {
        spec.retry.node = RetryNode::Other;
        spec.dispatch = balancer(Balancer::First);
    });
    let run = world.submit(&job);
    world.end(run, failed());
    assert_eq!(world.node_of(run), "b");
    world.end(run, failed());
    world.states(&[run], RunState::Waiting);
    world.pass(secs(100));
    world.states(&[run], RunState::Waiting);
    world.node("c");
    assert_eq!(world.node_of(run), "c");
}

#[test]
fn a_job_that_avoids_a_node_does_not_keep_others_off_it() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 2);
    world.node_with("b", |node| node.slots = 1);
    let job = world.job_with(|spec| {
        spec.retry.node = RetryNode::Other;
        spec.dispatch = balancer(Balancer::First);
    });
    let (run, second) = (world.submit(&job), world.submit(&job));
    let third = world.submit(&job);
    assert_eq!(world.nodes_of(&[run, second, third]), ["a", "a", "b"]);
    world.end(run, failed());
    world.states(&[run], RunState::Waiting);
    let fourth = world.submit(&job);
    assert_eq!(world.node_of(fourth), "a");
    world.finish(third);
    assert_eq!(world.node_of(run), "b");
}
