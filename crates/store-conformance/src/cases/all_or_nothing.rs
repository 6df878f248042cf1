//! Batches of which a conflict undoes all: a single-use token is redeemed once, and with it comes what it was good for.

use std::sync::Arc;

use mainspring_model::Job;
use mainspring_store::{Conflict, Outcome, Record, RecordKind, RecordQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, commit_whole, crowd, ended, exists, job, job_id, job_version, key_taken, missing, namespace,
    next, node, node_id, put, put_record, read_record, read_run, record, remove_record, run, run_id,
    run_with, stale, the_one, update,
};

const UNDONE: Outcome = Outcome::Undone;

cases! { "all_or_nothing":
    without_a_conflict_all_is_written,
    an_empty_batch,
    a_conflict_undoes_all_others,
    every_conflict_is_told,
    a_redeemed_token_gives_nothing_again,
    a_token_is_redeemed_by_one_of_64_tasks,
    a_taken_name_undoes_the_version,
    a_name_freed_in_an_undone_batch_stays_taken,
    a_key_within_the_batch_undoes_it,
    runs_nodes_and_updates_are_undone,
    an_undone_batch_may_be_sent_again,
    batches_in_opposite_order,
    an_undone_neighbour_undoes_nobody_else,
}

async fn without_a_conflict_all_is_written(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("token", "")), put_record(record("grants", "x"))]).await;
    let batch = vec![
        remove_record("token", 1),
        put_record(record("credential", "c")),
        put_record(Record { revision: 2, ..record("grants", "y") }),
        Write::InsertRun(run(1)),
        put_job(job(1)),
    ];
    assert_eq!(commit_whole(&store, batch).await, vec![APPLIED; 5]);
    assert_eq!(read_record(&store, "token").await, None);
    assert_eq!(read_record(&store, "credential").await, Some(record("credential", "c")));
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
}

async fn an_empty_batch(store: Arc<dyn Store>) {
    assert_eq!(commit_whole(&store, vec![]).await, []);
}

async fn a_conflict_undoes_all_others(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x"))]).await;
    for at in 0..3 {
        let mut batch = vec![put_record(record("b", "y")), put_record(record("c", "y"))];
        batch.insert(at, put_record(record("a", "y")));
        let mut expected = vec![UNDONE; 3];
        expected[at] = exists();
        assert_eq!(commit_whole(&store, batch).await, expected);
        assert_eq!(keys(&store).await, ["a"]);
    }
    assert_eq!(read_record(&store, "a").await, Some(record("a", "x")));
}

async fn every_conflict_is_told(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x")), put_record(record("b", "x"))]).await;
    let batch = vec![
        put_record(record("a", "y")),
        remove_record("b", 1),
        put_record(Record { revision: 5, ..record("b2", "y") }),
        remove_record("c", 1),
        put_record(record("d", "y")),
    ];
    assert_eq!(commit_whole(&store, batch).await, [exists(), UNDONE, missing(), missing(), UNDONE]);
    let stale_batch = vec![remove_record("a", 9), remove_record("b", 1)];
    assert_eq!(commit_whole(&store, stale_batch).await, [stale(1), UNDONE]);
    assert_eq!(keys(&store).await, ["a", "b"]);
}

async fn a_redeemed_token_gives_nothing_again(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("token", ""))]).await;
    let redeem = |name: &str| vec![remove_record("token", 1), put_record(record(name, "credential"))];
    assert_eq!(commit_whole(&store, redeem("one")).await, [APPLIED, APPLIED]);
    assert_eq!(commit_whole(&store, redeem("other")).await, [missing(), UNDONE]);
    assert_eq!(keys(&store).await, ["one"]);
}

async fn a_token_is_redeemed_by_one_of_64_tasks(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("token", ""))]).await;
    let answers = crowd(64, |n| {
        let store = Arc::clone(&store);
        // The token stands after, before and between what it is good for.
        let mut batch =
            vec![put_record(record(&format!("m{n}"), "")), put_record(record(&format!("z{n}"), ""))];
        batch.insert(n as usize % 3, remove_record("token", 1));
        async move { commit_whole(&store, batch).await }
    })
    .await;
    let winner = the_one(&answers, |answer| *answer == [APPLIED, APPLIED, APPLIED]);
    for (n, answer) in (0..).zip(&answers).filter(|(n, _)| *n != winner) {
        let at = n as usize % 3;
        let expected: Vec<Outcome> = (0..3).map(|k| if k == at { missing() } else { UNDONE }).collect();
        assert_eq!(*answer, expected, "task {n}");
    }
    assert_eq!(keys(&store).await, [format!("m{winner}"), format!("z{winner}")]);
}

async fn a_taken_name_undoes_the_version(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    let batch = vec![
        put_job(Job { name: job(1).name, ..job(2) }),
        Write::InsertJobVersion(Box::new(job_version(2, 1))),
        put_record(record("audit", "made job 2")),
    ];
    assert_eq!(commit_whole(&store, batch).await, [name_taken(), UNDONE, UNDONE]);
    assert_eq!(store.job_versions(&[(job_id(2), 1)]).await.unwrap(), []);
    assert_eq!(keys(&store).await, Vec::<String>::new());
}

async fn a_name_freed_in_an_undone_batch_stays_taken(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    let batch = vec![
        Write::RemoveJob { id: job_id(1), expected: 1 },
        put_job(Job { name: job(1).name, ..job(2) }),
        put_job(Job { name: job(1).name, ..job(3) }),
    ];
    assert_eq!(commit_whole(&store, batch).await, [UNDONE, UNDONE, name_taken()]);
    let holder = store.job_by_name(&namespace("acme"), &job(1).name).await.unwrap();
    assert_eq!(holder, Some(job(1)));
}

async fn a_key_within_the_batch_undoes_it(store: Arc<dyn Store>) {
    let keyed = |n| Write::InsertRun(run_with(n, |head, _| head.idempotency_key = Some("k".into())));
    let batch = vec![keyed(2), keyed(1), Write::InsertRun(run(3))];
    assert_eq!(commit_whole(&store, batch).await, [UNDONE, key_taken(run_id(2)), UNDONE]);
    assert_eq!(store.run_by_key(&namespace("acme"), "k").await.unwrap(), None);
}

async fn runs_nodes_and_updates_are_undone(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1)), put_record(record("a", "x"))]).await;
    let batch = vec![
        Write::InsertRun(ended(2)),
        update(&next(&run(1), |status| status.losses = 7)),
        Write::PutNode(Box::new(node(1))),
        put_record(record("a", "y")),
    ];
    assert_eq!(commit_whole(&store, batch).await, [UNDONE, UNDONE, UNDONE, exists()]);
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
    assert_eq!(read_run(&store, run_id(2)).await, None);
    assert_eq!(store.node(node_id(1)).await.unwrap(), None);
}

async fn an_undone_batch_may_be_sent_again(store: Arc<dyn Store>) {
    put(&store, vec![put_record(record("a", "x"))]).await;
    let batch = vec![put_record(record("a", "y")), put_record(record("b", "y"))];
    assert_eq!(commit_whole(&store, batch.clone()).await, [exists(), UNDONE]);
    put(&store, vec![remove_record("a", 1)]).await;
    assert_eq!(commit_whole(&store, batch).await, [APPLIED, APPLIED]);
}

async fn batches_in_opposite_order(store: Arc<dyn Store>) {
    put(&store, (0..8).map(|n| put_record(record(&format!("k{n}"), ""))).collect()).await;
    let answers = crowd(16, |n| {
        let store = Arc::clone(&store);
        async move {
            // Half of them replace what the other half removes: whoever is first has all.
            let write = |k: u64| {
                let key = format!("k{k}");
                if k % 2 == n % 2 {
                    put_record(Record { revision: 2, ..record(&key, "") })
                } else {
                    remove_record(&key, 1)
                }
            };
            commit_whole(&store, (0..8).map(write).collect()).await
        }
    })
    .await;
    let winner = the_one(&answers, |answer| *answer == vec![APPLIED; 8]);
    let expected: Vec<String> = (0..8).filter(|k| k % 2 == winner % 2).map(|k| format!("k{k}")).collect();
    assert_eq!(keys(&store).await, expected);
}

async fn an_undone_neighbour_undoes_nobody_else(store: Arc<dyn Store>) {
    // Batches that arrive together may share a transaction of the server.
    put(&store, vec![put_record(record("taken", ""))]).await;
    let answers = crowd(32, |n| {
        let store = Arc::clone(&store);
        let mine = put_record(record(&format!("k{n:02}"), ""));
        let batch = if n % 2 == 0 { vec![mine, put_record(record("taken", "again"))] } else { vec![mine] };
        async move { commit_whole(&store, batch).await }
    })
    .await;
    for (n, answer) in answers.iter().enumerate() {
        let expected = if n % 2 == 0 { vec![UNDONE, exists()] } else { vec![APPLIED] };
        assert_eq!(*answer, expected, "task {n}");
    }
    assert_eq!(keys(&store).await.len(), 17);
}

async fn keys(store: &Arc<dyn Store>) -> Vec<String> {
    let page = store.records(RecordQuery::all(RecordKind(1), 1000)).await.unwrap();
    page.rows.iter().map(|row| String::from_utf8(row.key.as_bytes().to_vec()).unwrap()).collect()
}

fn put_job(job: Job) -> Write {
    Write::PutJob(Box::new(job))
}

fn name_taken() -> Outcome {
    Outcome::Conflict(Conflict::KeyTaken(None))
}
