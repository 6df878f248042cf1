//! Persist, then act: nothing that follows from a change is said before the change is durable.

use mainspring_engine::{Answer, Batch, Message};
use mainspring_model::{Cause, RunState};
use mainspring_store::Write;

use crate::world::{World, secs};

fn inserted(batch: &Batch) -> usize {
    batch.transaction.writes.iter().filter(|write| matches!(write, Write::InsertRun(_))).count()
}

#[test]
fn no_order_leaves_before_its_attempt_is_durable() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.hush();
    world.commits = false;
    world.submit_many(&job, 3);
    world.pass(secs(30));
    world.quiet();
    let batch = world.cell.cut().unwrap();
    assert_eq!(inserted(&batch), 3);
    world.pass(secs(30));
    assert!(world.cell.cut().is_none(), "one batch is under way at a time");
    world.quiet();
    world.write(&batch);
    world.commits = true;
    world.settle();
    let said = world.said();
    assert_eq!(said.iter().filter(|words| words.starts_with("start")).count(), 3, "{said:?}");
}

#[test]
fn what_happens_while_a_batch_is_under_way_goes_into_the_next() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.hush();
    world.commits = false;
    let first = world.submit(&job);
    let batch = world.cell.cut().unwrap();
    let second = world.submit(&job);
    world.cancel(first);
    world.write(&batch);
    world.settle();
    world.expect(&["1: submitted r1", "start r1#1 on a"]);
    let batch = world.cell.cut().unwrap();
    assert_eq!(inserted(&batch), 1);
    world.write(&batch);
    world.commits = true;
    world.settle();
    world.expect(&["2: submitted r2", "3: done", "start r2#1 on a", "stop r1#1 on a after 10s"]);
    world.states(&[first, second], RunState::Running);
}

#[test]
fn a_run_that_changed_many_times_is_written_once() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.commits = false;
    let run = world.submit(&job);
    world.cancel(run);
    let batch = world.cell.cut().unwrap();
    let rows = batch
        .transaction
        .writes
        .iter()
        .filter(|write| matches!(write, Write::InsertRun(_) | Write::UpdateRun(_)));
    assert_eq!(rows.count(), 1);
}

#[test]
fn the_same_batch_sent_twice_answers_the_same() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    world.commits = false;
    let run = world.submit(&job);
    let batch = world.cell.cut().unwrap();
    let first = world.store.commit(&batch.transaction).unwrap();
    let again = world.store.commit(&batch.transaction).unwrap();
    assert_eq!(first, again);
    world.cell.committed(world.both(), &again);
    world.commits = true;
    world.settle();
    world.finish(run);
    world.states(&[run], RunState::Success);
}

#[test]
fn an_ending_is_acknowledged_when_it_is_durable() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let run = world.submit(&job);
    world.hush();
    world.commits = false;
    world.end(run, Cause::Exit { code: 0 });
    world.quiet();
    world.commits = true;
    world.settle();
    world.expect(&["forget r1#1 on a"]);
}

#[test]
fn a_refused_insert_leaves_nothing_behind() {
    let mut world = World::new();
    world.node("a");
    let job = world.job();
    let first = world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    world.hush();
    world.commits = false;
    let second = world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    let batch = world.cell.cut().unwrap();
    world.cancel(second);
    world.write(&batch);
    world.commits = true;
    world.settle();
    let replies: Vec<Answer> = world
        .messages()
        .into_iter()
        .filter_map(|message| match message {
            Message::Reply { answer, .. } => Some(answer),
            Message::Start(order) => panic!("{order:?}"),
            Message::Stop { token, .. } => panic!("{token}"),
            _ => None,
        })
        .collect();
    assert_eq!(replies[0], Answer::Submitted { run: first, duplicate: true });
    assert!(matches!(replies[1..], [Answer::Refused { .. }]), "{replies:?}");
    assert!(world.store.events(second).is_empty() && world.store.attempts(second).is_empty());
    assert_eq!(world.cell.running(), 1);
}

#[test]
fn the_roll_ups_say_what_history_says() {
    let mut world = World::new();
    world.node("a");
    let job = world.job_with(|spec| spec.retry.max = 1);
    let runs = world.submit_many(&job, 3);
    world.pass(secs(5));
    world.finish(runs[0]);
    world.end(runs[1], Cause::Exit { code: 1 });
    world.end(runs[1], Cause::Exit { code: 1 });
    world.cancel(runs[2]);
    world.stopped(runs[2]);
    let query = mainspring_store::CounterQuery {
        namespace: None,
        job: Some(job.id),
        from: mainspring_model::Timestamp::ZERO,
        until: mainspring_model::Timestamp::MAX,
        after: None,
        limit: 10,
    };
    let rows = world.store.counters(&query).unwrap().rows;
    let [(_, counts)] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((counts.success, counts.final_failed, counts.cancelled, counts.attempts), (1, 1, 1, 4));
    assert_eq!((counts.queued_us, counts.running_us), (0, 10_000_000));
}

#[test]
fn an_answer_waits_for_the_batch_that_its_change_is_in() {
    let mut world = World::new();
    world.commits = false;
    let nodes: Vec<_> = (0..1_500).map(|n| world.node(&format!("n{n}"))).collect();
    world.hush();
    let (request, node) = (world.request(), *nodes.last().unwrap());
    let deadline = Some(world.now + secs(60));
    world.handle(mainspring_engine::Event::Drain { request, node, deadline });
    assert!(world.commit());
    world.settle();
    assert!(world.store.node(node).is_none(), "not everything fits into one batch");
    world.quiet();
    world.commits = true;
    world.settle();
    world.expect(&["1: done"]);
    assert_eq!(world.node_state(node).name(), "draining");
}

#[test]
fn a_backlog_of_batches_says_what_each_has_written() {
    let mut world = World::new();
    world.node_with("a", |node| node.slots = 10_000);
    let job = world.job();
    world.hush();
    world.commits = false;
    let runs = world.submit_many(&job, 5_500);
    let mut said = std::collections::BTreeMap::new();
    while world.commit() {
        world.settle();
        for message in world.messages() {
            let (run, what) = match message {
                Message::Reply { answer: Answer::Submitted { run, .. }, .. } => (run, "submitted"),
                Message::Start(order) => (order.token.run, "start"),
                other => panic!("{other:?}"),
            };
            assert!(world.store.run(run).is_some(), "{what} of a run that is not durable");
            said.entry(run).or_insert_with(Vec::new).push(what);
        }
        let written = runs.iter().filter(|run| world.store.run(**run).is_some());
        assert_eq!(written.count(), said.len(), "what is durable is told at once");
    }
    assert_eq!(said.len(), runs.len());
    assert!(said.values().all(|what| what[..] == ["submitted", "start"]));
}

#[test]
fn who_asked_again_behind_a_backlog_is_told_of_the_first() {
    let mut world = World::new();
    let job = world.job();
    let first = world.submit_with(&job, |head| head.idempotency_key = Some("k".into()));
    world.hush();
    world.commits = false;
    let mut head = world.head(&job);
    head.idempotency_key = Some("k".into());
    world.submit_head(&job, head.clone());
    world.submit_many(&job, 5_000);
    world.submit_head(&job, head);
    assert!(world.commit());
    world.settle();
    let said = world.said();
    let already = format!("already {}", world.run_name(first));
    assert_eq!(said.iter().filter(|words| words.ends_with(&already)).count(), 2, "{said:?}");
}
