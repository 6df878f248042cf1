//! Pausing and resuming a job or the cell: one write, nothing new starts, what executes goes on.

use mainspring_model::{Reason, RunState};

use crate::world::{World, paused, secs};

#[test]
fn a_paused_job_starts_nothing_and_others_go_on() {
    let mut world = World::new();
    world.node("a");
    let (job, other) = (world.job(), world.job());
    let before = world.submit(&job);
    world.hush();
    world.pause_job(&job, Some(paused(world.now)));
    world.expect(&["2: done"]);
    assert!(world.store.job(job.id).unwrap().pause.is_some());
    let (held, free) = (world.submit(&job), world.submit(&other));
    world.expect(&["3: submitted r2", "4: submitted r3", "start r3#1 on a"]);
    assert_eq!(world.why(held), Reason::Paused { by: "ann".into(), note: "look at it first".into() });
    world.finish(before);
    world.finish(free);
    world.hush();
    world.pass(secs(100));
    world.quiet();
    world.pause_job(&job, None);
    world.expect(&["5: done", "start r2#1 on a"]);
    assert_eq!(world.row(held).status.reason.as_deref().unwrap().name(), "paused");
}

#[test]
fn a_failed_attempt_of_a_paused_job_waits_for_the_resume() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.pause_job(&job, Some(paused(world.now)));
    world.end(run, mainspring_model::Cause::Exit { code: 1 });
    world.states(&[run], RunState::Waiting);
    world.hush();
    world.pause_job(&job, None);
    assert_eq!(world.starts(), ["r1#2 on a"]);
}

#[test]
fn a_pause_that_was_read_with_the_job_holds() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.pause_job(&job, Some(paused(world.now)));
    world.take_over();
    world.connect(*world.agents.keys().next().unwrap());
    world.hush();
    let run = world.submit(&job);
    world.expect(&["2: submitted r1"]);
    assert_eq!(world.why(run).name(), "paused");
    world.pause_job(&job, None);
    world.expect(&["3: done", "start r1#1 on a"]);
}

#[test]
fn a_pause_of_a_job_that_changed_meanwhile_is_refused() {
    let mut world = World::new();
    let job = world.job();
    let row = world.store.job(job.id).unwrap();
    world.pause_job(&job, Some(paused(world.now)));
    world.hush();
    let request = world.request();
    let (job, pause) = (Box::new(row), None);
    world.handle(mainspring_engine::Event::PauseJob { request, job, pause });
    world.expect(&["2: refused Conflict"]);
}

#[test]
fn a_paused_cell_starts_nothing_at_all_and_resumes_in_queue_order() {
    let mut world = World::new();
    let node = world.node_with("a", |node| node.slots = 2);
    let job = world.job();
    let running = world.submit(&job);
    world.pause_cell(Some(paused(world.now)));
    assert!(world.store.cell_pause(world.config.cell).is_some());
    world.hush();
    let low = world.submit(&job);
    let high = world.submit_with(&job, |head| head.priority += 1);
    world.finish(running);
    world.connect(node);
    world.pass(secs(60));
    assert_eq!(world.starts(), [""; 0]);
    assert_eq!(world.why(high), Reason::CellPaused { by: "ann".into(), note: "look at it first".into() });
    let third = world.submit(&job);
    world.take_over();
    world.connect(node);
    assert_eq!(world.starts(), [""; 0], "the pause is a row");
    world.pause_cell(None);
    assert_eq!(world.starts(), ["r3#1 on a", "r2#1 on a"]);
    assert!(world.store.cell_pause(world.config.cell).is_none());
    world.states(&[low, high], RunState::Running);
    world.states(&[third], RunState::Waiting);
}

#[test]
fn of_two_who_pause_the_same_at_once_the_second_learns_what_the_first_did() {
    let mut world = World::new();
    let job = world.job();
    world.commits = false;
    world.pause_job(&job, Some(paused(world.now)));
    world.pause_job(&job, None);
    world.pause_cell(Some(paused(world.now)));
    world.pause_cell(None);
    world.commits = true;
    world.settle();
    world.expect(&["1: done", "2: refused Conflict", "3: done", "4: done"]);
    assert!(world.store.job(job.id).unwrap().pause.is_some(), "the second had read an older row");
    assert!(world.store.cell_pause(mainspring_model::CellId(0)).is_none());
}

#[test]
fn a_submission_by_somebody_who_read_the_job_before_the_resume_does_not_pause_it_again() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.pause_job(&job, Some(paused(world.now)));
    let old = world.store.job(job.id);
    world.pause_job(&job, None);
    let head = world.head(&job);
    let run = head.id;
    world.submit_read(&job, head, old.as_ref());
    world.states(&[run], RunState::Running);
    // A read of the store that was under way says as little.
    world.finish(run);
    let late = world.insert_elsewhere(&job, |_| {});
    let mut read = world.read(mainspring_store::ShelfQuery {
        cell: world.config.cell,
        shelf: mainspring_model::Shelf::Arrived,
        after: None,
        rank_max: None,
        limit: 10,
    });
    read.rows[0].pause = old.and_then(|row| row.job_pause());
    world.handle(mainspring_engine::Event::ShelfRead(Box::new(read)));
    world.states(&[late], RunState::Running);
    // Who reads the row that pauses it again is believed.
    world.pause_job(&job, Some(paused(world.now)));
    let held = world.submit(&job);
    world.states(&[held], RunState::Waiting);
}
