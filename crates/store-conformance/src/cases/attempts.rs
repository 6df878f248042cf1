//! Earlier attempts: rows that are written once, never changed, and read by run in the order of numbers.

use std::sync::Arc;

use mainspring_model::Attempt;
use mainspring_store::{Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, attempt, commit, every_cause, exists, full_attempt, next, put, run, run_id, update,
};

cases! { "attempts":
    an_attempt_is_kept_with_every_field,
    attempts_are_read_by_number,
    an_attempt_that_exists_stays,
    attempts_belong_to_their_run,
    a_run_without_attempts_has_none,
    every_cause_is_kept,
    an_attempt_is_written_with_its_run,
    numbers_are_exact,
}

async fn an_attempt_is_kept_with_every_field(store: Arc<dyn Store>) {
    put(&store, vec![insert(full_attempt(1, 1))]).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap(), [full_attempt(1, 1)]);
}

async fn attempts_are_read_by_number(store: Arc<dyn Store>) {
    for number in [3, 1, 300, 2, 255, 256] {
        put(&store, vec![insert(attempt(run_id(1), number))]).await;
    }
    let read: Vec<u32> =
        store.attempts(run_id(1)).await.unwrap().iter().map(|row| row.token.number).collect();
    assert_eq!(read, [1, 2, 3, 255, 256, 300]);
}

async fn an_attempt_that_exists_stays(store: Arc<dyn Store>) {
    put(&store, vec![insert(attempt(run_id(1), 1))]).await;
    assert_eq!(
        commit(&store, vec![insert(full_attempt(1, 1)), insert(full_attempt(1, 2))]).await,
        [exists(), APPLIED]
    );
    assert_eq!(store.attempts(run_id(1)).await.unwrap(), [attempt(run_id(1), 1), full_attempt(1, 2)]);
}

async fn attempts_belong_to_their_run(store: Arc<dyn Store>) {
    put(&store, (1..=4).map(|n| insert(attempt(run_id(n), 1))).collect()).await;
    assert_eq!(store.attempts(run_id(2)).await.unwrap(), [attempt(run_id(2), 1)]);
}

async fn a_run_without_attempts_has_none(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap(), []);
    assert_eq!(store.attempts(run_id(2)).await.unwrap(), []);
}

async fn every_cause_is_kept(store: Arc<dyn Store>) {
    let rows: Vec<Attempt> = every_cause()
        .into_iter()
        .zip(1..)
        .map(|(cause, number)| Attempt { cause, ..attempt(run_id(1), number) })
        .collect();
    put(&store, rows.iter().cloned().map(insert).collect()).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap(), rows);
}

async fn an_attempt_is_written_with_its_run(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let retried = next(&run(1), |status| status.attempt = 2);
    put(&store, vec![update(&retried), insert(attempt(run_id(1), 1))]).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap().len(), 1);
}

async fn numbers_are_exact(store: Arc<dyn Store>) {
    for number in [u32::MAX, 1 << 31, i32::MAX as u32] {
        put(&store, vec![insert(attempt(run_id(1), number))]).await;
    }
    let read: Vec<u32> =
        store.attempts(run_id(1)).await.unwrap().iter().map(|row| row.token.number).collect();
    assert_eq!(read, [i32::MAX as u32, 1 << 31, u32::MAX]);
}

fn insert(row: Attempt) -> Write {
    Write::InsertAttempt(Box::new(row))
}
