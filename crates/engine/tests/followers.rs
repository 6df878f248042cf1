//! Triggers that follow ends: what was decided of an end outlives whoever decided it.

use mainspring_engine::{Event, TriggerCommand};
use mainspring_model::spec::Concurrency;
use mainspring_model::{Cause, RunState};
use mainspring_store::{Outcome, Retention};

use crate::world::{World, paused, secs};

#[test]
fn an_end_is_followed_although_the_row_of_the_follower_was_refused_and_its_owner_died() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let follower = world.trigger_job(&[&format!("after: {}", first.spec.name.as_str())]);
    let run = world.submit(&first);
    // Somebody puts the follower's job, and the owner does not know.
    let follower = world.change_job(&follower, |spec| spec.triggers[0].pause_after = 5.try_into().ok());
    world.write_triggers(&follower);
    world.commits = false;
    world.finish(run);
    assert!(world.commit());
    assert_eq!(world.state(run), RunState::Success);
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), 1);
    assert_eq!(world.ledger(&follower, "after").len(), 1);
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), 1, "and once");
}

#[test]
fn ends_that_a_paused_follower_remembers_survive_a_new_version_and_a_new_owner() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let after = format!("after: {}", first.spec.name.as_str());
    let follower = world.trigger_job(&[&after]);
    world.command_trigger(&follower, "after", TriggerCommand::Pause(Some(paused(world.now))));
    for _ in 0..3 {
        let run = world.submit(&first);
        world.finish(run);
    }
    let follower = world.change_triggers(&follower, &[&format!("{after}, parameters: {{}}, pause_after: 3")]);
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), 0);
    world.command_trigger(&follower, "after", TriggerCommand::Pause(None));
    world.pass(secs(1));
    assert_eq!(world.ledger(&follower, "after").len(), 3, "each end is one line");
}

#[test]
fn who_fires_at_the_very_moment_of_an_end_takes_nothing_from_it() {
    for by_hand_first in [true, false] {
        let mut world = World::new();
        world.node("a");
        let first = world.job();
        let follower = world.trigger_job_with(&[&format!("after: {}", first.spec.name.as_str())], |spec| {
            spec.concurrency = Some(Concurrency::new(10.try_into().unwrap()));
        });
        let run = world.submit(&first);
        world.pass(secs(5));
        let fire = TriggerCommand::Fire { by: "ann".into() };
        world.commits = false;
        if by_hand_first {
            world.command_trigger(&follower, "after", fire);
            world.handle(Event::Tick);
            world.finish(run);
        } else {
            world.finish(run);
            world.command_trigger(&follower, "after", fire);
            world.handle(Event::Tick);
        }
        world.commits = true;
        world.settle();
        world.pass(secs(1));
        assert_eq!(world.runs_of(&follower).len(), 2, "by hand first: {by_hand_first}");
        let by_hand = world.lines(&follower, "after").iter().map(|line| line.by_hand).collect::<Vec<_>>();
        assert!(by_hand.len() == 2 && by_hand.contains(&true) && by_hand.contains(&false), "{by_hand:?}");
        assert!(world.ends(&follower, "after").is_empty());
    }
}

#[test]
fn a_delay_does_not_fire_beside_a_run_that_waits_in_the_store() {
    let mut world = World::new();
    let node = world.node("a");
    let job = world.trigger_job_with(&["delay: 60s"], |spec| {
        spec.retry.max = 3;
        spec.retry.backoff.curve = mainspring_model::spec::Curve::Fixed { base: secs(7_200) };
        spec.retry.backoff.cap = secs(7_200);
    });
    world.pass(secs(1));
    let run = world.runs_of(&job)[0].head.id;
    world.end(run, Cause::Exit { code: 1 });
    assert_eq!(world.state(run), RunState::Failed);
    assert!(world.cell.run(run).is_none(), "it waits in the store");
    world.take_over();
    world.connect(node);
    world.pass(secs(300));
    assert_eq!(world.runs_of(&job).len(), 1);
    world.pass(secs(7_200));
    world.finish(run);
    world.take_over();
    world.connect(node);
    world.pass(secs(59));
    assert_eq!(world.runs_of(&job).len(), 1);
    world.pass(secs(2));
    assert_eq!(world.runs_of(&job).len(), 2, "it counts from the end, whoever saw that");
}

#[test]
fn an_owner_that_dies_before_the_row_is_written_does_not_lose_count() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 60s, offset: 20s, count: 2"]);
    let before = world.trigger(&job, "every");
    world.pass(secs(70));
    let behind =
        mainspring_engine::TriggerRow { revision: world.trigger(&job, "every").revision + 1, ..before };
    world.put_row(&behind);
    world.take_over();
    world.pass(secs(300));
    assert_eq!(world.ledger(&job, "every"), ["60 fired", "120 fired"]);
    assert_eq!(world.runs_of(&job).len(), 2);
}

#[test]
fn a_ring_of_jobs_that_follow_each_other_comes_to_an_end() {
    let mut world = World::new();
    world.node("a");
    let first = world.job();
    let other = world.trigger_job(&[&format!("after: {}", first.spec.name.as_str())]);
    let first = world.change_triggers(&first, &[&format!("after: {}", other.spec.name.as_str())]);
    let mut run = world.submit(&first);
    let jobs = [&first, &other];
    for n in 1..=100 {
        world.finish(run);
        world.pass(secs(1));
        let made = world.runs_of(jobs[n % 2]).into_iter().find(|run| !run.status.state.is_terminal());
        let made = made.expect("the next of the ring");
        assert_eq!(made.head.fired.as_ref().unwrap().depth, n as u16);
        run = made.head.id;
        if n == 50 {
            world.take_over();
            world.connect(*world.agents.keys().next().unwrap());
        }
    }
    world.finish(run);
    world.pass(secs(1));
    assert_eq!(world.runs_of(&first).len() + world.runs_of(&other).len(), 101);
    let last = world.ledger(&other, "after").pop().unwrap();
    assert!(last.contains(&format!("skipped: {run} is the last of 101 runs that followed")), "{last}");
    // Whoever begins anew has the whole length before them.
    let run = world.submit(&first);
    world.finish(run);
    world.pass(secs(1));
    assert_eq!(world.runs_of(&other).last().unwrap().head.fired.as_ref().unwrap().depth, 1);
}

#[test]
fn a_trigger_that_pauses_itself_is_told_with_its_row() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job_with(&["every: 60s, offset: 20s, pause_after: 1"], |spec| spec.retry.max = 0);
    world.pass(secs(60));
    let run = world.runs_of(&job)[0].head.id;
    world.commits = false;
    world.end(run, Cause::Exit { code: 1 });
    let batch = world.cell.cut().expect("the end");
    let [paused] = &batch.paused[..] else { panic!("{:?}", batch.paused) };
    assert_eq!((&*paused.job, &*paused.key.name), (job.spec.name.as_str(), "every"));
    assert_eq!(&*paused.pause.note, "paused itself: its last 1 runs failed for good");
    world.write(&batch);
    assert!(world.trigger(&job, "every").state.pause.is_some(), "in the same transaction");
    assert!(world.cell.cut().is_none_or(|batch| batch.paused.is_empty()), "once");
}

#[test]
fn a_row_that_cannot_be_read_is_told_and_stops_nobody() {
    let mut world = World::new();
    world.node("a");
    let (damaged, other) =
        (world.trigger_job(&["every: 60s"]), world.trigger_job(&["every: 60s, offset: 20s"]));
    world.spoil_row(&damaged, "every");
    world.take_over();
    let said = world.said();
    assert!(said.contains(&format!("damaged trigger every of {}", damaged.id)), "{said:?}");
    world.pass(secs(61));
    assert_eq!(world.ledger(&other, "every"), ["60 fired"]);
}

#[test]
fn a_clock_that_goes_back_holds_up_neither_a_follower_nor_a_delay() {
    let mut world = World::new();
    let node = world.node("a");
    let first = world.job();
    let follower = world.trigger_job(&[&format!("after: {}", first.spec.name.as_str())]);
    let delayed = world.trigger_job(&["delay: 60s"]);
    world.pass(secs(1));
    let run = world.submit(&first);
    world.finish(run);
    world.pass(secs(1));
    assert_eq!((world.runs_of(&follower).len(), world.runs_of(&delayed).len()), (1, 1));
    world.now = world.now - secs(86_400);
    world.take_over();
    world.connect(node);
    for _ in 0..2 {
        let run = world.submit(&first);
        world.finish(run);
    }
    let last = world.runs_of(&delayed)[0].head.id;
    world.finish(last);
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), 3);
    world.pass(secs(60));
    assert_eq!(world.runs_of(&delayed).len(), 2);
}

#[test]
fn what_is_fired_by_hand_at_once_begins_at_its_moment_and_not_before() {
    let mut world = World::new();
    world.node("a");
    let job = world.trigger_job(&["every: 3600s"]);
    world.commits = false;
    for _ in 0..3 {
        world.command_trigger(&job, "every", TriggerCommand::Fire { by: "ann".into() });
    }
    world.commits = true;
    world.pass(secs(1));
    let early = |run: &mainspring_model::Run| run.head.created_at < run.head.fired.as_ref().unwrap().planned;
    assert_eq!(world.runs_of(&job).iter().filter(|run| early(run)).count(), 0);
}

/// A run that ends before it was ever written: its end is followed if the store took it, and only then, whoever died in between.
fn check_unwritten(key: Option<&str>, followed: usize) {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 1);
    let first = world.job_with(|spec| {
        spec.timeout.queue = Some(secs(5));
        spec.retry.max = 0;
    });
    let follower = world.trigger_job(&[&format!("after: {{job: {}, on: any}}", first.spec.name.as_str())]);
    let keyed = world.submit_with(&first, |head| head.idempotency_key = Some("k".into()));
    world.finish(keyed);
    world.pass(secs(1));
    let follow = world.runs_of(&follower)[0].head.id;
    world.finish(follow);
    let blocker = world.job();
    world.submit(&blocker);
    world.commits = false;
    let run = world.submit_with(&first, |head| head.idempotency_key = key.map(Into::into));
    world.pass(secs(6));
    assert!(world.commit());
    let written = world.store.run(run).map(|run| run.status.state);
    assert_eq!(written, key.is_none().then_some(RunState::FinalFailed));
    assert_eq!(world.ends(&follower, "after").len(), 1, "it is not known yet whether the store takes it");
    world.commits = true;
    world.take_over();
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), 1 + followed, "{key:?}");
    assert_eq!(world.ledger(&follower, "after").len(), 1 + followed, "{key:?}");
    assert_eq!(world.ends(&follower, "after"), []);
}

#[test]
fn the_end_of_a_run_that_never_was_is_not_followed() {
    check_unwritten(Some("k"), 0);
    check_unwritten(None, 1);
}

/// An owner wrote an end that the store did not take; the next one sees another end of the run before it knows that.
fn check_doubted(on: &str, dies: bool, followed: usize) {
    let mut world = World::new();
    let first = world.job();
    let follower = world.trigger_job(&[&format!("after: {{job: {}, on: {on}}}", first.spec.name.as_str())]);
    let deadline = world.now + secs(5);
    let run = world.submit_with(&first, |head| head.deadline = Some(deadline));
    world.doubt_end(&follower, "after", run);
    world.sleep(secs(6));
    world.commits = false;
    world.take_over();
    assert!(world.commit());
    assert_eq!((world.state(run), world.ledger(&follower, "after").len()), (RunState::FinalFailed, 0));
    world.commits = true;
    if dies {
        world.take_over();
    }
    world.pass(secs(1));
    assert_eq!(world.runs_of(&follower).len(), followed, "{on}");
    assert_eq!(world.ledger(&follower, "after").len(), followed, "{on}");
    assert_eq!(world.ends(&follower, "after"), [], "{on}");
}

#[test]
fn an_end_is_followed_although_an_earlier_owner_wrote_another_one() {
    check_doubted("any", true, 1);
    check_doubted("any", false, 1);
}

#[test]
fn an_end_that_does_not_count_is_not_taken_for_one_that_never_was() {
    check_doubted("success", true, 0);
    check_doubted("success", false, 0);
}

#[test]
fn an_end_that_a_paused_follower_remembers_outlives_its_run() {
    let mut world = World::new();
    let first = world.job_with(|spec| {
        spec.timeout.queue = Some(secs(5));
        spec.retry.max = 0;
    });
    let follower = world.trigger_job(&[&format!("after: {{job: {}, on: any}}", first.spec.name.as_str())]);
    world.command_trigger(&follower, "after", TriggerCommand::Pause(Some(paused(world.now))));
    // One that this owner hears of, and one that the next one has to ask for.
    for is_heard in [true, false] {
        world.commits = false;
        let run = world.submit(&first);
        world.pass(secs(6));
        let batch = world.cell.cut().expect("an end");
        world.store.commit(&batch.transaction).expect("the store takes the batch");
        assert_eq!(world.state(run), RunState::FinalFailed);
        world.commits = true;
        if is_heard {
            world.cell.committed(world.both(), &vec![Outcome::Applied; batch.transaction.writes.len()]);
            world.settle();
        } else {
            world.take_over();
        }
    }
    let rule = Retention { job: Some(first.id), made_before: None, keep_newest: Some(0) };
    assert_eq!(world.store.retain(&rule, 10).unwrap(), 2);
    world.take_over();
    world.command_trigger(&follower, "after", TriggerCommand::Pause(None));
    world.pass(secs(1));
    assert_eq!(world.ledger(&follower, "after").len(), 2, "each end is one line");
}
