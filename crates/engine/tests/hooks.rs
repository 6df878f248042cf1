//! Calls of webhooks: a delivery is one run, whatever happens in between, and what takes no calls says so.

use std::time::Duration;

use mainspring_engine::{Answer, Event, HookCall, Message, TriggerCommand, TriggerKey};
use mainspring_model::spec::{Concurrency, Overlap};
use mainspring_model::{Cause, ErrorCode, RunId, RunState};
use serde_json::json;

use crate::world::{Job, World, at, millis, paused, secs};

fn delivery(key: &str) -> TriggerCommand {
    call(Some(key))
}

fn call(key: Option<&str>) -> TriggerCommand {
    call_of(key, None)
}

/// A delivery whose run the store had when it was asked.
fn known_delivery(key: &str, first: RunId) -> TriggerCommand {
    call_of(Some(key), Some(first))
}

/// Somebody takes over who does not remember what deliveries came to.
fn another_owner(world: &mut World) {
    world.take_over();
    world.connect_all();
    world.pass(millis(1));
    world.messages();
}

fn call_of(key: Option<&str>, first: Option<RunId>) -> TriggerCommand {
    let parameters = Default::default();
    let call = HookCall { at: at(0), key: key.map(Into::into), version: 1, first, parameters };
    TriggerCommand::Call(Box::new(call))
}

/// Calls the webhook now.
fn send(world: &mut World, job: &Job, command: TriggerCommand) {
    let TriggerCommand::Call(mut call) = command else { panic!("{command:?} is no call") };
    call.at = world.now;
    world.command_trigger(job, "webhook", TriggerCommand::Call(call));
    world.handle(Event::Tick);
}

/// Calls that come before anything of the first is written; nothing is until somebody commits.
fn send_together(world: &mut World, job: &Job, commands: impl IntoIterator<Item = TriggerCommand>) {
    world.commits = false;
    for command in commands {
        world.command_trigger(job, "webhook", command);
    }
    world.handle(Event::Tick);
}

/// The store is there again, and everything is done that was held back.
fn catch_up(world: &mut World) {
    world.commits = true;
    world.settle();
    world.pass(millis(1));
}

/// What was answered since the last time it was asked.
fn answers(world: &mut World) -> Vec<Answer> {
    let replies = world.messages().into_iter();
    replies
        .filter_map(|message| match message {
            Message::Reply { answer, .. } => Some(answer),
            _ => None,
        })
        .collect()
}

#[track_caller]
fn made(world: &mut World) -> RunId {
    match answers(world).as_slice() {
        [Answer::Submitted { run, duplicate: false }] => *run,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(world: &mut World, words: &str) {
    match answers(world).as_slice() {
        [Answer::Refused { code: ErrorCode::Inactive, message }] if message.contains(words) => {}
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn each_call_is_a_run_and_a_line() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    world.pass(secs(30));
    send(&mut world, &job, call(None));
    let first = made(&mut world);
    send(&mut world, &job, call(None));
    let second = made(&mut world);
    assert_ne!(first, second, "no node is there, and still none is merged");
    assert_eq!(world.ledger(&job, "webhook"), ["30 fired", "30.000001 fired"]);
    let head = world.row(first).head;
    assert_eq!(head.fired.as_ref().map(|fired| (&*fired.trigger, fired.planned)), Some(("webhook", at(30))));
    let state = world.trigger(&job, "webhook").state;
    assert_eq!((state.fired, state.last, state.next), (2, Some(second), None));
}

#[test]
fn a_delivery_that_comes_again_is_the_run_that_it_was() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    send(&mut world, &job, delivery("d1"));
    let first = made(&mut world);
    // While it runs, after it ended, and for another owner.
    send(&mut world, &job, delivery("d1"));
    let again = [Answer::Submitted { run: first, duplicate: true }];
    assert_eq!(answers(&mut world), again);
    world.finish(first);
    world.messages();
    send(&mut world, &job, delivery("d1"));
    assert_eq!(answers(&mut world), again);
    world.take_over();
    world.messages();
    send(&mut world, &job, delivery("d1"));
    assert_eq!(answers(&mut world), again);
    assert_eq!(world.runs_of(&job).len(), 1);
    let lines = world.ledger(&job, "webhook");
    assert_eq!(lines[0], "0.000001 fired");
    assert_eq!(lines.len(), 4);
    assert!(lines[1..].iter().all(|line| line.ends_with("merged: the same delivery again")), "{lines:?}");
    assert_eq!(world.trigger(&job, "webhook").state.fired, 1);
}

#[test]
fn those_who_send_the_same_at_once_get_the_same_run() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    send_together(&mut world, &job, ["d1", "d2", "d1"].map(delivery));
    catch_up(&mut world);
    let runs = world.runs_of(&job);
    assert_eq!(runs.len(), 2);
    let answers = answers(&mut world);
    let first = Answer::Submitted { run: runs[0].head.id, duplicate: false };
    assert_eq!(answers.iter().filter(|answer| **answer == first).count(), 1, "{answers:?}");
    let again = Answer::Submitted { run: runs[0].head.id, duplicate: true };
    assert_eq!(answers.iter().filter(|answer| **answer == again).count(), 1, "{answers:?}");
    let lines = world.ledger(&job, "webhook");
    assert_eq!(lines.iter().filter(|line| line.contains("fired")).count(), 2, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("merged")).count(), 1, "{lines:?}");
    assert_eq!(world.trigger(&job, "webhook").state.fired, 2);
}

#[test]
fn an_owner_that_dies_when_the_run_is_inserted_leaves_its_line_to_the_next() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["webhook: {}"]);
    world.commits = false;
    send(&mut world, &job, delivery("d1"));
    assert!(world.commit(), "the run is inserted");
    let run = world.runs_of(&job)[0].head.id;
    assert_eq!((world.state(run), world.ledger(&job, "webhook").len()), (RunState::Ready, 0));
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.ledger(&job, "webhook"), ["0.000001 fired"]);
    assert_eq!(world.trigger(&job, "webhook").state.fired, 1);
    assert_ne!(world.state(run), RunState::Ready, "it goes on");
}

#[test]
fn what_is_paused_takes_no_calls() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    let pause = paused(world.now);
    world.command_trigger(&job, "webhook", TriggerCommand::Pause(Some(pause.clone())));
    world.messages();
    send(&mut world, &job, delivery("d1"));
    refused(&mut world, "the trigger is paused by ");
    world.command_trigger(&job, "webhook", TriggerCommand::Pause(None));
    world.pause_job(&job, Some(pause.clone()));
    world.messages();
    send(&mut world, &job, call(None));
    refused(&mut world, "the job is paused by ");
    world.pause_job(&job, None);
    world.pause_cell(Some(pause));
    world.messages();
    send(&mut world, &job, call(None));
    refused(&mut world, "the cell is paused by ");
    world.pause_cell(None);
    world.pass(secs(300));
    world.messages();
    let lines = world.ledger(&job, "webhook");
    assert_eq!((world.runs_of(&job).len(), lines.len()), (0, 3), "nothing is made up for: {lines:?}");
    assert!(lines.iter().all(|line| line.contains("missed: the ")), "{lines:?}");
    send(&mut world, &job, delivery("d1"));
    made(&mut world);
}

#[test]
fn a_delivery_of_before_the_pause_is_told_its_run() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    send(&mut world, &job, delivery("d1"));
    let first = made(&mut world);
    world.command_trigger(&job, "webhook", TriggerCommand::Pause(Some(paused(world.now))));
    world.messages();
    send(&mut world, &job, known_delivery("d1", first));
    assert_eq!(answers(&mut world), [Answer::Submitted { run: first, duplicate: true }]);
}

#[test]
fn bounds_hold_for_calls_too() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 2"]);
    world.messages();
    // Two are under way when the third comes, and one of them came twice.
    send_together(&mut world, &job, ["d1", "d2", "d1", "d3"].map(delivery));
    catch_up(&mut world);
    let refusals = answers(&mut world);
    let over = |answer: &&Answer| matches!(answer, Answer::Refused { code: ErrorCode::Inactive, .. });
    assert_eq!(refusals.iter().filter(over).count(), 1, "{refusals:?}");
    // The count stands when only what callers prove themselves with changes.
    let job = world.change_triggers(&job, &["webhook: {signature: {header: X-Sig}}, count: 2"]);
    world.messages();
    send(&mut world, &job, delivery("d4"));
    refused(&mut world, "it fired 2 times");
    let job = world.change_triggers(&job, &["webhook: {}, until: 1970-01-02T00:00:00Z"]);
    world.messages();
    send(&mut world, &job, delivery("d5"));
    refused(&mut world, "it took calls until 1970-01-02");
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn the_overlap_policy_holds() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["webhook: {}"], |spec| {
        let mut limit = Concurrency::new(1.try_into().unwrap());
        limit.overlap = Overlap::Skip;
        spec.concurrency = Some(limit);
    });
    world.messages();
    send(&mut world, &job, delivery("d1"));
    let first = made(&mut world);
    send(&mut world, &job, delivery("d2"));
    let second = made(&mut world);
    assert_eq!((world.state(first), world.state(second)), (RunState::Running, RunState::Skipped));
    send(&mut world, &job, delivery("d2"));
    assert_eq!(answers(&mut world), [Answer::Submitted { run: second, duplicate: true }]);
    let lines = world.ledger(&job, "webhook");
    assert_eq!(lines[..2], ["0.000001 fired", "0.000002 skipped: overlap"], "{lines:?}");
    assert_eq!(world.trigger(&job, "webhook").state.fired, 1);
}

#[test]
fn what_a_call_gives_is_what_the_run_has() {
    let mut world = World::new();
    let job = world.trigger_job_with(&["webhook: {}"], |spec| {
        let file = json!({"name": "x", "script": "true", "parameters": {"n": "integer"}});
        spec.parameters = mainspring_model::spec::from_value(&file).unwrap().parameters;
    });
    world.messages();
    let with = |parameters: serde_json::Value| {
        let parameters = parameters.as_object().unwrap().clone();
        TriggerCommand::Call(Box::new(HookCall { at: at(0), key: None, version: 1, first: None, parameters }))
    };
    send(&mut world, &job, with(json!({"n": 5})));
    let run = made(&mut world);
    assert_eq!(&world.row(run).head.params[..], br#"{"n":5}"#);
    // The job changed since the call was checked.
    send(&mut world, &job, with(json!({"m": 5})));
    let answers = answers(&mut world);
    let [Answer::Refused { code: ErrorCode::InvalidParameter, message }] = answers.as_slice() else {
        panic!("{answers:?}")
    };
    assert!(message.contains("n: a value is required"), "{message}");
    assert_eq!(world.ledger(&job, "webhook").len(), 2);
}

#[test]
fn a_call_that_was_checked_against_a_newer_version_waits_for_it() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    let newer = world.change_job(&job, |spec| spec.priority.level = 80);
    world.write_triggers(&newer);
    world.messages();
    let call = HookCall { at: world.now, key: None, version: 2, first: None, parameters: Default::default() };
    send(&mut world, &newer, TriggerCommand::Call(Box::new(call)));
    let run = made(&mut world);
    assert_eq!(world.row(run).head.job_version, 2);
}

#[test]
fn calls_that_keep_failing_pause_the_trigger() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["webhook: {}, pause_after: 2"], |spec| spec.retry.max = 0);
    world.messages();
    for key in ["d1", "d2"] {
        send(&mut world, &job, delivery(key));
        let run = world.runs_of(&job).last().map(|run| run.head.id).expect("a run");
        world.end(run, Cause::Exit { code: 1 });
        world.pass(secs(1));
    }
    world.messages();
    send(&mut world, &job, delivery("d3"));
    refused(
        &mut world,
        "the trigger is paused by mainspring: paused itself: its last 2 runs failed for good",
    );
}

#[test]
fn who_calls_a_job_that_cannot_be_read_is_told() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    world.damage(&job);
    world.messages();
    send(&mut world, &job, delivery("d1"));
    let answers = answers(&mut world);
    assert!(matches!(answers.as_slice(), [Answer::Refused { code: ErrorCode::Internal, .. }]), "{answers:?}");
}

#[test]
fn there_is_no_cursor_to_move() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    world.command_trigger(&job, "webhook", TriggerCommand::Cursor { at: at(9_000), by: "ann".into() });
    let answers = answers(&mut world);
    assert!(
        matches!(answers.as_slice(), [Answer::Refused { code: ErrorCode::InvalidRequest, .. }]),
        "{answers:?}"
    );
}

/// What is taken counts once, wherever a put overtakes its owner, which then dies.
fn check_count(put_after: usize) {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 2"]);
    world.pass(secs(30));
    world.commits = false;
    send(&mut world, &job, delivery("one"));
    for batch in 0..6 {
        if batch == put_after {
            // Somebody reads the row and writes it with another version; the owner does not know.
            let changed = world.change_job(&job, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
            world.write_triggers(&changed);
            world.commit();
            break;
        }
        world.commit();
    }
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    let before = world.runs_of(&job).len();
    for key in ["two", "three", "four"] {
        send(&mut world, &job, delivery(key));
    }
    world.pass(secs(1));
    assert_eq!(world.runs_of(&job).len(), 2, "{put_after}: {before} were there before");
    assert_eq!(world.trigger(&job, "webhook").state.fired, 2, "{put_after}");
}

#[test]
fn what_a_put_overtakes_counts_once() {
    for put_after in 0..4 {
        check_count(put_after);
    }
}

/// However many calls the last owner took that its row does not know of.
#[test]
fn what_a_put_overtakes_is_counted_to_the_end() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 3000"]);
    world.pass(secs(30));
    send_together(&mut world, &job, (0..2_500).map(|_| call_of(None, None)));
    let changed = world.change_job(&job, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.write_triggers(&changed);
    while world.commit() {}
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    send(&mut world, &job, call_of(None, None));
    assert_eq!(world.runs_of(&job).len(), 2_501);
    assert_eq!(world.trigger(&job, "webhook").state.fired, 2_501);
}

/// What a batch says of the trigger's count is what the store has, whatever becomes of the batches after it.
#[test]
fn a_delivery_counts_when_its_run_is_in_the_store() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 3"]);
    world.pass(secs(30));
    send(&mut world, &job, delivery("one"));
    let first = world.runs_of(&job)[0].head.id;
    another_owner(&mut world);
    send_together(&mut world, &job, ["one", "two"].map(delivery));
    assert!(world.commit(), "one is refused, because it is there; two is inserted");
    assert_eq!(world.runs_of(&job).len(), 2);
    assert_eq!(world.trigger(&job, "webhook").state.fired, 1, "the second has not begun");
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.trigger(&job, "webhook").state.fired, 2);
    world.messages();
    send(&mut world, &job, delivery("three"));
    made(&mut world);
    send(&mut world, &job, delivery("four"));
    refused(&mut world, "it fired 3 times");
    send(&mut world, &job, known_delivery("one", first));
    assert_eq!(answers(&mut world), [Answer::Submitted { run: first, duplicate: true }]);
}

/// Where two send at once what came before, and neither finds its run, no line names a run that the store refused.
#[test]
fn who_repeats_what_turns_out_to_be_an_earlier_delivery_is_told_of_that_one() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 2"]);
    world.pass(secs(30));
    world.messages();
    send(&mut world, &job, delivery("one"));
    let first = made(&mut world);
    another_owner(&mut world);
    send_together(&mut world, &job, ["one"; 3].map(delivery));
    catch_up(&mut world);
    assert_eq!(world.runs_of(&job).len(), 1);
    assert_eq!(answers(&mut world), vec![Answer::Submitted { run: first, duplicate: true }; 3]);
    let lines = world.lines(&job, "webhook");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines.iter().all(|line| line.run == Some(first)), "{lines:?}");
}

/// Also where the trigger has fired as often as it may by then, or is paused.
#[test]
fn who_repeats_a_delivery_that_is_being_inserted_is_told_of_its_run() {
    for (count, keys) in [(2, &["one", "one", "two"][..]), (1, &["one"])] {
        let mut world = World::new();
        let job = world.trigger_job(&[&format!("webhook: {{}}, count: {count}")]);
        world.pass(secs(30));
        world.messages();
        send_together(&mut world, &job, keys.iter().map(|key| delivery(key)));
        // While the first is being written, and again when it is about to begin.
        world.command_trigger(&job, "webhook", delivery("one"));
        assert!(world.commit());
        world.command_trigger(&job, "webhook", delivery("one"));
        catch_up(&mut world);
        let runs = world.runs_of(&job);
        assert_eq!(runs.len(), count);
        send(&mut world, &job, known_delivery("one", runs[0].head.id));
        let answers = answers(&mut world);
        let first = Answer::Submitted { run: runs[0].head.id, duplicate: true };
        let repeats = keys.iter().filter(|key| **key == "one").count() - 1 + 3;
        assert_eq!(answers.iter().filter(|answer| **answer == first).count(), repeats, "{answers:?}");
        assert_eq!(answers.len(), count + repeats, "{answers:?}");
    }
}

/// Who looked and found none is right: a delivery is one run for as long as that is kept.
#[test]
fn a_delivery_whose_run_was_removed_makes_another() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["webhook: {}"]);
    world.pass(secs(30));
    world.messages();
    send(&mut world, &job, delivery("one"));
    let first = made(&mut world);
    world.finish(first);
    world.pass(secs(1));
    let rule = mainspring_store::Retention { job: Some(job.id), made_before: None, keep_newest: Some(0) };
    assert_eq!(world.store.retain(&rule, 10).expect("a rule"), 1);
    world.messages();
    send(&mut world, &job, delivery("one"));
    assert_ne!(made(&mut world), first);
}

#[test]
fn what_turns_out_to_be_an_earlier_delivery_takes_nobodys_place() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 2"]);
    world.pass(secs(30));
    send(&mut world, &job, delivery("one"));
    another_owner(&mut world);
    // The caller of the first did not find its run: the place that it would take is kept until that is known.
    send_together(&mut world, &job, ["one", "two", "three"].map(delivery));
    catch_up(&mut world);
    assert_eq!(world.runs_of(&job).len(), 2);
    assert_eq!(world.trigger(&job, "webhook").state.fired, 2);
    let lines = world.ledger(&job, "webhook");
    assert_eq!(lines.iter().filter(|line| line.ends_with("fired")).count(), 2, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("as often as it may")).count(), 1, "{lines:?}");
    assert_eq!(answers(&mut world).len(), 3);
}

#[test]
fn a_call_behind_one_that_has_not_begun_counts_for_the_next_owner() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}, count: 3"]);
    world.pass(secs(30));
    send_together(&mut world, &job, [delivery("one"), call(None)]);
    assert!(world.commit(), "both are inserted, and one of them has begun");
    assert_eq!((world.runs_of(&job).len(), world.ledger(&job, "webhook").len()), (2, 1));
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.trigger(&job, "webhook").state.fired, 2);
    world.messages();
    send(&mut world, &job, delivery("two"));
    made(&mut world);
    send(&mut world, &job, delivery("three"));
    refused(&mut world, "it fired 3 times");
}

/// Somebody cancels the run of a delivery before it begins: while it is inserted, or before that. Its end and its line are in
/// the store together, and so are they for the next owner, whenever the first one dies.
fn check_cancelled(is_under_way: bool, batches: usize) {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["webhook: {}, count: 2"]);
    world.messages();
    world.commits = false;
    send(&mut world, &job, delivery("d1"));
    let run = TriggerKey { job: job.id, name: "webhook".into() }.run_at(at(0) + Duration::from_micros(1));
    let under_way = is_under_way.then(|| world.cell.cut().expect("the insert"));
    world.cancel(run);
    if let Some(batch) = under_way {
        world.write(&batch);
    }
    for batch in 0..batches {
        world.commit();
        let is_over = world.state(run).is_terminal();
        let lines = world.ledger(&job, "webhook");
        assert_eq!(is_over, !lines.is_empty(), "{is_under_way}, {batch} of {batches}: {lines:?}");
    }
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.state(run), RunState::Cancelled, "{is_under_way}, {batches}");
    assert_eq!(world.ledger(&job, "webhook"), ["0.000001 fired"], "{is_under_way}, {batches}");
    assert_eq!(world.trigger(&job, "webhook").state.fired, 1, "{is_under_way}, {batches}");
}

#[test]
fn a_delivery_that_is_cancelled_before_it_begins_has_its_line() {
    for batches in 1..5 {
        check_cancelled(false, batches);
        check_cancelled(true, batches);
    }
}

#[test]
fn who_cancels_what_turns_out_to_be_an_earlier_delivery_cancels_nothing() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["webhook: {}"]);
    world.messages();
    send(&mut world, &job, delivery("d1"));
    let first = made(&mut world);
    another_owner(&mut world);
    send_together(&mut world, &job, [delivery("d1")]);
    world.cancel(TriggerKey { job: job.id, name: "webhook".into() }.run_at(at(0) + Duration::from_micros(2)));
    world.commits = true;
    world.settle();
    let answers = answers(&mut world);
    let [call, cancel] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!(*call, Answer::Submitted { run: first, duplicate: true });
    assert!(matches!(cancel, Answer::Refused { code: ErrorCode::Conflict, .. }), "{cancel:?}");
    assert_eq!((world.runs_of(&job).len(), world.state(first)), (1, RunState::Running));
    let lines = world.ledger(&job, "webhook");
    assert_eq!(lines, ["0.000001 fired", "0.000002 merged: the same delivery again"]);
}

#[test]
fn a_delivery_whose_job_cannot_be_read_has_its_line() {
    let mut world = World::new();
    let job = world.trigger_job(&["webhook: {}"]);
    world.commits = false;
    send(&mut world, &job, delivery("d1"));
    assert!(world.commit(), "the run is inserted");
    let run = world.runs_of(&job)[0].head.id;
    world.damage(&job);
    world.commits = true;
    world.take_over();
    assert_eq!(world.state(run), RunState::FinalFailed);
    assert_eq!(world.ledger(&job, "webhook"), ["0.000001 fired"]);
}
