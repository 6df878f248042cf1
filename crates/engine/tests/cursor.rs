//! The cursor of a trigger is moved: what was told stays told once, and nothing happens twice.

use mainspring_engine::{Answer, Message, TriggerCommand, TriggerRow};

use crate::world::{World, at, paused, secs};

fn to(second: i64) -> TriggerCommand {
    TriggerCommand::Cursor { at: at(second), by: "ann".into() }
}

#[test]
fn what_is_jumped_over_is_one_line() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(70));
    world.command_trigger(&job, "every", to(250));
    world.pass(secs(1));
    let row = world.trigger(&job, "every").state;
    assert_eq!((row.cursor, row.next), (at(250), Some(at(300))), "the answer shows what comes");
    world.pass(secs(250));
    assert_eq!(
        world.ledger(&job, "every"),
        ["60 fired", "120 missed 3 through 240: the cursor was moved by ann", "300 fired"]
    );
}

#[test]
fn a_jump_that_is_taken_back_leaves_nothing() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(70));
    world.command_trigger(&job, "every", to(250));
    world.command_trigger(&job, "every", to(60));
    world.take_over();
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
}

#[test]
fn what_had_fired_keeps_its_line_and_makes_no_second_run() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(190));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired", "180 fired"]);
    world.command_trigger(&job, "every", to(0));
    world.pass(secs(1));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired", "180 fired"]);
    assert_eq!(world.runs_of(&job).len(), 3);
    let row = world.trigger(&job, "every").state;
    assert_eq!((row.cursor, row.next, row.fired), (at(180), Some(at(240)), 3));
}

#[test]
fn what_was_missed_is_told_anew_between_what_had_fired() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s, misfire: {policy: all, max: 3}"]);
    world.pass(secs(130));
    world.sleep(secs(600));
    world.take_over();
    world.connect(*world.agents.keys().next().unwrap());
    world.pass(secs(1));
    let told = ["60 fired", "120 fired", "180 missed 6 through 480: it passed", "540 fired", "600 fired"];
    assert_eq!(world.ledger(&job, "every")[..5], told);
    // Of the six that were missed the cursor goes back over five, and all but one of them are run.
    let job = world.change_triggers(&job, &["every: 60s, offset: 20s, misfire: {policy: all, max: 7}"]);
    world.command_trigger(&job, "every", to(200));
    world.pass(secs(1));
    assert_eq!(
        world.ledger(&job, "every"),
        [
            "60 fired",
            "120 fired",
            "180 missed: it passed",
            "240 missed: it passed",
            "300 fired",
            "360 fired",
            "420 fired",
            "480 fired",
            "540 fired",
            "600 fired",
            "660 fired",
            "720 fired"
        ]
    );
    assert_eq!(world.runs_of(&job).len(), 10);
}

#[test]
fn a_new_owner_that_finds_a_row_behind_the_ledger_tells_nothing_twice() {
    let mut world = World::new();
    let job = world.trigger_job(&["every: 60s, offset: 20s, misfire: skip"]);
    // Somebody puts the job, the owner does not know, and dies with a row that was refused.
    let job = world.change_job(&job, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.pass(secs(59));
    world.write_triggers(&job);
    world.commits = false;
    world.pass(secs(2));
    while world.commit() {}
    assert_eq!(world.ledger(&job, "every"), ["60 fired"]);
    world.sleep(secs(600));
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    let ledger = world.ledger(&job, "every");
    assert_eq!(ledger[..2], ["60 fired", "120 missed 9 through 600: it passed"]);
    assert_eq!(world.trigger(&job, "every").state.fired, world.runs_of(&job).len() as u64);
}

/// So many triggers were not looked at for two hours: whatever a batch has of one of them, it has all.
fn check_batches(triggers: usize, misfire: &str) {
    let mut world = World::new();
    let every = format!("every: 60s, offset: 50s, misfire: {misfire}");
    let jobs: Vec<_> = (0..triggers).map(|_| world.trigger_job(&[&every])).collect();
    world.sleep(secs(60 * 120));
    world.take_over();
    world.commits = false;
    world.pass(secs(1));
    let mut batches = 0;
    while world.commit() {
        batches += 1;
        let mut runs = std::collections::BTreeMap::new();
        for run in world.store.all_runs() {
            *runs.entry(run.head.job).or_insert(0) += 1;
        }
        for job in &jobs {
            let made = runs.get(&job.id).copied().unwrap_or(0);
            assert_eq!(made, world.trigger(job, "every").state.fired, "in batch {batches}");
        }
    }
    assert!(batches > 1, "there are too many for one");
    for job in &jobs {
        let fired = world.ledger(job, "every").iter().filter(|line| line.contains("fired")).count() as u64;
        assert!(fired > 0 && fired == world.trigger(job, "every").state.fired);
    }
}

#[test]
fn what_is_made_at_one_look_is_written_with_its_lines_and_its_row() {
    check_batches(12, "{policy: all, window: 2d, max: 150}");
    check_batches(1_300, "{policy: all, max: 1}");
}

#[test]
fn a_move_that_a_put_overtakes_is_done_and_then_answered() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    // It is done when the trigger is looked at; meanwhile that becomes another.
    world.command_trigger(&job, "every", to(6_000));
    world.messages();
    world.change_triggers(&job, &["every: 120s, offset: 20s"]);
    world.pass(secs(5));
    assert_eq!(world.trigger(&job, "every").state.cursor, at(6_000));
    let is_reply = |message: &Message| matches!(message, Message::Reply { .. });
    assert_eq!(
        world.messages().iter().filter(|message| is_reply(message)).count(),
        2,
        "of the put, and of the move"
    );
}

#[test]
fn a_move_over_very_many_lines_is_one_small_write() {
    let mut world = World::new();
    // Nobody takes its run: each second after the first has a line of its own.
    let job = world.trigger_job(&["every: 1s"]);
    world.pass(secs(12_000));
    assert_eq!(world.trigger(&job, "every").state.cursor, at(12_000));
    let end = world.trigger(&job, "every").state.cursor;
    world.command_trigger(&job, "every", to(0));
    world.pass(secs(5));
    let row = world.trigger(&job, "every").state;
    assert!(row.cursor > end && row.moved.is_none(), "it goes on: {row:?}");
    assert_eq!(world.runs_of(&job).len(), 1, "which still waits");
}

#[test]
fn a_move_that_was_done_and_could_not_be_written_is_done_again() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.messages();
    world.commits = false;
    world.command_trigger(&job, "every", to(6_000));
    world.pass(secs(1));
    // It has another row by the time that this one arrives.
    let job = world.change_spec(&job, &["every: 120s, offset: 20s"]);
    world.write_triggers(&job);
    world.commits = true;
    world.pass(secs(40));
    assert_eq!(world.trigger(&job, "every").state.cursor, at(6_000));
    let is_reply = |message: &Message| matches!(message, Message::Reply { .. });
    assert_eq!(world.messages().iter().filter(|message| is_reply(message)).count(), 1);
}

#[test]
fn what_the_owner_does_not_know_yet_is_read_before_anybody_is_refused() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    // Somebody who cannot tell the owner gives the job a trigger, and somebody else wants something of it.
    let job = world.change_spec(&job, &["every: 60s, offset: 20s"]);
    world.write_triggers(&job);
    world.messages();
    world.command_trigger(&job, "every", to(6_000));
    world.pass(secs(1));
    assert_eq!(world.trigger(&job, "every").state.cursor, at(6_000));
    world.command_trigger(&job, "other", to(6_000));
    let refused =
        |message: &Message| matches!(message, Message::Reply { answer: Answer::Refused { .. }, .. });
    assert_eq!(world.messages().iter().filter(|message| refused(message)).count(), 1);
}

#[test]
fn a_trigger_that_was_removed_while_it_was_read_again_does_not_come_back() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(1));
    // Somebody writes its row, so that the owner's is refused and it is read again.
    let row = world.trigger(&job, "every");
    world.put_row(&TriggerRow { revision: row.revision + 1, ..row });
    world.late = Some(Vec::new());
    let pause = |world: &World| TriggerCommand::Pause(Some(paused(world.now)));
    let first = pause(&world);
    world.command_trigger(&job, "every", first);
    // Meanwhile the trigger goes, and something else is wanted of it.
    let without = world.change_spec(&job, &[]);
    world.write_triggers(&without);
    let second = pause(&world);
    world.command_trigger(&job, "every", second);
    assert_eq!(world.triggers(job.id), []);
    world.answer_late();
    world.pass(secs(300));
    assert_eq!(world.triggers(job.id), []);
    assert!(world.runs_of(&job).is_empty());
}
