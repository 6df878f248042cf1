//! Moments that wait for other jobs: they fire once, as soon as those have succeeded, and are missed when patience ends.

use mainspring_engine::{Backfill, TriggerCommand};
use mainspring_model::{BackfillId, Cause, RunState};

use crate::world::{Job, World, at, millis, secs};

/// A world with a node, a job that is needed, and one that needs it.
fn needing(rest: &str) -> (World, Job, Job) {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let needy = world.trigger_job(&[&format!("{rest}, needs: {}", first.spec.name.as_str())]);
    (world, first, needy)
}

fn succeed(world: &mut World, job: &Job) {
    let run = world.submit(job);
    world.finish(run);
    assert_eq!(world.state(run), RunState::Success);
    world.pass(millis(1));
}

fn waits_for(world: &World, job: &Job, name: &str) -> Option<String> {
    world.trigger(job, name).state.waits_for().map(|job| job.to_string())
}

#[test]
fn a_moment_fires_when_the_job_succeeds() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s");
    let name = first.spec.name.to_string();
    world.pass_until(at(500));
    assert_eq!(waits_for(&world, &needy, "every"), Some(name));
    assert_eq!(world.trigger(&needy, "every").state.next, Some(at(400)), "it is still planned");
    let failed = world.submit(&first);
    world.end(failed, Cause::Exit { code: 1 });
    world.pass_until(at(600));
    assert!(world.runs_of(&needy).is_empty(), "a failure is no success");
    succeed(&mut world, &first);
    let runs = world.runs_of(&needy);
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].head.fired.as_ref().map(|fired| fired.planned), Some(at(400)));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    assert_eq!(waits_for(&world, &needy, "every"), None);
    // Its success of today is enough for what comes within a day.
    world.pass_until(at(8_000));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired", "4000 fired", "7600 fired"]);
}

#[test]
fn a_success_counts_for_so_long() {
    let (mut world, first, _) = needing("every: 1h, offset: 1200s");
    let name = first.spec.name.as_str();
    let needs = format!("every: 1h, offset: 1200s, needs: {{job: {name}, within: 10m}}");
    let needy = world.trigger_job(&[&needs]);
    succeed(&mut world, &first);
    world.pass_until(at(401));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    world.pass_until(at(4_001));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"], "that was an hour ago");
    succeed(&mut world, &first);
    assert_eq!(world.ledger(&needy, "every"), ["400 fired", "4000 fired"]);
}

#[test]
fn what_nobody_met_in_time_is_missed() {
    let (mut world, first, needy) = needing("every: 6h, offset: 15600s");
    let name = first.spec.name.to_string();
    let moment = 400;
    world.pass_until(at(moment + 3_599));
    assert!(world.ledger(&needy, "every").is_empty());
    world.pass_until(at(moment + 3_601));
    let missed = [format!("{moment} missed: `{name}` had not succeeded in time")];
    assert_eq!(world.ledger(&needy, "every"), missed);
    assert_eq!(waits_for(&world, &needy, "every"), None, "nothing is due any more");
    succeed(&mut world, &first);
    assert_eq!(world.ledger(&needy, "every"), missed, "it passed");
}

#[test]
fn patience_follows_the_misfire_policy() {
    for (policy, expected) in [
        ("skip", ["400 missed", "4000 missed", "7600 fired"].as_slice()),
        ("{policy: once, window: 2h}", &["400 missed", "4000 merged", "7600 fired"]),
        ("{policy: all, window: 2h}", &["400 missed", "4000 fired", "7600 fired"]),
    ] {
        let (mut world, first, needy) = needing(&format!("every: 1h, offset: 1200s, misfire: {policy}"));
        world.pass_until(at(7_650));
        succeed(&mut world, &first);
        let said = world.ledger(&needy, "every");
        let outcomes: Vec<&str> = said.iter().filter_map(|line| line.split(": ").next()).collect();
        assert_eq!(outcomes, expected, "{policy}");
        world.pass(secs(10));
        assert_eq!(world.ledger(&needy, "every"), said, "{policy}: nothing is told twice");
    }
}

#[test]
fn all_needs_have_to_be_met() {
    let mut world = World::new();
    world.node("a");
    let (one, other) = (world.job(), world.job());
    let names = [one.spec.name.to_string(), other.spec.name.to_string()];
    let needy =
        world.trigger_job(&[&format!("every: 1h, offset: 1200s, needs: [{}, {}]", names[0], names[1])]);
    world.pass_until(at(410));
    assert_eq!(waits_for(&world, &needy, "every"), Some(names[0].clone()));
    succeed(&mut world, &one);
    assert_eq!(waits_for(&world, &needy, "every"), Some(names[1].clone()));
    succeed(&mut world, &one);
    assert!(world.ledger(&needy, "every").is_empty());
    succeed(&mut world, &other);
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
}

#[test]
fn a_success_from_before_counts_whoever_owns_the_cell_and_whenever_the_trigger_was_made() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s");
    succeed(&mut world, &first);
    let later =
        world.trigger_job(&[&format!("every: 1h, offset: 1200s, needs: {}", first.spec.name.as_str())]);
    world.take_over();
    world.connect_all();
    world.pass_until(at(401));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    assert_eq!(world.ledger(&later, "every"), ["400 fired"]);
}

#[test]
fn a_success_before_the_owner_knows_of_the_trigger_counts() {
    let mut world = World::new();
    world.node("a");
    let (first, needy) = (world.job(), world.job());
    let needs = format!("every: 1h, offset: 1200s, needs: {}", first.spec.name.as_str());
    let needy = world.change_spec(&needy, &[&needs]);
    world.write_triggers(&needy);
    succeed(&mut world, &first);
    world.pass_until(at(401));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
}

#[test]
fn very_many_may_need_one_job() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let needs = format!("at: 2023-11-14T22:20:00Z, needs: {}", first.spec.name.as_str());
    let needy: Vec<Job> = (0..300).map(|_| world.trigger_job(&[&needs])).collect();
    world.pass_until(at(410));
    let run = world.submit(&first);
    world.commits = false;
    world.finish(run);
    let batch = world.cell.cut().expect("the end");
    assert!(batch.transaction.writes.len() < 10, "nothing is written for each of them");
    world.commits = true;
    world.write(&batch);
    world.pass(millis(1));
    assert!(needy.iter().all(|job| world.ledger(job, "at") == ["400 fired"]));
}

#[test]
fn runs_of_backfills_are_about_the_past() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s");
    let first = world.change_triggers(&first, &["every: 1h, offset: 20s"]);
    world.pass_until(at(410));
    let id = BackfillId::new(at(0), 1);
    let backfill = Backfill::new(id, at(0) - secs(3_600), at(0), "ann", at(0));
    world.command_trigger(&first, "every", TriggerCommand::Backfill(Box::new(backfill)));
    world.pass(millis(1));
    let run = world.runs_of(&first)[0].head.id;
    world.finish(run);
    world.pass(millis(1));
    assert_eq!(world.state(run), RunState::Success);
    assert!(world.ledger(&needy, "every").is_empty());
}

#[test]
fn a_moment_that_waits_is_met_under_a_new_owner() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s");
    world.pass_until(at(410));
    let run = world.submit(&first);
    world.commits = false;
    world.finish(run);
    assert!(world.commit(), "the success is in the store, and nobody acted on it");
    world.commits = true;
    world.take_over();
    world.connect_all();
    world.pass(millis(1));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    world.take_over();
    world.connect_all();
    world.pass(secs(5));
    assert_eq!(world.runs_of(&needy).len(), 1, "and once");
}

#[test]
fn what_a_put_overtakes_is_met_all_the_same() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s");
    world.pass_until(at(410));
    // Somebody puts the job, and the owner does not know.
    let needy = world.change_job(&needy, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.write_triggers(&needy);
    succeed(&mut world, &first);
    world.pass(secs(10));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    assert_eq!(world.runs_of(&needy).len(), 1);
}

#[test]
fn a_moment_that_waits_goes_by_what_is_needed_now() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s");
    let other = world.job();
    succeed(&mut world, &other);
    world.pass_until(at(410));
    assert_eq!(waits_for(&world, &needy, "every"), Some(first.spec.name.to_string()));
    // Nobody fixes that one today.
    let needs = format!("every: 1h, offset: 1200s, needs: {}", other.spec.name.as_str());
    let needy = world.change_triggers(&needy, &[&needs]);
    world.pass(millis(1));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    world.take_over();
    world.connect_all();
    let needy = world.change_triggers(&needy, &["every: 1h, offset: 1200s"]);
    world.pass_until(at(4_001));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired", "4000 fired"]);
}

#[test]
fn what_is_over_or_was_moved_waits_for_nobody() {
    let (mut world, first, needy) = needing("every: 1h, offset: 1200s, count: 1");
    let (name, later) = (first.spec.name.as_str(), world.job());
    let moved =
        world.trigger_job(&[&format!("every: 1h, offset: 1200s, needs: {}", later.spec.name.as_str())]);
    assert_ne!(name, later.spec.name.as_str());
    world.pass_until(at(410));
    let to = TriggerCommand::Cursor { at: at(9_000), by: "ann".into() };
    world.command_trigger(&moved, "every", to);
    succeed(&mut world, &first);
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
    assert_eq!((waits_for(&world, &needy, "every"), waits_for(&world, &moved, "every")), (None, None));
    assert!(world.trigger(&needy, "every").state.fires_at.is_none(), "it is over");
    // The jump is told when its time has passed, whoever succeeds before.
    succeed(&mut world, &later);
    assert!(world.ledger(&moved, "every").is_empty());
}

#[test]
fn whoever_fires_by_hand_waits_for_nobody() {
    let (mut world, _, needy) = needing("every: 1h, offset: 1200s");
    let fire = TriggerCommand::Fire { by: "mia".into() };
    world.command_trigger(&needy, "every", fire);
    world.pass(millis(1));
    assert_eq!(world.runs_of(&needy).len(), 1);
}

#[test]
fn a_success_may_count_for_longer_from_now_on() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let name = first.spec.name.as_str();
    let needs = |within: &str| format!("every: 1h, offset: 1200s, needs: {{job: {name}, within: {within}}}");
    let needy = world.trigger_job(&[&needs("1m")]);
    succeed(&mut world, &first);
    world.pass_until(at(410));
    assert_eq!(waits_for(&world, &needy, "every"), Some(name.to_owned()));
    let needy = world.change_triggers(&needy, &[&needs("1h")]);
    world.pass(millis(1));
    assert_eq!(world.ledger(&needy, "every"), ["400 fired"]);
}

#[test]
fn what_waits_too_long_is_missed_although_the_latest_still_waits() {
    let (mut world, first, needy) = needing("every: 10m, offset: 400s");
    let name = first.spec.name.as_str();
    world.pass_until(at(2 * 3_600 + 30));
    let lines = world.ledger(&needy, "every");
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line.contains("missed") && line.contains(name)),
        "{lines:?}"
    );
    succeed(&mut world, &first);
    let last = world.ledger(&needy, "every").pop();
    assert!(last.is_some_and(|line| line.ends_with("fired")));
}

#[test]
fn a_success_of_another_job_costs_nothing() {
    let mut world = World::new();
    world.node("a");
    let (one, other) = (world.job(), world.job());
    let names = [one.spec.name.to_string(), other.spec.name.to_string()];
    let needs = format!("every: 1h, offset: 1200s, needs: [{}, {}]", names[0], names[1]);
    let needy = world.trigger_job(&[&needs]);
    succeed(&mut world, &one);
    world.pass_until(at(410));
    assert_eq!(waits_for(&world, &needy, "every"), Some(names[1].clone()));
    let before = world.trigger(&needy, "every").revision;
    for _ in 0..5 {
        succeed(&mut world, &one);
    }
    world.pass(secs(300));
    assert_eq!(
        world.trigger(&needy, "every").revision,
        before,
        "it waits for the other, and nothing changed"
    );
}

#[test]
fn what_passed_while_nobody_was_there_did_so_whatever_it_needs() {
    let (mut world, first, needy) = needing("every: 10m, misfire: skip");
    let name = first.spec.name.to_string();
    let planned = world.trigger(&needy, "every").state.next.expect("a moment");
    let start = planned.since(at(0)).as_secs();
    world.pass_until(planned + secs(10));
    assert_eq!(waits_for(&world, &needy, "every"), Some(name.clone()));
    // An hour without an owner.
    world.now = planned + secs(3_605);
    world.take_over();
    world.connect_all();
    world.pass(millis(1));
    let lines = world.ledger(&needy, "every");
    let (second, last) = (start + 600, start + 3_000);
    assert_eq!(lines[0], format!("{start} missed: `{name}` had not succeeded in time"));
    assert_eq!(lines[1], format!("{second} missed 5 through {last}: it passed"));
    // The next one waits, and its owner is there when patience ends.
    world.pass(secs(120));
    let next = start + 3_600;
    assert_eq!(
        world.ledger(&needy, "every")[2..],
        [format!("{next} missed: `{name}` had not succeeded in time")]
    );
}

#[test]
fn what_another_would_have_covered_is_missed_for_what_that_needs() {
    let (mut world, first, needy) = needing("every: 10m, misfire: {policy: once, window: 30m}");
    let name = first.spec.name.to_string();
    let planned = world.trigger(&needy, "every").state.next.expect("a moment");
    let start = planned.since(at(0)).as_secs();
    world.pass_until(planned - secs(10));
    world.now = planned + secs(7_000);
    world.take_over();
    world.connect_all();
    world.pass(millis(1));
    let lines = world.ledger(&needy, "every");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(&format!("{start} missed ")), "{lines:?}");
    assert!(lines[0].ends_with(&format!(": `{name}` had not succeeded in time")), "{lines:?}");
}
