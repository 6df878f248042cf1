//! The same events give the same effects: a replay is the same to the byte.

use mainspring_engine::{Cell, Config, Event, Message, Tenure};
use mainspring_model::spec::{Balancer, Concurrency};
use mainspring_model::{Cause, Epoch};

use crate::world::{FOR_EVER, World, at, balancer, both, secs};

/// A busy story: many jobs, namespaces, balancers, failures, losses.
fn story() -> String {
    let mut world = World::with(|config| config.waiting_max = 40);
    let mut told = String::new();
    for n in 0..8 {
        world.node_with(&format!("n{n}"), |node| node.slots = 2);
    }
    let balancers = [Balancer::Random, Balancer::Spread, Balancer::LeastActive, Balancer::Weighted];
    let jobs: Vec<_> = (0..12)
        .map(|n| {
            world.job_in(&format!("ns-{}", n % 3), |spec| {
                spec.dispatch = balancer(balancers[n % 4].clone());
                spec.concurrency = (n % 5 == 0).then(|| Concurrency::new(2.try_into().unwrap()));
            })
        })
        .collect();
    let mut runs = Vec::new();
    for step in 0..400usize {
        runs.push(world.submit(&jobs[(step * 7) % jobs.len()]));
        if let Some(run) = runs.iter().copied().find(|run| {
            world.cell.run(*run).is_some_and(|run| run.status.state == mainspring_model::RunState::Running)
        }) {
            let code = i32::from(step % 3 == 0);
            world.end(run, Cause::Exit { code });
        }
        if step % 100 == 50 {
            let node = *world.agents.keys().next().unwrap();
            world.silence(node);
            world.pass(secs(16));
        }
        told.push_str(&world.said().join("\n"));
    }
    for run in world.store.all_runs() {
        told.push_str(&format!("{run:?}\n"));
    }
    told
}

#[test]
fn the_same_story_is_told_the_same() {
    let (one, other) = (story(), story());
    assert!(one.len() > 100_000);
    assert_eq!(one, other);
}

#[test]
fn nothing_is_said_or_written_without_an_event() {
    let now = both(at(0), secs(0));
    let tenure = Tenure {
        epoch: Epoch(1),
        lease: FOR_EVER,
        succeeds_other: false,
        nodes: Vec::new(),
        pause: None,
        memories: Vec::new(),
    };
    let mut cell = Cell::new(Config::default(), tenure, now);
    assert!(matches!(cell.take_messages()[..], [Message::ReadTriggers(_)]));
    for _ in 0..10 {
        cell.handle(now, Event::Tick);
        assert!(cell.take_messages().is_empty() && cell.cut().is_none());
    }
}

#[test]
fn an_idle_cell_asks_the_store_for_next_to_nothing() {
    let mut world = World::new();
    for n in 0..50 {
        world.node(&format!("n{n}"));
    }
    let seq = world.store.leases()[0].seq;
    world.pass(secs(3_600));
    assert_eq!(world.store.leases()[0].seq, seq, "heartbeats write nothing");
}
