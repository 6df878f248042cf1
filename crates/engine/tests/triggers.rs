//! Triggers: each planned moment becomes one run or one line that says why not, whatever happens in between.

use mainspring_engine::TriggerCommand;
use mainspring_model::{Cause, Fired, RunState};

use crate::world::{World, at, paused, secs};

#[test]
fn each_moment_makes_one_run_and_one_line() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(150));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    let runs = world.runs_of(&job);
    assert_eq!(runs.len(), 2);
    assert_eq!(
        runs[0].head.fired,
        Some(Box::new(Fired { trigger: "every".into(), planned: at(60), backfill: None, depth: 0 }))
    );
    assert_eq!(runs[0].head.id.made_at(), at(60));
    assert_eq!(runs[0].head.created_at, at(60), "neither early nor late");
    let row = world.trigger(&job, "every").state;
    assert_eq!((row.cursor, row.next, row.fired), (at(120), Some(at(180)), 2));
}

#[test]
fn a_new_owner_goes_on_where_the_last_one_was() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(70));
    world.take_over();
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn an_owner_that_dies_before_the_row_is_written_doubles_nothing() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    let before = world.trigger(&job, "every");
    world.pass(secs(70));
    // As if the row had not been written with the run: the next owner plans the same moment again.
    let behind =
        mainspring_engine::TriggerRow { revision: world.trigger(&job, "every").revision + 1, ..before };
    world.put_row(&behind);
    world.take_over();
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn what_passed_while_nobody_was_there_goes_by_the_policy() {
    let mut world = World::new();
    world.node("a");
    let once = world.trigger_job(&["every: 60s, offset: 20s"]);
    let all = world.trigger_job(&["every: 60s, offset: 20s, misfire: {policy: all, max: 2}"]);
    let none = world.trigger_job(&["every: 60s, offset: 20s, misfire: skip"]);
    world.sleep(secs(600));
    world.take_over();
    world.pass(secs(1));
    // No node is back yet, so what is in time and waits is one run, unless each moment counts.
    let waits = "600 merged: the run before it has not started";
    assert_eq!(world.ledger(&once, "every"), ["60 merged 8 through 480: it passed", "540 fired", waits]);
    assert_eq!(
        world.ledger(&all, "every"),
        ["60 missed 6 through 360: it passed", "420 fired", "480 fired", "540 fired", "600 fired"]
    );
    assert_eq!(world.ledger(&none, "every"), ["60 missed 8 through 480: it passed", "540 fired", waits]);
}

#[test]
fn a_pause_holds_moments_back_and_a_resume_goes_by_the_policy() {
    let mut world = World::new();
    world.node("a");
    let (job, other) =
        (world.trigger_job(&["every: 60s, offset: 20s"]), world.trigger_job(&["every: 60s, offset: 20s"]));
    let pause = paused(world.now);
    world.command_trigger(&job, "every", TriggerCommand::Pause(Some(pause.clone())));
    world.pause_job(&other, Some(pause));
    world.pass(secs(200));
    assert_eq!((world.ledger(&job, "every"), world.ledger(&other, "every")), (vec![], vec![]));
    world.command_trigger(&job, "every", TriggerCommand::Pause(None));
    world.pause_job(&other, None);
    world.pass(secs(1));
    for job in [job, other] {
        assert_eq!(world.ledger(&job, "every"), ["60 merged 2 through 120: it passed", "180 fired"]);
    }
}

#[test]
fn a_paused_cell_fires_nothing() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pause_cell(Some(paused(world.now)));
    world.pass(secs(70));
    assert_eq!(world.runs_of(&job).len(), 0);
    world.pause_cell(None);
    world.pass(secs(1));
    assert_eq!(world.ledger(&job, "every"), ["60 fired"]);
}

#[test]
fn without_a_node_one_run_waits() {
    let mut world = World::new();
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(200));
    let merged = "merged: the run before it has not started";
    let expected = ["60 fired".to_owned(), format!("120 {merged}"), format!("180 {merged}")];
    assert_eq!(world.ledger(&job, "every"), expected);
    world.node("a");
    world.pass(secs(50));
    assert_eq!(world.ledger(&job, "every").last().unwrap(), "240 fired");
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn overlap_is_told_in_the_ledger() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["every: 60s, offset: 20s"], |spec| {
        let mut limit = mainspring_model::spec::Concurrency::new(1.try_into().unwrap());
        limit.overlap = mainspring_model::spec::Overlap::Skip;
        spec.concurrency = Some(limit);
    });
    world.pass(secs(130));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 skipped: overlap"]);
    assert_eq!(world.runs_of(&job)[1].status.state, RunState::Skipped);
}

#[test]
fn the_cursor_is_a_time_machine() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s, misfire: {policy: all, max: 9}"]);
    world.pass(secs(130));
    world.command_trigger(&job, "every", TriggerCommand::Cursor { at: at(300), by: "ann".into() });
    world.pass(secs(200));
    let jumped = "180 missed 3 through 300: the cursor was moved by ann";
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired", jumped]);
    world.command_trigger(&job, "every", TriggerCommand::Cursor { at: at(0), by: "ann".into() });
    world.pass(secs(1));
    let all = ["60 fired", "120 fired", "180 fired", "240 fired", "300 fired"];
    assert_eq!(world.ledger(&job, "every"), all);
    assert_eq!(world.runs_of(&job).len(), 5, "what had fired did not fire again");
}

#[test]
fn firing_by_hand_moves_nothing() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    world.pass(secs(30));
    world.command_trigger(&job, "every", TriggerCommand::Fire { by: "ann".into() });
    world.pass(secs(40));
    assert_eq!(world.ledger(&job, "every"), ["30 fired: fired by ann", "60 fired"]);
}

#[test]
fn who_fired_is_told_although_the_run_was_left_out() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["every: 60s, offset: 20s"], |spec| {
        let mut limit = mainspring_model::spec::Concurrency::new(1.try_into().unwrap());
        limit.overlap = mainspring_model::spec::Overlap::Skip;
        spec.concurrency = Some(limit);
    });
    world.pass(secs(70));
    world.command_trigger(&job, "every", TriggerCommand::Fire { by: "ann".into() });
    world.pass(secs(1));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "70 skipped: fired by ann: overlap"]);
}

#[test]
fn a_count_is_the_end_of_it() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s, count: 2"]);
    world.pass(secs(300));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    assert_eq!(world.trigger(&job, "every").state.next, None);
}

#[test]
fn a_delay_counts_from_the_end() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["delay: 60s"]);
    world.pass(secs(1));
    world.pass(secs(100));
    let first = world.runs_of(&job);
    assert_eq!(first.len(), 1);
    world.finish(first[0].head.id);
    world.pass(secs(59));
    assert_eq!(world.runs_of(&job).len(), 1);
    world.pass(secs(2));
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn a_delay_survives_an_owner_that_dies_with_the_end() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["delay: 60s"]);
    world.pass(secs(1));
    let before = world.trigger(&job, "delay");
    assert!(before.state.awaits_end);
    let run = world.runs_of(&job)[0].head.id;
    world.finish(run);
    let behind =
        mainspring_engine::TriggerRow { revision: world.trigger(&job, "delay").revision + 1, ..before };
    world.put_row(&behind);
    world.take_over();
    world.connect(*world.agents.keys().next().unwrap());
    world.pass(secs(61));
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn the_end_of_another_job_fires_once() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let name = first.spec.name.as_str().to_owned();
    let good = world.trigger_job(&[&format!("after: {name}")]);
    let bad = world.trigger_job(&[&format!("after: {{job: {name}, on: failure}}")]);
    let run = world.submit(&first);
    world.finish(run);
    world.pass(secs(1));
    assert_eq!((world.runs_of(&good).len(), world.runs_of(&bad).len()), (1, 0));
    let run = world.submit_with(&first, |_| {});
    for _ in 0..4 {
        world.end(run, Cause::Exit { code: 1 });
    }
    world.pass(secs(1));
    assert_eq!((world.runs_of(&good).len(), world.runs_of(&bad).len()), (1, 1));
    world.take_over();
    world.pass(secs(1));
    assert_eq!((world.runs_of(&good).len(), world.runs_of(&bad).len()), (1, 1));
}

#[test]
fn what_keeps_failing_pauses_itself() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["every: 60s, offset: 20s, pause_after: 2"], |spec| spec.retry.max = 0);
    for second in [60, 120] {
        world.pass(secs(60));
        let runs = world.runs_of(&job);
        assert_eq!(runs.last().unwrap().head.created_at, at(second));
        world.end(runs.last().unwrap().head.id, Cause::Exit { code: 1 });
    }
    world.pass(secs(100));
    assert_eq!(world.runs_of(&job).len(), 2);
    let row = world.trigger(&job, "every").state;
    assert_eq!(&*row.pause.unwrap().note, "paused itself: its last 2 runs failed for good");
    world.command_trigger(&job, "every", TriggerCommand::Pause(None));
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every").last().unwrap(), "240 fired");
}

#[test]
fn a_new_version_keeps_what_says_the_same() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s", "every: 90s, offset: 80s, name: other"]);
    world.pass(secs(70));
    let job = world.change_triggers(
        &job,
        &["every: 60s, offset: 20s, misfire: skip", "every: 40s, name: other", "every: 50s, name: third"],
    );
    world.pass(secs(55));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    assert_eq!(world.ledger(&job, "other"), ["80 fired", "120 fired"]);
    assert_eq!(world.ledger(&job, "third"), ["100 fired"]);
    assert_eq!(world.runs_of(&job).last().unwrap().head.job_version, 2);
    let job = world.change_triggers(&job, &["every: 60s, offset: 20s, misfire: skip"]);
    world.pass(secs(100));
    assert_eq!(world.triggers(job.id).len(), 1);
    assert_eq!(world.ledger(&job, "third"), ["100 fired"]);
}

#[test]
fn changes_of_those_who_cannot_tell_are_heard_of() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    let job = world.change_job(&job, |spec| spec.triggers[0].name = "renamed".parse().unwrap());
    world.write_triggers(&job);
    world.pass(secs(130));
    assert_eq!(world.ledger(&job, "every"), Vec::<String>::new());
    assert_eq!(world.ledger(&job, "renamed"), ["60 fired", "120 fired"]);
}

#[test]
fn a_change_that_meets_a_firing_is_read_again() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    let job = world.change_job(&job, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.pass(secs(59));
    world.write_triggers(&job);
    // The owner does not know, fires the old version, and its row is refused.
    world.pass(secs(2));
    assert_eq!(world.ledger(&job, "every"), ["60 fired"]);
    world.pass(secs(60));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    let versions: Vec<u32> = world.runs_of(&job).iter().map(|run| run.head.job_version).collect();
    assert_eq!(versions, [1, 2]);
}

#[test]
fn parameters_follow_the_planned_moment() {
    let mut world = World::new();
    world.node("a");
    let triggers = ["every: 86400s, parameters: {day: '{{ logical_time | date }}'}"];
    let job = world.trigger_job_with(&[], |_| {});
    let job = world.change_job(&job, |spec| {
        let yaml =
            format!("name: x\nscript: 'true'\nparameters: {{day: string}}\ntriggers: [{{{}}}]", triggers[0]);
        let read = mainspring_model::spec::parse(&yaml, mainspring_model::spec::Format::Yaml).unwrap();
        (spec.parameters, spec.triggers) = (read.parameters, read.triggers);
    });
    world.write_triggers(&job);
    world.pass(secs(6_401));
    assert_eq!(&*world.runs_of(&job)[0].head.params, br#"{"day":"2023-11-15"}"#);
}

#[test]
fn many_at_once_are_all_fired_once() {
    let mut world = World::new();
    let jobs: Vec<_> = (0..1_200).map(|_| world.trigger_job(&["every: 60s, offset: 20s"])).collect();
    world.pass(secs(61));
    for job in &jobs {
        assert_eq!(world.ledger(job, "every"), ["60 fired"]);
    }
    assert_eq!(world.store.all_runs().len(), 1_200);
}

#[test]
fn a_put_in_the_same_moment_loses_nothing_that_was_asked() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    let job = world.change_job(&job, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.pass(secs(10));
    world.write_triggers(&job);
    // The owner does not know of the new version, and its row is refused once.
    let pause = paused(world.now);
    world.command_trigger(&job, "every", TriggerCommand::Pause(Some(pause)));
    world.pass(secs(100));
    assert!(world.trigger(&job, "every").state.pause.is_some());
    assert_eq!(world.trigger(&job, "every").state.version, 2);
    assert_eq!(world.ledger(&job, "every"), Vec::<String>::new());
}

#[test]
fn a_put_while_its_run_waits_does_not_hold_it_for_ever() {
    let mut world = World::new();
    let job = world.trigger_job(&["every: 60s, offset: 20s"]);
    let job = world.change_job(&job, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.pass(secs(59));
    world.write_triggers(&job);
    world.pass(secs(2));
    world.node("a");
    world.pass(secs(120));
    let ledger = world.ledger(&job, "every");
    assert_eq!(ledger, ["60 fired", "120 fired", "180 fired"]);
}

#[test]
fn those_who_fire_together_each_get_an_answer() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 3600s"]);
    world.commits = false;
    for _ in 0..3 {
        world.command_trigger(&job, "every", TriggerCommand::Fire { by: "ann".into() });
    }
    world.commits = true;
    world.pass(secs(1));
    assert_eq!(world.runs_of(&job).len(), 3);
    assert_eq!(world.ledger(&job, "every").len(), 3);
}

#[test]
fn a_paused_follower_remembers_only_so_many_ends() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let name = first.spec.name.as_str().to_owned();
    let follower = world.trigger_job(&[&format!("after: {name}")]);
    world.command_trigger(&follower, "after", TriggerCommand::Pause(Some(paused(world.now))));
    for _ in 0..1_005 {
        let run = world.submit(&first);
        world.finish(run);
    }
    assert_eq!(world.ends(&follower, "after").len(), 1_000);
    assert_eq!(world.ledger(&follower, "after").len(), 5, "what is forgotten is told");
}

#[test]
fn a_name_that_is_used_again_is_another_trigger() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s", "every: 90s, offset: 80s, name: other"]);
    world.pass(secs(200));
    let without = world.change_job(&job, |spec| spec.triggers.truncate(1));
    world.write_triggers(&without);
    let job = world.change_job(&without, |spec| {
        spec.triggers.push(mainspring_model::spec::Trigger {
            name: "other".parse().unwrap(),
            ..spec.triggers[0].clone()
        });
    });
    world.write_triggers(&job);
    world.pass(secs(120));
    let seconds: Vec<String> =
        world.ledger(&job, "other").iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(seconds, ["90", "180", "240", "300"]);
}

#[test]
fn a_cursor_before_everything_costs_no_more_than_any_other() {
    let mut world = World::new();
    world.node("a");
    let job =
        world.trigger_job(&["cron: '* * * * * * 1970-2008', misfire: {policy: all, max: 3, window: 3650d}"]);
    let past = mainspring_model::Timestamp::from_micros(-1_000_000);
    world.command_trigger(&job, "cron", TriggerCommand::Cursor { at: past, by: "ann".into() });
    world.pass(secs(1));
    assert_eq!(world.ledger(&job, "cron").len(), 1);
    assert_eq!(world.trigger(&job, "cron").state.next, None);
}
