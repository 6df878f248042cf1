//! Many tasks at one row: exactly one wins, the others learn what it wrote, and nobody is left hanging.

use std::sync::Arc;

use mainspring_model::{Job, Node, Run, RunState};
use mainspring_store::{Conflict, Outcome, RunQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, commit, crowd, exists, job, key_taken, namespace, next, node, put, read_run, run, run_id,
    run_ids, run_with, stale, the_one, update,
};

cases! { "races":
    one_key_from_64_tasks,
    one_key_from_64_tasks_among_others,
    one_id_from_64_tasks,
    one_version_from_64_tasks,
    one_name_from_64_tasks,
    one_job_revision_from_64_tasks,
    one_node_revision_from_64_tasks,
    different_runs_from_64_tasks,
    no_update_is_lost,
    updates_in_opposite_order,
    inserts_in_opposite_order,
    keys_in_opposite_order,
    jobs_and_nodes_in_opposite_order,
    readers_see_batches_whole,
    members_from_many_tasks,
}

async fn one_key_from_64_tasks(store: Arc<dyn Store>) {
    let answers = crowd(64, |n| one(&store, Write::InsertRun(keyed(n)))).await;
    let winner = the_one(&answers, |answer| *answer == APPLIED);
    for (n, answer) in (0..).zip(&answers).filter(|(n, _)| *n != winner) {
        assert_eq!(*answer, key_taken(run_id(winner)), "task {n}");
        assert_eq!(read_run(&store, run_id(n)).await, None);
    }
    let holder = store.run_by_key(&namespace("acme"), "k").await.unwrap();
    assert_eq!(holder, Some(keyed(winner)));
}

async fn one_key_from_64_tasks_among_others(store: Arc<dyn Store>) {
    // The contested row stands in the middle of a batch; its neighbours are written whoever wins.
    let batch = |n: u64| {
        let around = (0..10).map(move |k| Write::InsertRun(run(1000 + n * 10 + k)));
        let mut writes: Vec<Write> = around.collect();
        writes.insert(5, Write::InsertRun(keyed(n)));
        writes
    };
    let answers = crowd(64, |n| many(&store, batch(n))).await;
    let winner = the_one(&answers, |answer| answer[5] == APPLIED);
    for (n, mut answer) in (0..).zip(answers) {
        let contested = answer.remove(5);
        assert_eq!(answer, vec![APPLIED; 10]);
        assert!(n == winner || contested == key_taken(run_id(winner)), "task {n}: {contested:?}");
    }
    let page = store.runs(RunQuery { limit: 10_000, ..RunQuery::default() }).await.unwrap();
    assert_eq!(page.rows.len(), 641);
}

async fn one_id_from_64_tasks(store: Arc<dyn Store>) {
    let mine = |n: u64| run_with(1, |head, _| head.params = n.to_be_bytes().to_vec().into());
    let answers = crowd(64, |n| one(&store, Write::InsertRun(mine(n)))).await;
    let winner = the_one(&answers, |answer| *answer == APPLIED);
    assert_eq!(answers.iter().filter(|answer| **answer == exists()).count(), 63);
    assert_eq!(read_run(&store, run_id(1)).await, Some(mine(winner)));
}

async fn one_version_from_64_tasks(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let mine = |n: u64| next(&run(1), |status| status.losses = n as u32);
    let answers = crowd(64, |n| one(&store, update(&mine(n)))).await;
    let winner = the_one(&answers, |answer| *answer == APPLIED);
    assert_eq!(answers.iter().filter(|answer| **answer == stale(2)).count(), 63);
    assert_eq!(read_run(&store, run_id(1)).await, Some(mine(winner)));
}

async fn one_name_from_64_tasks(store: Arc<dyn Store>) {
    let mine = |n: u64| Job { name: "one".into(), ..job(n) };
    let answers = crowd(64, |n| one(&store, Write::PutJob(Box::new(mine(n))))).await;
    let winner = the_one(&answers, |answer| *answer == APPLIED);
    let taken = Outcome::Conflict(Conflict::KeyTaken(None));
    assert_eq!(answers.iter().filter(|answer| **answer == taken).count(), 63);
    assert_eq!(store.job_by_name(&namespace("acme"), "one").await.unwrap(), Some(mine(winner)));
}

async fn one_job_revision_from_64_tasks(store: Arc<dyn Store>) {
    put(&store, vec![Write::PutJob(Box::new(job(1)))]).await;
    let mine = |n: u64| Job { revision: 2, current_version: n as u32, ..job(1) };
    let answers = crowd(64, |n| one(&store, Write::PutJob(Box::new(mine(n))))).await;
    let winner = the_one(&answers, |answer| *answer == APPLIED);
    assert_eq!(answers.iter().filter(|answer| **answer == stale(2)).count(), 63);
    assert_eq!(store.job(job(1).id).await.unwrap(), Some(mine(winner)));
}

async fn one_node_revision_from_64_tasks(store: Arc<dyn Store>) {
    put(&store, vec![Write::PutNode(Box::new(node(1)))]).await;
    let mine = |n: u64| Node { revision: 2, slots: n as u32, ..node(1) };
    let answers = crowd(64, |n| one(&store, Write::PutNode(Box::new(mine(n))))).await;
    let winner = the_one(&answers, |answer| *answer == APPLIED);
    assert_eq!(answers.iter().filter(|answer| **answer == stale(2)).count(), 63);
    assert_eq!(store.node(node(1).id).await.unwrap(), Some(mine(winner)));
}

async fn different_runs_from_64_tasks(store: Arc<dyn Store>) {
    let batch = |n: u64| (0..10).map(|k| Write::InsertRun(run(n + 64 * k))).collect();
    for answer in crowd(64, |n| many(&store, batch(n))).await {
        assert_eq!(answer, vec![APPLIED; 10]);
    }
    let page = store.runs(RunQuery { limit: 1000, ..RunQuery::default() }).await.unwrap();
    assert_eq!(run_ids(&page), (0..640).rev().map(run_id).collect::<Vec<_>>());
}

async fn no_update_is_lost(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let count_up = |_| {
        let store = Arc::clone(&store);
        async move {
            let mut done = 0;
            for _ in 0..10_000 {
                if done == 5 {
                    return;
                }
                tokio::task::yield_now().await;
                let row = read_run(&store, run_id(1)).await.unwrap();
                let counted = next(&row, |status| status.losses += 1);
                done += u32::from(commit(&store, vec![update(&counted)]).await == [APPLIED]);
            }
            panic!("{done} of 5 after 10,000 tries");
        }
    };
    crowd(16, count_up).await;
    let row = read_run(&store, run_id(1)).await.unwrap();
    assert_eq!((row.status.losses, row.status.version), (80, 81));
}

async fn updates_in_opposite_order(store: Arc<dyn Store>) {
    put(&store, (0..50).map(|n| Write::InsertRun(run(n))).collect()).await;
    let mut rows: Vec<Run> = (0..50).map(run).collect();
    for round in 0..10 {
        let moved: Vec<Run> = rows.iter().map(|row| next(row, |status| status.losses = round)).collect();
        let forwards: Vec<Write> = moved.iter().map(update).collect();
        let backwards: Vec<Write> = moved.iter().rev().map(update).collect();
        let answers =
            crowd(8, |n| many(&store, if n % 2 == 0 { forwards.clone() } else { backwards.clone() })).await;
        // Batches are atomic, so one has all rows and the others find all of them moved on.
        let winner = the_one(&answers, |answer| answer.contains(&APPLIED));
        let version = u64::from(round) + 2;
        for (n, answer) in (0..).zip(answers) {
            let expected = if n == winner { APPLIED } else { stale(version) };
            assert_eq!(answer, vec![expected; 50], "task {n} of round {round}");
        }
        rows = moved;
    }
}

async fn inserts_in_opposite_order(store: Arc<dyn Store>) {
    for round in 0..10 {
        let forwards: Vec<Write> = (0..50).map(|n| Write::InsertRun(run(round * 50 + n))).collect();
        let backwards: Vec<Write> = forwards.iter().rev().cloned().collect();
        let answers =
            crowd(8, |n| many(&store, if n % 2 == 0 { forwards.clone() } else { backwards.clone() })).await;
        let winner = the_one(&answers, |answer| answer.contains(&APPLIED));
        for (n, answer) in (0..).zip(answers) {
            assert_eq!(answer, vec![if n == winner { APPLIED } else { exists() }; 50], "round {round}");
        }
    }
}

async fn keys_in_opposite_order(store: Arc<dyn Store>) {
    // Different ids, the same keys: the order of the ids is not the order of the unique index.
    let batch = |task: u64, round: u64| {
        let row = |key: u64| {
            run_with(round * 1000 + task * 20 + key, |head, _| {
                let key = if task.is_multiple_of(2) { key } else { 19 - key };
                head.idempotency_key = Some(format!("{round} {key}").into());
            })
        };
        (0..20).map(|key| Write::InsertRun(row(key))).collect::<Vec<_>>()
    };
    for round in 0..5 {
        let answers = crowd(8, |n| many(&store, batch(n, round))).await;
        let winner = the_one(&answers, |answer| answer.contains(&APPLIED));
        for (n, answer) in (0..).zip(&answers) {
            let all_won = answer.iter().all(|outcome| *outcome == APPLIED);
            let is_taken =
                |outcome: &Outcome| matches!(outcome, Outcome::Conflict(Conflict::KeyTaken(Some(_))));
            let all_lost = answer.iter().all(is_taken);
            assert!(if n == winner { all_won } else { all_lost }, "task {n}: {answer:?}");
        }
    }
}

async fn jobs_and_nodes_in_opposite_order(store: Arc<dyn Store>) {
    let writes = |revision: u64| {
        (0..20).flat_map(move |n| {
            [
                Write::PutJob(Box::new(Job { revision, ..job(n) })),
                Write::PutNode(Box::new(Node { revision, ..node(n) })),
            ]
        })
    };
    for revision in 1..=5 {
        let forwards: Vec<Write> = writes(revision).collect();
        let backwards: Vec<Write> = forwards.iter().rev().cloned().collect();
        let answers =
            crowd(8, |n| many(&store, if n % 2 == 0 { forwards.clone() } else { backwards.clone() })).await;
        the_one(&answers, |answer| answer.iter().all(|outcome| *outcome == APPLIED));
    }
}

async fn readers_see_batches_whole(store: Arc<dyn Store>) {
    // Ten rows always move together; a page that shows them apart has seen half a batch.
    put(&store, (0..10).map(|n| Write::InsertRun(run(n))).collect()).await;
    let writer = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut rows: Vec<Run> = (0..10).map(run).collect();
            for _ in 0..50 {
                rows = rows.iter().map(|row| next(row, |status| status.losses += 1)).collect();
                put(&store, rows.iter().map(update).collect()).await;
            }
        })
    };
    while !writer.is_finished() {
        tokio::task::yield_now().await;
        let query = RunQuery { states: vec![RunState::Ready], limit: 100, ..RunQuery::default() };
        let page = store.runs(query).await.unwrap();
        let losses: Vec<u32> = page.rows.iter().map(|run| run.status.losses).collect();
        assert_eq!(losses.len(), 10);
        assert!(losses.iter().all(|seen| *seen == losses[0]), "half a batch: {losses:?}");
    }
    writer.await.unwrap();
}

async fn members_from_many_tasks(store: Arc<dyn Store>) {
    let say = |n: u64| {
        let store = Arc::clone(&store);
        async move {
            for load in 0..5 {
                let member = mainspring_model::Member {
                    id: crate::fixture::member_id(n % 8),
                    address: "x".into(),
                    seen_at: crate::fixture::at(1),
                    load,
                    software: "1".into(),
                };
                store.put_member(member).await.unwrap();
            }
        }
    };
    crowd(32, say).await;
    assert_eq!(store.members().await.unwrap().len(), 8);
}

fn many(store: &Arc<dyn Store>, writes: Vec<Write>) -> impl Future<Output = Vec<Outcome>> + Send + use<> {
    let store = Arc::clone(store);
    async move { commit(&store, writes).await }
}

fn one(store: &Arc<dyn Store>, write: Write) -> impl Future<Output = Outcome> + Send + use<> {
    let answer = many(store, vec![write]);
    async move { answer.await.remove(0) }
}

fn keyed(n: u64) -> Run {
    run_with(n, |head, _| head.idempotency_key = Some("k".into()))
}
