//! An owner acts only while its lease holds; a deposed one writes nothing and says nothing to nodes.

use mainspring_engine::{Event, Message};
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
    world.renew();
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
    world.cell.committed(world.both(), &outcomes);
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
    world.renew();
    world.handle(Event::Tick);
    assert_eq!(world.runs_of(&job).len(), 1, "it had none");
}

/// A world with a run that executes, whose owner cannot reach its store any more.
fn stranded() -> (World, mainspring_model::NodeId, mainspring_model::RunId) {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.hush();
    world.now = world.now + limits::LEASE_TTL;
    world.commits = false;
    (world, a, run)
}

#[test]
fn an_owner_whose_store_is_away_extends_the_leases_of_its_nodes_and_decides_nothing() {
    let (mut world, a, run) = stranded();
    let row = world.row(run);
    for _ in 0..10 {
        world.now = world.now + secs(5);
        world.beat(a);
        world.finish(run);
        world.handle(Event::Tick);
        let said = world.messages();
        assert!(matches!(said[..], [Message::Beat { node, .. }] if node == a), "{said:?}");
    }
    assert_eq!(world.row(run), row);
    // 55 s after the last renewal; five more and it is over.
    world.now = world.now + secs(5);
    world.beat(a);
    assert!(world.messages().is_empty());
}

#[test]
fn a_renewal_after_the_store_was_away_asks_nodes_what_they_hold() {
    let (mut world, a, run) = stranded();
    world.now = world.now + secs(40);
    world.beat(a);
    world.finish(run);
    world.renew();
    world.commits = true;
    world.hush();
    world.handle(Event::Tick);
    world.expect(&["who are you a"]);
    world.states(&[run], RunState::Running);
    world.connect(a);
    world.finish(run);
    world.states(&[run], RunState::Success);
    assert_eq!(world.row(run).status.attempt, 1, "nothing was lost");
}

#[test]
fn a_new_owner_waits_longer_for_nodes_that_another_may_still_extend() {
    let mut world = World::new();
    let (a, b) = (world.node("a"), world.node("b"));
    let job = world.job();
    let runs = [world.submit(&job), world.submit(&job)];
    assert_ne!(world.attempt(runs[0]).0, world.attempt(runs[1]).0);
    let silent = world.silence(b);
    world.take_over_from_other();
    world.connect(a);
    let patience = limits::LOST_AFTER + limits::STORE_OUTAGE_MAX - limits::LEASE_TTL;
    world.pass(patience - secs(1));
    let of_b = runs.into_iter().find(|run| world.attempt(*run).0 == b).unwrap();
    assert_eq!(world.row(of_b).status.attempt, 1, "its lease may have been extended by the old owner");
    world.pass(secs(2));
    assert_eq!((world.attempt(of_b).0, world.row(of_b).status.attempt), (a, 2));
    drop(silent);
    // One that has said hello is waited for as always.
    let silent = world.silence(a);
    world.pass(limits::LOST_AFTER + secs(1));
    assert_eq!(world.row(of_b).status.losses, 2);
    drop(silent);
}

#[test]
fn a_new_owner_of_a_free_cell_does_not_wait_longer() {
    let mut world = World::new();
    let (a, b) = (world.node("a"), world.node("b"));
    let job = world.job();
    let runs = [world.submit(&job), world.submit(&job)];
    drop(world.silence(b));
    world.take_over();
    world.connect(a);
    world.pass(limits::LOST_AFTER + secs(1));
    assert!(runs.iter().all(|run| world.attempt(*run).0 == a));
}

#[test]
fn what_the_store_answers_a_stranded_owner_is_heard_in_its_order() {
    let mut world = World::new();
    let a = world.node("a");
    let job = world.job();
    world.commits = false;
    let run = world.submit(&job);
    let batch = world.cell.cut().unwrap();
    world.now = world.now + limits::LEASE_TTL;
    world.beat(a);
    let outcomes = world.store.commit(&batch.transaction).unwrap();
    world.hush();
    world.cell.committed(world.both(), &outcomes);
    world.settle();
    world.quiet();
    world.renew();
    world.commits = true;
    world.handle(Event::Tick);
    // The order is repeated, because time has passed since it was given.
    world.expect(&["1: submitted r1", "start r1#1 on a", "start r1#1 on a", "who are you a"]);
    world.states(&[run], RunState::Running);
}
