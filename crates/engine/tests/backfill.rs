//! Backfills: moments of the past are made up for, each once, a few at a time.

use std::num::NonZeroU32;

use mainspring_engine::{Answer, Backfill, TriggerCommand};
use mainspring_model::{BackfillId, BackfillOrder, Cause, Reprocess, Run, RunState};

use crate::world::{Job, World, at, millis, paused, secs};

/// Hours 0 to 5 of a job that is an hour old, two at a time.
fn hours(number: u128) -> Backfill {
    let id = BackfillId::new(at(0), number);
    let plain = Backfill::new(id, at(0) - secs(5 * 3_600), at(0), "ann", at(0));
    Backfill { max_active: NonZeroU32::new(2).unwrap(), ..plain }
}

fn hourly() -> (World, Job) {
    let mut world = World::new();
    world.node("a");
    // Whole hours, counted from the beginning of the world.
    let job = world.trigger_job_with(&["every: 1h, offset: 20s"], |spec| spec.retry.max = 0);
    (world, job)
}

fn begin(world: &mut World, job: &Job, backfill: Backfill) {
    world.command_trigger(job, "every", TriggerCommand::Backfill(Box::new(backfill)));
    world.pass(millis(1));
}

fn standing(world: &World, job: &Job, number: usize) -> Backfill {
    world.trigger(job, "every").state.backfills()[number].clone()
}

/// Ends every active run, again and again, until there are none; tells how many were active at most.
fn work_off(world: &mut World, job: &Job, cause: Option<Cause>) -> usize {
    let mut most = 0;
    loop {
        let active: Vec<_> =
            world.runs_of(job).into_iter().filter(|run| !run.status.state.is_terminal()).collect();
        most = most.max(active.len());
        let Some(first) = active.first() else { return most };
        match &cause {
            Some(cause) => world.end(first.head.id, cause.clone()),
            None => world.finish(first.head.id),
        }
        world.pass(millis(1));
    }
}

fn logical_hours(world: &World, job: &Job) -> Vec<i64> {
    let mut runs = world.runs_of(job);
    runs.sort_by_key(|run| (run.head.created_at, run.status.placed_at));
    runs.iter().map(hour).collect()
}

/// The hour that a run is for, counted from the beginning of the world.
fn hour(run: &Run) -> i64 {
    let planned = run.head.fired.as_ref().unwrap().planned;
    (planned.as_micros() - at(0).as_micros()).div_euclid(3_600_000_000)
}

#[test]
fn each_moment_of_the_range_runs_once_and_no_more_than_allowed_at_a_time() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    assert_eq!(world.runs_of(&job).len(), 2);
    assert_eq!(work_off(&mut world, &job, None), 2);
    assert_eq!(logical_hours(&world, &job), [-5, -4, -3, -2, -1]);
    let over = standing(&world, &job, 0);
    assert_eq!((over.tally.made, over.tally.succeeded, over.ended_at.is_some()), (5, 5, true));
    assert_eq!(world.ledger(&job, "every").len(), 5);
    // Another of the same range finds that all have run.
    begin(&mut world, &job, hours(2));
    let again = standing(&world, &job, 1);
    assert_eq!((again.tally.made, again.tally.left, again.ended_at.is_some()), (0, 5, true));
    assert_eq!(world.runs_of(&job).len(), 5);
}

#[test]
fn the_newest_may_go_first() {
    let (mut world, job) = hourly();
    let newest = BackfillOrder::Newest;
    begin(&mut world, &job, Backfill { order: newest, max_active: NonZeroU32::MIN, ..hours(1) });
    let mut order = Vec::new();
    while let Some(run) = world.runs_of(&job).into_iter().find(|run| !run.status.state.is_terminal()) {
        order.push(hour(&run));
        world.finish(run.head.id);
        world.pass(millis(1));
    }
    assert_eq!(order, [-1, -2, -3, -4, -5]);
}

#[test]
fn what_failed_runs_again_and_what_succeeded_when_all_is_said() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    let failed = world.runs_of(&job)[0].head.id;
    world.end(failed, Cause::Exit { code: 1 });
    work_off(&mut world, &job, None);
    assert_eq!(world.state(failed), RunState::FinalFailed);
    assert_eq!(standing(&world, &job, 0).tally.failed, 1);
    begin(&mut world, &job, Backfill { reprocess: Reprocess::Failed, ..hours(2) });
    work_off(&mut world, &job, None);
    let mended = standing(&world, &job, 1).tally;
    assert_eq!((mended.made, mended.left, mended.succeeded), (1, 4, 1));
    begin(&mut world, &job, Backfill { reprocess: Reprocess::Failed, ..hours(3) });
    assert_eq!(standing(&world, &job, 2).tally.left, 5, "the last run of the moment counts");
    begin(&mut world, &job, Backfill { reprocess: Reprocess::All, ..hours(4) });
    work_off(&mut world, &job, None);
    assert_eq!(standing(&world, &job, 3).tally.made, 5);
    assert_eq!(world.runs_of(&job).len(), 11);
}

#[test]
fn it_goes_on_with_the_next_owner_and_doubles_nothing() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    let before = world.trigger(&job, "every");
    let first = world.runs_of(&job)[0].head.id;
    world.finish(first);
    world.pass(millis(1));
    assert_eq!(world.runs_of(&job).len(), 3);
    // As if the row had not been written with the run that followed.
    let revision = world.trigger(&job, "every").revision + 1;
    world.put_row(&mainspring_engine::TriggerRow { revision, ..before });
    world.take_over();
    world.connect_all();
    world.pass(millis(1));
    assert_eq!(work_off(&mut world, &job, None), 2);
    assert_eq!(logical_hours(&world, &job), [-5, -4, -3, -2, -1]);
    let over = standing(&world, &job, 0);
    assert_eq!((over.tally.made, over.tally.succeeded, over.active.len()), (5, 5, 0));
    assert!(over.ended_at.is_some());
}

#[test]
fn its_runs_wait_where_the_job_skips_and_do_not_count_as_firings() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["every: 1h, offset: 20s, count: 2, pause_after: 1"], |spec| {
        let mut one = mainspring_model::spec::Concurrency::new(NonZeroU32::MIN);
        one.overlap = mainspring_model::spec::Overlap::Skip;
        spec.concurrency = Some(one);
        spec.retry.max = 0;
    });
    begin(&mut world, &job, hours(1));
    let states: Vec<_> = world.runs_of(&job).iter().map(|run| run.status.state).collect();
    assert_eq!(states, [RunState::Running, RunState::Waiting]);
    work_off(&mut world, &job, Some(Cause::Exit { code: 1 }));
    let row = world.trigger(&job, "every").state;
    assert_eq!((row.fired, row.failures, &row.pause), (0, 0, &None));
    assert_eq!(row.backfills()[0].tally.failed, 5);
}

#[test]
fn a_stopped_one_makes_no_more() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    let stop = TriggerCommand::StopBackfill { id: hours(1).id, by: "bob".into() };
    world.command_trigger(&job, "every", stop);
    assert_eq!(standing(&world, &job, 0).ended_at, None, "two are active");
    work_off(&mut world, &job, None);
    let over = standing(&world, &job, 0);
    assert_eq!((over.tally.made, over.stopped_by.as_deref()), (2, Some("bob")));
    assert!(over.ended_at.is_some());
}

#[test]
fn a_trigger_without_a_clock_has_nothing_to_make_up_for() {
    let mut world = World::new();
    let job = world.trigger_job(&["delay: 1h"]);
    world.messages();
    world.command_trigger(&job, "delay", TriggerCommand::Backfill(Box::new(hours(1))));
    let refused = world.messages().into_iter().any(|message| {
        matches!(message, mainspring_engine::Message::Reply { answer: Answer::Refused { .. }, .. })
    });
    assert!(refused);
}

#[test]
fn a_paused_trigger_is_backfilled_and_nothing_spins() {
    let (mut world, job) = hourly();
    let pause = TriggerCommand::Pause(Some(paused(world.now)));
    world.command_trigger(&job, "every", pause);
    // A moment passes while it is paused.
    world.pass(secs(3_600));
    begin(&mut world, &job, hours(1));
    assert_eq!(world.runs_of(&job).len(), 2);
    work_off(&mut world, &job, None);
    assert_eq!(standing(&world, &job, 0).tally.succeeded, 5);
    let revision = world.trigger(&job, "every").revision;
    world.pass(secs(60));
    assert_eq!(world.trigger(&job, "every").revision, revision, "it rests");
}

#[test]
fn one_whose_runs_all_ended_between_owners_goes_on() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    let before = world.trigger(&job, "every");
    for run in world.runs_of(&job) {
        world.finish(run.head.id);
    }
    // As if nothing had been written since: both runs have ended, and the row says that they have not.
    let revision = world.trigger(&job, "every").revision + 1;
    world.put_row(&mainspring_engine::TriggerRow { revision, ..before });
    world.take_over();
    world.connect_all();
    world.pass(millis(1));
    work_off(&mut world, &job, None);
    let over = standing(&world, &job, 0);
    assert_eq!((over.tally.made, over.tally.succeeded), (5, 5));
}

#[test]
fn the_same_id_with_another_wish_is_refused_and_the_future_is_not_backfilled() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, Backfill { until: at(0) + secs(86_400), ..hours(1) });
    work_off(&mut world, &job, None);
    assert_eq!(standing(&world, &job, 0).tally.made, 5, "what is ahead fires by itself");
    world.messages();
    let range = Backfill { asked_until: Some(at(0)), ..hours(1) };
    for wish in [Backfill { max_active: NonZeroU32::MIN, ..hours(1) }, range] {
        begin(&mut world, &job, wish);
        let refused = world.messages().into_iter().any(|message| {
            matches!(message, mainspring_engine::Message::Reply { answer: Answer::Refused { .. }, .. })
        });
        assert!(refused);
    }
}

#[test]
fn runs_that_the_ledger_has_forgotten_are_not_made_again() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    work_off(&mut world, &job, None);
    world.forget_ledger(&job, "every");
    begin(&mut world, &job, Backfill { reprocess: Reprocess::Failed, ..hours(2) });
    let again = standing(&world, &job, 1).tally;
    assert_eq!((again.made, again.left), (0, 5));
    assert_eq!(world.runs_of(&job).len(), 5);
}

#[test]
fn whoever_asks_is_answered_when_the_row_is_written() {
    let (mut world, job) = hourly();
    world.commits = false;
    world.command_trigger(&job, "every", TriggerCommand::Backfill(Box::new(hours(1))));
    // Somebody puts the job before the row is written.
    world.write_triggers(&job);
    world.messages();
    assert!(world.commit());
    let answered = |world: &mut World| {
        world.messages().iter().any(|message| matches!(message, mainspring_engine::Message::Reply { .. }))
    };
    assert!(!answered(&mut world), "the row was not written");
    world.commits = true;
    world.settle();
    assert!(answered(&mut world));
    assert_eq!(world.trigger(&job, "every").state.backfills().len(), 1);
}

#[test]
fn a_trigger_that_becomes_another_makes_no_more_of_it() {
    let (mut world, job) = hourly();
    begin(&mut world, &job, hours(1));
    let job = world.change_triggers(&job, &["every: 1s"]);
    work_off(&mut world, &job, None);
    let over = standing(&world, &job, 0);
    assert_eq!(over.tally.made, 2, "its moments would be others");
    assert_eq!(over.stopped_by.as_deref(), Some("a change of the trigger"));
    assert!(over.ended_at.is_some());
}

#[test]
fn many_that_have_run_are_left_alone_at_once() {
    let (mut world, job) = hourly();
    let wish = |number: u128| {
        let id = BackfillId::new(at(0), number);
        Backfill::new(id, at(0) - secs(60 * 3_600), at(0), "ann", at(0))
    };
    begin(&mut world, &job, Backfill { max_active: NonZeroU32::new(50).unwrap(), ..wish(1) });
    work_off(&mut world, &job, None);
    let before = world.trigger(&job, "every").revision;
    begin(&mut world, &job, wish(2));
    world.pass(secs(1));
    let again = standing(&world, &job, 1);
    assert_eq!((again.tally.left, again.ended_at.is_some()), (60, true));
    assert!(world.trigger(&job, "every").revision - before <= 6, "with few writes of the row");
}
