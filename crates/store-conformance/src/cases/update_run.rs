//! Updating a run: a compare-and-set on its version that replaces the whole status and never the head.

use std::sync::Arc;

use mainspring_model::{Epoch, Place, Run, RunState, Shelf};
use mainspring_store::{RunUpdate, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, commit, every_cause, full_head, full_status, missing, next, put, read_run, run, run_id, stale,
    update,
};

cases! { "update_run":
    the_status_is_replaced,
    the_head_stays,
    every_field_can_be_set,
    every_field_can_be_taken_back,
    a_missing_run_is_missing,
    a_run_that_was_never_inserted_is_not_made,
    an_older_version_conflicts_and_names_the_row,
    a_newer_version_conflicts_and_names_the_row,
    a_conflict_leaves_the_row_alone,
    the_same_values_under_the_next_version_are_applied,
    the_same_update_twice_is_applied_once,
    a_hundred_updates_in_a_row,
    other_runs_stay_as_they_are,
    an_insert_and_an_update_share_a_batch,
    a_large_version_is_exact,
    every_cause_can_replace_another,
    an_ended_run_keeps_its_key,
}

async fn the_status_is_replaced(store: Arc<dyn Store>) {
    let moved = placed(&inserted(&store, 1).await);
    put(&store, vec![update(&moved)]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(moved));
}

async fn the_head_stays(store: Arc<dyn Store>) {
    let first = Run { head: Arc::new(full_head(1)), status: run(1).status };
    put(&store, vec![Write::InsertRun(first.clone())]).await;
    put(&store, vec![update(&placed(&first))]).await;
    assert_eq!(read_run(&store, run_id(1)).await.unwrap().head, first.head);
}

async fn every_field_can_be_set(store: Arc<dyn Store>) {
    let first = inserted(&store, 1).await;
    let full = next(&first, |status| *status = mainspring_model::RunStatus { version: 2, ..full_status() });
    put(&store, vec![update(&full)]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(full));
}

async fn every_field_can_be_taken_back(store: Arc<dyn Store>) {
    let full = Run { head: run(1).head, status: full_status() };
    put(&store, vec![Write::InsertRun(full.clone())]).await;
    let version = full.status.version + 1;
    let bare = next(&full, |status| *status = mainspring_model::RunStatus { version, ..run(1).status });
    put(&store, vec![update(&bare)]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(bare));
}

async fn a_missing_run_is_missing(store: Arc<dyn Store>) {
    assert_eq!(commit(&store, vec![update(&placed(&run(1)))]).await, [missing()]);
}

async fn a_run_that_was_never_inserted_is_not_made(store: Arc<dyn Store>) {
    commit(&store, vec![update(&placed(&run(1)))]).await;
    assert_eq!(read_run(&store, run_id(1)).await, None);
}

async fn an_older_version_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    let third = third_version(&store).await;
    assert_eq!(commit(&store, vec![expecting(&third, 1)]).await, [stale(3)]);
    assert_eq!(commit(&store, vec![expecting(&third, 0)]).await, [stale(3)]);
}

async fn a_newer_version_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    let third = third_version(&store).await;
    assert_eq!(commit(&store, vec![expecting(&third, 4)]).await, [stale(3)]);
    assert_eq!(commit(&store, vec![expecting(&third, 1 << 50)]).await, [stale(3)]);
}

async fn a_conflict_leaves_the_row_alone(store: Arc<dyn Store>) {
    let third = third_version(&store).await;
    let mut other = third.clone();
    other.status = full_status();
    commit(&store, vec![expecting(&other, 1)]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(third));
}

async fn the_same_values_under_the_next_version_are_applied(store: Arc<dyn Store>) {
    let first = inserted(&store, 1).await;
    put(&store, vec![update(&next(&first, |_| {}))]).await;
}

async fn the_same_update_twice_is_applied_once(store: Arc<dyn Store>) {
    let moved = placed(&inserted(&store, 1).await);
    for expected in [APPLIED, stale(2), stale(2)] {
        assert_eq!(commit(&store, vec![update(&moved)]).await, [expected]);
    }
}

async fn a_hundred_updates_in_a_row(store: Arc<dyn Store>) {
    let mut row = inserted(&store, 1).await;
    for n in 0..100 {
        row = next(&row, |status| status.losses = n);
        put(&store, vec![update(&row)]).await;
    }
    assert_eq!(read_run(&store, run_id(1)).await, Some(row));
}

async fn other_runs_stay_as_they_are(store: Arc<dyn Store>) {
    put(&store, (1..=5).map(|n| Write::InsertRun(run(n))).collect()).await;
    put(&store, vec![update(&placed(&run(3)))]).await;
    for n in [1, 2, 4, 5] {
        assert_eq!(read_run(&store, run_id(n)).await, Some(run(n)));
    }
}

async fn an_insert_and_an_update_share_a_batch(store: Arc<dyn Store>) {
    let first = inserted(&store, 1).await;
    put(&store, vec![Write::InsertRun(run(2)), update(&placed(&first)), Write::InsertRun(run(3))]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(placed(&first)));
    assert_eq!(read_run(&store, run_id(3)).await, Some(run(3)));
}

async fn a_large_version_is_exact(store: Arc<dyn Store>) {
    let mut old = run(1);
    (old.status.version, old.status.epoch) = ((1 << 62) - 1, Epoch((1 << 62) + 1));
    put(&store, vec![Write::InsertRun(old.clone())]).await;
    let new = next(&old, |_| {});
    put(&store, vec![update(&new)]).await;
    assert_eq!(commit(&store, vec![update(&new)]).await, [stale(1 << 62)]);
    assert_eq!(read_run(&store, run_id(1)).await, Some(new));
}

async fn every_cause_can_replace_another(store: Arc<dyn Store>) {
    let mut row = inserted(&store, 1).await;
    for cause in every_cause() {
        row = next(&row, |status| status.cause = Some(cause));
        put(&store, vec![update(&row)]).await;
        assert_eq!(read_run(&store, run_id(1)).await.as_ref(), Some(&row));
    }
}

async fn an_ended_run_keeps_its_key(store: Arc<dyn Store>) {
    let first = Run { head: Arc::new(full_head(1)), status: run(1).status };
    put(&store, vec![Write::InsertRun(first.clone())]).await;
    let over = next(&first, |status| (status.state, status.place) = (RunState::Success, None));
    put(&store, vec![update(&over)]).await;
    let key = first.head.idempotency_key.as_deref().unwrap();
    assert_eq!(store.run_by_key(&first.head.namespace, key).await.unwrap(), Some(over));
}

async fn inserted(store: &Arc<dyn Store>, n: u64) -> Run {
    put(store, vec![Write::InsertRun(run(n))]).await;
    run(n)
}

async fn third_version(store: &Arc<dyn Store>) -> Run {
    let second = placed(&inserted(store, 1).await);
    let third = next(&second, |status| status.losses = 1);
    put(store, vec![update(&second)]).await;
    put(store, vec![update(&third)]).await;
    third
}

fn placed(run: &Run) -> Run {
    next(run, |status| {
        status.state = RunState::Running;
        status.place = Some(Place { shelf: Shelf::Flight, rank: 1 });
    })
}

/// An update to the row's own status, as if the row had version `expected`.
fn expecting(run: &Run, expected: u64) -> Write {
    let mut status = run.status.clone();
    status.version = expected + 1;
    Write::UpdateRun(RunUpdate { id: run.head.id, expected, status })
}
