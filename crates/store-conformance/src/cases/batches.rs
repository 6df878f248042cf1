//! Batches: one answer for each write, in the order of the batch; a conflict stops nothing beside it.

use std::sync::Arc;

use mainspring_model::{CellId, Run, RunId, RunState, Shelf, limits};
use mainspring_store::{Outcome, RunQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, Owner, attempt, commit, counter_key, event, exists, full_attempt, full_head, full_job,
    full_node, full_status, job, job_version, key_taken, missing, next, node, pause, put, read_run, run,
    run_id, run_with, stale, update,
};

cases! { "batches":
    an_empty_batch_answers_nothing,
    inserts_of_1 => inserts(1),
    inserts_of_2 => inserts(2),
    inserts_of_1000 => inserts(1000),
    inserts_of_10000 => inserts(10_000),
    updates_of_1 => updates(1),
    updates_of_2 => updates(2),
    updates_of_1000 => updates(1000),
    updates_of_10000 => updates(10_000),
    a_fenced_batch_of_10000,
    every_third_write_conflicts,
    every_kind_of_conflict_in_one_batch,
    every_kind_of_write_in_one_batch,
    a_batch_in_descending_order_is_answered_in_its_order,
    rows_of_different_shapes_share_a_batch,
    many_attempts_events_and_nodes,
}

async fn an_empty_batch_answers_nothing(store: Arc<dyn Store>) {
    assert_eq!(commit(&store, vec![]).await, []);
}

/// Inserts `count` runs, of which the middle one exists, and finds all.
async fn inserts(store: Arc<dyn Store>, count: u64) {
    let middle = count / 2;
    put(&store, vec![Write::InsertRun(run(middle))]).await;
    let outcomes = commit(&store, (0..count).map(|n| Write::InsertRun(run(n))).collect()).await;
    assert_eq!(outcomes, expected(count, middle, exists()));
    assert_eq!(all_ids(&store).await, (0..count).map(run_id).collect::<Vec<_>>());
}

/// Updates `count` runs, of which the middle one has moved on.
async fn updates(store: Arc<dyn Store>, count: u64) {
    let middle = count / 2;
    put(&store, (0..count).map(|n| Write::InsertRun(run(n))).collect()).await;
    put(&store, vec![update(&moved(middle, RunState::Waiting))]).await;
    let outcomes = commit(&store, (0..count).map(|n| update(&moved(n, RunState::Failed))).collect()).await;
    assert_eq!(outcomes, expected(count, middle, stale(2)));
    for n in (0..count).step_by(1 + count as usize / 50) {
        let state = if n == middle { RunState::Waiting } else { RunState::Failed };
        assert_eq!(read_run(&store, run_id(n)).await, Some(moved(n, state)));
    }
}

async fn a_fenced_batch_of_10000(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let writes: Vec<Write> = (0..10_000).map(|n| Write::InsertRun(run(n))).collect();
    let batch = owner.batch(writes);
    assert_eq!(store.commit(batch.clone()).await.unwrap(), vec![APPLIED; 10_000]);
    assert_eq!(all_ids(&store).await.len(), 10_000);
    assert_eq!(store.leases().await.unwrap()[0].seq, 1);
}

async fn every_third_write_conflicts(store: Arc<dyn Store>) {
    put(&store, (0..300).step_by(3).map(|n| Write::InsertRun(run(n))).collect()).await;
    let outcomes = commit(&store, (0..300).map(|n| Write::InsertRun(run(n))).collect()).await;
    let expected: Vec<Outcome> = (0..300).map(|n| if n % 3 == 0 { exists() } else { APPLIED }).collect();
    assert_eq!(outcomes, expected);
}

async fn every_kind_of_conflict_in_one_batch(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(keyed(1)), Write::InsertRun(run(2)), write_job(1)]).await;
    let batch = vec![
        Write::InsertRun(run(1)),
        Write::InsertRun(run(10)),
        Write::InsertRun(keyed(11)),
        update(&next(&next(&run(2), |_| {}), |_| {})),
        update(&next(&run(12), |_| {})),
        write_job(1),
        write_job(2),
    ];
    let expected = [exists(), APPLIED, key_taken(run_id(1)), stale(1), missing(), exists(), APPLIED];
    assert_eq!(commit(&store, batch).await, expected);
}

async fn every_kind_of_write_in_one_batch(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(2))]).await;
    let moved = moved(2, RunState::Waiting);
    owner
        .put(vec![
            Write::PauseCell(Some(Box::new(pause("p")))),
            Write::AddCounts(Box::new((counter_key(1, 1), mainspring_model::Counts::default()))),
            Write::PutNode(Box::new(node(1))),
            Write::InsertJobVersion(Box::new(job_version(1, 1))),
            write_job(1),
            Write::InsertEvent(Box::new(event(run_id(2), 2, 0))),
            Write::InsertAttempt(Box::new(attempt(run_id(2), 1))),
            update(&moved),
            Write::InsertRun(run(1)),
        ])
        .await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
    assert_eq!(read_run(&store, run_id(2)).await, Some(moved));
    assert_eq!(store.attempts(run_id(2)).await.unwrap().len(), 1);
    assert_eq!(store.events(run_id(2)).await.unwrap().len(), 1);
    assert_eq!(store.job(job(1).id).await.unwrap(), Some(job(1)));
    assert_eq!(store.job_versions(&[(job(1).id, 1)]).await.unwrap().len(), 1);
    assert_eq!(store.nodes(CellId(0)).await.unwrap(), [node(1)]);
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(pause("p")));
}

async fn a_batch_in_descending_order_is_answered_in_its_order(store: Arc<dyn Store>) {
    // Stores lock rows in key order; the answers still follow the batch.
    put(&store, vec![Write::InsertRun(run(7)), Write::InsertRun(run(3))]).await;
    let outcomes = commit(&store, (0..10).rev().map(|n| Write::InsertRun(run(n))).collect()).await;
    let expected: Vec<Outcome> =
        (0..10).rev().map(|n| if n == 7 || n == 3 { exists() } else { APPLIED }).collect();
    assert_eq!(outcomes, expected);
    let mut updates: Vec<Write> = (0..10).rev().map(|n| update(&moved(n, RunState::Waiting))).collect();
    updates.insert(4, update(&moved(99, RunState::Waiting)));
    let mut expected = vec![APPLIED; 11];
    expected[4] = missing();
    assert_eq!(commit(&store, updates).await, expected);
}

async fn rows_of_different_shapes_share_a_batch(store: Arc<dyn Store>) {
    let full = Run { head: Arc::new(full_head(2)), status: full_status() };
    let writes = vec![
        Write::InsertRun(run(1)),
        Write::InsertRun(full.clone()),
        Write::InsertRun(run(3)),
        Write::PutNode(Box::new(node(1))),
        Write::PutNode(Box::new(full_node(2))),
        write_job(1),
        Write::PutJob(Box::new(full_job())),
        Write::InsertAttempt(Box::new(attempt(run_id(1), 1))),
        Write::InsertAttempt(Box::new(full_attempt(1, 2))),
    ];
    put(&store, writes).await;
    for row in [run(1), full, run(3)] {
        assert_eq!(read_run(&store, row.head.id).await, Some(row));
    }
    assert_eq!(store.node(full_node(2).id).await.unwrap(), Some(full_node(2)));
    assert_eq!(store.attempts(run_id(1)).await.unwrap(), [attempt(run_id(1), 1), full_attempt(1, 2)]);
}

async fn many_attempts_events_and_nodes(store: Arc<dyn Store>) {
    let attempts = (1..=700).map(|n| Write::InsertAttempt(Box::new(attempt(run_id(1), n))));
    let events = (1..=700).map(|n| Write::InsertEvent(Box::new(event(run_id(1), n, 0))));
    let nodes = (1..=700).map(|n| Write::PutNode(Box::new(node(n))));
    put(&store, attempts.chain(events).chain(nodes).collect()).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap().len(), 700);
    assert_eq!(store.events(run_id(1)).await.unwrap().len(), 700);
    assert_eq!(store.nodes(CellId(0)).await.unwrap().len(), 700);
}

/// Every id in the store, oldest first.
async fn all_ids(store: &Arc<dyn Store>) -> Vec<RunId> {
    let query = RunQuery { limit: limits::PAGE_ROWS_MAX, ..RunQuery::default() };
    let page = store.runs(query).await.unwrap();
    assert!(!page.more);
    page.rows.iter().rev().map(|run| run.head.id).collect()
}

fn expected(count: u64, middle: u64, conflict: Outcome) -> Vec<Outcome> {
    (0..count).map(|n| if n == middle { conflict.clone() } else { APPLIED }).collect()
}

fn moved(n: u64, state: RunState) -> Run {
    next(&run(n), |status| {
        status.state = state;
        status.place = Some(mainspring_model::Place { shelf: Shelf::Waiting, rank: n as i64 });
    })
}

fn keyed(n: u64) -> Run {
    run_with(n, |head, _| head.idempotency_key = Some("k".into()))
}

fn write_job(n: u64) -> Write {
    Write::PutJob(Box::new(job(n)))
}
