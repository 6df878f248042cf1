//! Rate limits hold in every window, over keys, retries and owners.

use std::collections::BTreeSet;

use mainspring_model::spec::RateLimit;
use mainspring_model::{Reason, RunState};
use mainspring_store::Write;

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
fn a_window_is_the_same_for_every_owner() {
    let mut world = World::new();
    let node = world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 3, 86_400, Some("{{ params.t }}"));
    let submit = |world: &mut World| world.submit_params(&job, r#"{"t":"a/b"}"#);
    let begun_at = world.now;
    let mut runs = vec![submit(&mut world), submit(&mut world)];
    for _ in 0..3 {
        world.pass(secs(100));
        world.take_over();
        world.connect(node);
        runs.push(submit(&mut world));
    }
    world.states(&runs[..3], RunState::Running);
    world.states(&runs[3..], RunState::Waiting);
    world.pass_until(begun_at + secs(86_400) - millis(1));
    world.states(&runs[3..], RunState::Waiting);
    world.pass(millis(1));
    world.states(&runs, RunState::Running);
}

#[test]
fn a_memory_that_was_tidied_away_is_written_again() {
    let mut world = World::new();
    let node = world.node_with("a", |node| node.slots = 100);
    let job = limited(&mut world, 1, 10, None);
    world.submit(&job);
    world.pass(secs(100));
    let rule = mainspring_store::RecordRetention::Expired { at: mainspring_model::Timestamp::MAX };
    assert_eq!(world.store.retain_records(&rule, 10), 1);
    world.submit(&job);
    world.take_over();
    world.connect(node);
    let run = world.submit(&job);
    world.states(&[run], RunState::Waiting);
    assert_eq!(world.why(run).name(), "rate_limit");
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

#[test]
fn a_start_is_written_with_its_run_however_many_there_are() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 10_000);
    let job = limited(&mut world, 1, 10, Some("{{ params.t }}"));
    world.commits = false;
    // Those that are written first have the keys that come last.
    for n in 0..2_500 {
        world.submit_params(&job, &format!(r#"{{"t":"{}"}}"#, 9_999 - n));
    }
    let batch = world.cell.cut().unwrap();
    let of_run = |write: &Write| match write {
        Write::InsertRun(run) => Some(run.head.keys.as_ref().unwrap().rate.as_bytes().to_vec()),
        _ => None,
    };
    let of_record = |write: &Write| match write {
        Write::PutRecord(record) => record.key.as_bytes().rsplit(|byte| *byte == b'/').next().map(Vec::from),
        _ => None,
    };
    let starts: BTreeSet<_> = batch.transaction.writes.iter().filter_map(of_run).collect();
    let records: BTreeSet<_> = batch.transaction.writes.iter().filter_map(of_record).collect();
    assert!(starts.len() < 2_500, "they do not fit into one batch");
    assert!(starts.is_subset(&records), "{} starts, {} records", starts.len(), records.len());
}
