//! An unfenced batch whose answer was lost is sent again and answers as the first time, as far as its rows can tell.

use std::sync::Arc;

use mainspring_model::{Job, Node};
use mainspring_store::{Error, Outcome, Record, Store, Transaction, Write, resend};

use crate::case::{Verdict, data_cases};
use crate::fixture::{
    APPLIED, at, attempt, event, exists, job, job_id, job_version, missing, next, node, node_id, put,
    put_record, read_record, record, remove_record, run, run_id, stale, update,
};
use crate::harness::Data;

data_cases! { "resending":
    of_what_was_not_written_writes_it,
    of_every_kind_of_write,
    of_what_others_wrote_conflicts,
    of_what_others_changed_since_conflicts,
    of_a_redeemed_token,
    of_a_token_that_another_redeemed,
    of_a_lone_removal,
    of_removed_jobs_and_nodes,
    after_a_lost_answer,
    after_a_lost_answer_of_an_all_or_nothing_batch,
}

async fn of_what_was_not_written_writes_it(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let batch = Transaction::unfenced(vec![put_record(record("a", "x")), Write::InsertRun(run(1))]);
    assert_eq!(resend(&*store, batch).await.unwrap(), [APPLIED, APPLIED]);
    assert_eq!(read_record(&store, "a").await, Some(record("a", "x")));
    Verdict::Passed
}

async fn of_every_kind_of_write(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![Write::InsertRun(run(2)), put_job(job(2)), put_record(record("b", "x"))]).await;
    let writes = vec![
        Write::InsertRun(run(1)),
        update(&next(&run(2), |status| status.losses = 1)),
        Write::InsertAttempt(Box::new(attempt(run_id(2), 1))),
        Write::InsertEvent(Box::new(event(run_id(2), 1, 0))),
        put_job(job(1)),
        put_job(Job { revision: 2, ..job(2) }),
        Write::InsertJobVersion(Box::new(job_version(1, 1))),
        Write::PutNode(Box::new(node(1))),
        put_record(record("a", "x")),
        put_record(Record { revision: 2, ..record("b", "y") }),
    ];
    let count = writes.len();
    put(&store, writes.clone()).await;
    for batch in [Transaction::unfenced(writes.clone()), Transaction::all_or_nothing(writes)] {
        assert_eq!(resend(&*store, batch).await.unwrap(), vec![APPLIED; count]);
    }
    Verdict::Passed
}

async fn of_what_others_wrote_conflicts(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![put_record(record("a", "theirs")), put_job(Job { current_version: 9, ..job(1) })]).await;
    put(&store, vec![Write::PutNode(Box::new(Node { slots: 99, ..node(1) }))]).await;
    let writes = vec![
        put_record(record("a", "mine")),
        put_job(job(1)),
        Write::PutNode(Box::new(node(1))),
        put_record(record("b", "mine")),
    ];
    let whole = resend(&*store, Transaction::all_or_nothing(writes.clone())).await.unwrap();
    assert_eq!(whole, [exists(), exists(), exists(), Outcome::Undone]);
    let each = resend(&*store, Transaction::unfenced(writes)).await.unwrap();
    assert_eq!(each, [exists(), exists(), exists(), APPLIED]);
    Verdict::Passed
}

async fn of_what_others_changed_since_conflicts(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let writes = vec![put_record(record("a", "x")), put_record(record("b", "x"))];
    put(&store, writes.clone()).await;
    put(&store, vec![put_record(Record { revision: 2, ..record("a", "y") })]).await;
    let each = resend(&*store, Transaction::unfenced(writes.clone())).await.unwrap();
    assert_eq!(each, [exists(), APPLIED]);
    let whole = resend(&*store, Transaction::all_or_nothing(writes)).await.unwrap();
    assert_eq!(whole, [exists(), exists()]);
    Verdict::Passed
}

async fn of_a_redeemed_token(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![put_record(record("token", ""))]).await;
    let batch = redeem("mine");
    for _ in 0..3 {
        assert_eq!(resend(&*store, batch.clone()).await.unwrap(), [APPLIED, APPLIED]);
    }
    Verdict::Passed
}

async fn of_a_token_that_another_redeemed(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![put_record(record("token", ""))]).await;
    store.commit(redeem("theirs")).await.unwrap();
    assert_eq!(resend(&*store, redeem("mine")).await.unwrap(), [missing(), Outcome::Undone]);
    assert_eq!(read_record(&store, "mine").await, None);
    Verdict::Passed
}

async fn of_a_lone_removal(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![put_record(record("a", "")), put_record(record("b", ""))]).await;
    put(&store, vec![remove_record("a", 1)]).await;
    for batch in [Transaction::unfenced, Transaction::all_or_nothing] {
        let gone = resend(&*store, batch(vec![remove_record("a", 1)])).await.unwrap();
        assert_eq!(gone, [missing()], "who removed it cannot be told");
        let other = resend(&*store, batch(vec![remove_record("b", 4)])).await.unwrap();
        assert_eq!(other, [stale(1)]);
    }
    Verdict::Passed
}

async fn of_removed_jobs_and_nodes(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let made = [put_job(job(1)), Write::PutNode(Box::new(node(1)))];
    let removals =
        [Write::RemoveJob { id: job_id(1), expected: 1 }, Write::RemoveNode { id: node_id(1), expected: 1 }];
    for (n, (made, removal)) in made.into_iter().zip(removals).enumerate() {
        of_a_removal(&store, made, removal, &format!("audit {n}")).await;
    }
    Verdict::Passed
}

async fn of_a_removal(store: &Arc<dyn Store>, made: Write, removal: Write, audit: &str) {
    put(store, vec![made.clone()]).await;
    let batch = Transaction::all_or_nothing(vec![removal, put_record(record(audit, "removed it"))]);
    for _ in 0..2 {
        assert_eq!(resend(&**store, batch.clone()).await.unwrap(), [APPLIED, APPLIED]);
    }
    put(store, vec![made]).await;
    let again = resend(&**store, batch).await.unwrap();
    assert_eq!(again, [Outcome::Undone, exists()], "it is there again");
}

async fn after_a_lost_answer(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![put_record(record("b", "x"))]).await;
    let Some(cut) = data.open_cut_after_commit().await else { return Verdict::NotOffered };
    let writes = vec![put_record(record("a", "x")), put_record(Record { revision: 2, ..record("b", "y") })];
    lost(&cut, Transaction::unfenced(writes)).await;
    assert_eq!(read_record(&store, "b").await, Some(Record { revision: 2, ..record("b", "y") }));
    Verdict::Passed
}

async fn after_a_lost_answer_of_an_all_or_nothing_batch(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    put(&store, vec![put_record(Record { expires_at: Some(at(9)), ..record("token", "") })]).await;
    let Some(cut) = data.open_cut_after_commit().await else { return Verdict::NotOffered };
    lost(&cut, redeem("mine")).await;
    assert_eq!(read_record(&store, "token").await, None);
    assert_eq!(read_record(&store, "mine").await, Some(record("mine", "credential")));
    Verdict::Passed
}

/// The first answer is lost, and the batch was written; asked again, all of it is told as applied.
async fn lost(cut: &Arc<dyn Store>, batch: Transaction) {
    match cut.commit(batch.clone()).await {
        Ok(outcomes) => assert_eq!(outcomes, [APPLIED, APPLIED]),
        Err(error) => assert!(matches!(error, Error::Unknown(_)), "{error:?}"),
    }
    for _ in 0..2 {
        assert_eq!(resend(&**cut, batch.clone()).await.unwrap(), [APPLIED, APPLIED]);
    }
}

fn redeem(name: &str) -> Transaction {
    Transaction::all_or_nothing(vec![remove_record("token", 1), put_record(record(name, "credential"))])
}

fn put_job(job: Job) -> Write {
    Write::PutJob(Box::new(job))
}

async fn migrated(data: &Arc<dyn Data>) -> Arc<dyn Store> {
    let store = data.open().await;
    store.migrate().await.unwrap();
    store
}
