//! Events of a run: rows that are written once and read in the order (version, ordinal).

use std::sync::Arc;

use mainspring_model::RunEvent;
use mainspring_store::{Store, Write};

use crate::case::cases;
use crate::fixture::{APPLIED, commit, event, every_event, exists, put, run_id};

cases! { "events":
    every_kind_is_kept,
    events_are_read_by_version_and_ordinal,
    an_event_that_exists_stays,
    events_belong_to_their_run,
    a_run_without_events_has_none,
    keys_are_exact,
}

async fn every_kind_is_kept(store: Arc<dyn Store>) {
    let rows: Vec<RunEvent> = every_event()
        .into_iter()
        .zip(0..)
        .map(|(kind, ordinal)| RunEvent { kind, ..event(run_id(1), 5, ordinal) })
        .collect();
    put(&store, rows.iter().cloned().map(insert).collect()).await;
    assert_eq!(store.events(run_id(1)).await.unwrap(), rows);
}

async fn events_are_read_by_version_and_ordinal(store: Arc<dyn Store>) {
    let keys = [(2, 1), (300, 0), (1, 9), (2, 0), (1, 10), (256, 0)];
    put(&store, keys.map(|(version, ordinal)| insert(event(run_id(1), version, ordinal))).to_vec()).await;
    assert_eq!(read_keys(&store).await, [(1, 9), (1, 10), (2, 0), (2, 1), (256, 0), (300, 0)]);
}

async fn an_event_that_exists_stays(store: Arc<dyn Store>) {
    put(&store, vec![insert(event(run_id(1), 1, 0))]).await;
    let other = RunEvent { kind: every_event().remove(0), ..event(run_id(1), 1, 0) };
    let batch = vec![insert(other), insert(event(run_id(1), 1, 1))];
    assert_eq!(commit(&store, batch).await, [exists(), APPLIED]);
    assert_eq!(store.events(run_id(1)).await.unwrap(), [event(run_id(1), 1, 0), event(run_id(1), 1, 1)]);
}

async fn events_belong_to_their_run(store: Arc<dyn Store>) {
    put(&store, (1..=4).map(|n| insert(event(run_id(n), 1, 0))).collect()).await;
    assert_eq!(store.events(run_id(2)).await.unwrap(), [event(run_id(2), 1, 0)]);
}

async fn a_run_without_events_has_none(store: Arc<dyn Store>) {
    assert_eq!(store.events(run_id(1)).await.unwrap(), []);
}

async fn keys_are_exact(store: Arc<dyn Store>) {
    let keys = [(1 << 62, u16::MAX), (1 << 62, 1 << 15), (1 << 32, 0)];
    let rows = keys.map(|(version, ordinal)| RunEvent { version, ..event(run_id(1), 1, ordinal) });
    put(&store, rows.map(insert).to_vec()).await;
    assert_eq!(read_keys(&store).await, [(1 << 32, 0), (1 << 62, 1 << 15), (1 << 62, u16::MAX)]);
}

async fn read_keys(store: &Arc<dyn Store>) -> Vec<(u64, u16)> {
    store.events(run_id(1)).await.unwrap().iter().map(|row| (row.version, row.ordinal)).collect()
}

fn insert(row: RunEvent) -> Write {
    Write::InsertEvent(Box::new(row))
}
