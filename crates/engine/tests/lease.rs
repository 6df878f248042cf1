//! An owner acts only while its lease holds; a deposed one writes nothing and says nothing to nodes.

use mainspring_engine::Event;
use mainspring_model::{RunState, limits};
use mainspring_store::Error;

use crate::world::{World, secs};

#[test]
fn a_cell_whose_lease_ended_does_nothing() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job_with(|spec| spec.timeout.run = Some(secs(5)));
    let run = world.submit(&job);
    let row = world.row(run);
    world.hush();
    world.now = world.now + limits::LEASE_TTL;
    world.commits = false;
    world.submit(&job);
    world.beat(a);
    world.connect(a);
    world.cancel(run);
    world.finish(run);
    world.handle(Event::Tick);
    world.expect(&["2: refused NotOwner", "3: refused NotOwner"]);
    assert!(world.cell.cut().is_none());
    assert_eq!(world.row(run), row);
}

#[test]
fn a_renewal_lets_it_go_on() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.now = world.now + limits::LEASE_TTL - secs(1);
    world.cell.renewed(world.now + limits::LEASE_TTL);
    world.cell.renewed(world.now);
    world.now = world.now + secs(2);
    let run = world.submit(&job);
    world.states(&[run], RunState::Running);
}

#[test]
fn a_deposed_owners_batch_fails_whole() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.commits = false;
    world.finish(run);
    world.submit(&job);
    let batch = world.cell.cut().unwrap();
    let before = world.store.clone();
    world.commits = true;
    world.take_over();
    assert!(matches!(world.store.commit(&batch.transaction), Err(Error::FenceLost { .. })));
    assert_eq!(world.row(run), before.run(run).unwrap().clone());
    assert_eq!(world.store.all_runs().len(), 1, "the second run never was");
}

#[test]
fn a_row_that_somebody_else_changed_makes_the_cell_step_down() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    let mut status = world.row(run).status;
    let expected = status.version;
    status.version += 1;
    let write = mainspring_store::Write::UpdateRun(mainspring_store::RunUpdate { id: run, expected, status });
    world.store.commit(&mainspring_store::Transaction::unfenced(vec![write])).unwrap();
    world.commits = false;
    world.finish(run);
    let batch = world.cell.cut().unwrap();
    let outcomes = world.store.commit(&batch.transaction).unwrap();
    world.cell.committed(world.now, &outcomes);
    assert!(world.cell.diverged().is_some_and(|why| why.contains(&run.to_string())));
    world.hush();
    world.submit(&job);
    world.expect(&["2: refused NotOwner"]);
    assert!(world.cell.cut().is_none());
}

#[test]
fn what_the_store_answered_after_the_lease_is_heard_when_it_is_renewed() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.late = Some(Vec::new());
    world.pass(secs(59));
    assert!(world.late.as_ref().is_some_and(|late| !late.is_empty()), "what the trigger says is being read");
    world.now = world.now + limits::LEASE_TTL;
    world.answer_late();
    assert_eq!(world.runs_of(&job).len(), 0, "it may have a successor");
    world.cell.renewed(world.now + limits::LEASE_TTL);
    world.handle(Event::Tick);
    assert_eq!(world.runs_of(&job).len(), 1, "it had none");
}
