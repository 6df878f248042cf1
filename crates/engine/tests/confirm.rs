//! A change that was put elsewhere is confirmed when it counts: no firing goes by the old version after that, and no end that
//! it follows is missed.

use mainspring_engine::Event;
use mainspring_store::{Error, LeaseRequest, Write};

use crate::world::{CELL, World, secs};

#[test]
fn a_change_is_confirmed_when_it_is_read_and_a_commit_has_passed_the_fence() {
    let mut world = World::new();
    let job = world.trigger_job(&["every: 10s"]);
    let job = world.change_job(&job, |spec| spec.retry.max = 7);
    world.write_triggers(&job);
    world.hush();
    world.late = Some(Vec::new());
    world.commits = false;
    let request = world.request();
    world.handle(Event::TriggersChanged { request, job: job.id });
    world.quiet();
    world.answer_late();
    world.quiet();
    let batch = world.cell.cut().unwrap();
    assert_eq!(batch.transaction.writes, [], "the proof of ownership writes no row");
    world.quiet();
    world.write(&batch);
    world.settle();
    let done = format!("{}: done", request.0);
    world.expect(&[&done]);
    world.commits = true;
    world.pass(secs(10));
    let versions: Vec<u32> = world.runs_of(&job).iter().map(|run| run.head.job_version).collect();
    assert_eq!(versions, [job.version]);
}

#[test]
fn what_was_decided_by_the_old_version_is_durable_before_the_change_is_confirmed() {
    let mut world = World::new();
    world.node("a");
    let old = world.trigger_job(&["every: 10s"]);
    world.commits = false;
    world.pass(secs(10));
    let new = world.change_job(&old, |spec| spec.retry.max = 7);
    world.write_triggers(&new);
    world.hush();
    let request = world.request();
    world.handle(Event::TriggersChanged { request, job: new.id });
    let done = format!("{}: done", request.0);
    while let Some(batch) = world.cell.cut() {
        assert!(!world.said().contains(&done), "a run of the old version is on its way");
        world.write(&batch);
        world.settle();
        let fires = |write: &Write| matches!(write, Write::InsertRun(_));
        if batch.transaction.writes.iter().any(fires) {
            break;
        }
    }
    world.commits = true;
    world.settle();
    assert!(world.said().contains(&done));
    let before = world.runs_of(&new).len();
    world.pass(secs(60));
    let runs = world.runs_of(&new);
    assert!(runs.len() > before);
    assert!(runs[before..].iter().all(|run| run.head.job_version == new.version), "{runs:?}");
}

#[test]
fn a_deposed_owner_confirms_nothing() {
    let mut world = World::new();
    let job = world.trigger_job(&["every: 10s"]);
    let lease = world.store.leases().pop().unwrap();
    let observed = Some((lease.epoch, lease.expires_at));
    let member = mainspring_model::MemberId::new(world.now, 2);
    world.store.acquire_lease(LeaseRequest { cell: CELL, member, observed, expires_at: lease.expires_at });
    world.hush();
    world.commits = false;
    let request = world.request();
    world.handle(Event::TriggersChanged { request, job: job.id });
    let batch = world.cell.cut().unwrap();
    assert!(matches!(world.store.commit(&batch.transaction), Err(Error::FenceLost { .. })));
    world.settle();
    world.quiet();
}

#[test]
fn an_end_after_a_confirmed_put_is_followed() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let run = world.submit(&first);
    let follower = world.trigger_job(&[&format!("after: {}", first.spec.name.as_str())]);
    assert!(world.said().iter().any(|words| words.ends_with(": done")));
    world.finish(run);
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), 1);
}

#[test]
fn a_removed_trigger_does_not_fire_after_its_removal_is_confirmed() {
    let mut world = World::new();
    let job = world.trigger_job(&["every: 10s"]);
    world.pass(secs(25));
    let before = world.runs_of(&job).len();
    world.hush();
    world.change_triggers(&job, &[]);
    assert!(world.said().iter().any(|words| words.ends_with(": done")));
    world.pass(secs(60));
    assert_eq!(world.runs_of(&job).len(), before);
}

#[test]
fn a_trigger_that_was_removed_and_made_again_is_not_taken_for_the_one_before() {
    let mut world = World::new();
    let old = world.trigger_job(&["name: t, every: 10s"]);
    // Somebody removes it and makes another of the same name, and the owner has heard of neither.
    let removed = world.change_spec(&old, &[]);
    world.write_triggers(&removed);
    let new = world.change_spec(&removed, &["name: t, every: 1h"]);
    world.write_triggers(&new);
    world.pass(secs(10));
    assert_eq!(
        world.trigger(&new, "t").state.version,
        new.version,
        "what the owner knew is not written over it"
    );
    let runs = world.runs_of(&new).len();
    world.take_over();
    world.pass(secs(60));
    assert_eq!(world.runs_of(&new).len(), runs);
}
