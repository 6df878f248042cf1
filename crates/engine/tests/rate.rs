//! Rate limits hold in every window, over keys, retries and owners.

use mainspring_model::spec::RateLimit;
use mainspring_model::{Reason, RunState};

use crate::world::{Job, World, millis, secs};

fn limited(world: &mut World, limit: u32, per: u64, key: Option<&str>) -> Job {
    world.job_with(|spec| {
        let limit = limit.try_into().unwrap();
        spec.rate_limit = Some(RateLimit { limit, per: secs(per), key: key.map(Into::into) });
    })
}

#[test]
fn the_next_starts_when_the_window_opens() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 2, 10, None);
    let runs = world.submit_many(&job, 5);
    world.states(&runs[..2], RunState::Running);
    let until = world.now + secs(10);
    assert_eq!(world.why(runs[2]), Reason::RateLimit { key: "".into(), limit: 2, until });
    world.hush();
    world.pass(secs(10) - millis(1));
    assert_eq!(world.starts(), [""; 0]);
    world.pass(millis(1));
    assert_eq!(world.starts(), ["r3#1 on a", "r4#1 on a"]);
    world.pass(secs(10));
    assert_eq!(world.starts(), ["r5#1 on a"]);
    assert_eq!(world.row(runs[4]).status.reason.unwrap().name(), "rate_limit");
}

#[test]
fn each_key_has_a_window_of_its_own() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 1, 10, Some("{{ params.t }}"));
    let runs: Vec<_> =
        ["a", "b", "a", "b"].map(|t| world.submit_params(&job, &format!(r#"{{"t":"{t}"}}"#))).to_vec();
    world.states(&runs[..2], RunState::Running);
    world.states(&runs[2..], RunState::Waiting);
    world.pass(secs(10));
    world.states(&runs, RunState::Running);
}

#[test]
fn a_limit_blocks_only_its_own_job() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 100);
    let (slow, quick) = (limited(&mut world, 1, 1_000, None), world.job());
    let held = world.submit_many(&slow, 10);
    let free = world.submit_many(&quick, 10);
    world.states(&held[1..], RunState::Waiting);
    world.states(&free, RunState::Running);
}

#[test]
fn a_new_owner_assumes_the_worst() {
    let mut world = World::new();
    let node = world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 3, 10, None);
    world.submit_many(&job, 3);
    world.take_over();
    world.connect(node);
    world.hush();
    let run = world.submit(&job);
    world.states(&[run], RunState::Waiting);
    world.pass(secs(10));
    world.states(&[run], RunState::Running);
}

#[test]
fn a_window_waits_for_room_too() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let job = limited(&mut world, 1, 10, None);
    let (first, second) = (world.submit(&job), world.submit(&job));
    world.pass(secs(20));
    world.states(&[second], RunState::Waiting);
    assert_eq!(world.why(second).name(), "resources");
    world.finish(first);
    world.states(&[second], RunState::Running);
}
