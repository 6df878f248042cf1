//! A batch that is sent again after others wrote: their writes stay, and the answer tells what is there.

use std::sync::Arc;

use mainspring_model::{CellId, Job, Run, RunState};
use mainspring_store::{Error, Retention, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, Owner, at, job, missing, next, put, read_run, run, run_id, run_with, stale, update,
};

cases! { "replay_after_others":
    a_run_that_another_cell_moved_on_stays,
    a_job_that_another_replaced_stays,
    a_row_that_retention_removed_does_not_come_back,
    an_owner_that_was_deposed_learns_it,
    an_owner_that_released_learns_it,
}

async fn a_run_that_another_cell_moved_on_stays(store: Arc<dyn Store>) {
    let (mut one, mut other) = (Owner::of(&store, 1).await, Owner::of(&store, 2).await);
    put(&store, vec![Write::InsertRun(run_with(1, |_, status| status.cell = CellId(1)))]).await;
    let handed = next(&run(1), |status| (status.cell, status.epoch) = (CellId(2), one.fence.epoch));
    let batch = one.batch(vec![update(&handed)]);
    assert_eq!(store.commit(batch.clone()).await.unwrap(), [APPLIED]);
    let moved = next(&handed, |status| (status.epoch, status.losses) = (other.fence.epoch, 3));
    other.put(vec![update(&moved)]).await;
    assert_eq!(store.commit(batch).await.unwrap(), [stale(3)]);
    assert_eq!(read_run(&store, run_id(1)).await, Some(moved));
}

async fn a_job_that_another_replaced_stays(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let batch = owner.batch(vec![Write::PutJob(Box::new(job(1)))]);
    assert_eq!(store.commit(batch.clone()).await.unwrap(), [APPLIED]);
    let second = Job { revision: 2, current_version: 5, ..job(1) };
    put(&store, vec![Write::PutJob(Box::new(second.clone()))]).await;
    assert_eq!(store.commit(batch).await.unwrap(), [crate::fixture::exists()]);
    assert_eq!(store.job(job(1).id).await.unwrap(), Some(second));
}

async fn a_row_that_retention_removed_does_not_come_back(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let over = run_with(1, |_, status| {
        (status.state, status.place, status.epoch) = (RunState::Success, None, owner.fence.epoch);
    });
    let batch = owner.batch(vec![Write::InsertRun(over)]);
    assert_eq!(store.commit(batch.clone()).await.unwrap(), [APPLIED]);
    let rule = Retention { job: None, made_before: Some(at(1000)), keep_newest: None };
    assert_eq!(store.retain(rule, 10).await.unwrap(), 1);
    assert_eq!(store.commit(batch).await.unwrap(), [missing()]);
    assert_eq!(read_run(&store, run_id(1)).await, None);
}

async fn an_owner_that_was_deposed_learns_it(store: Arc<dyn Store>) {
    let mut old = Owner::of(&store, 0).await;
    let batch = old.batch(vec![Write::InsertRun(mine(&old, 1))]);
    assert_eq!(store.commit(batch.clone()).await.unwrap(), [APPLIED]);
    let mut new = Owner::after(&store, 0, 9).await;
    new.put(vec![]).await;
    let answer = store.commit(batch).await;
    assert!(matches!(answer, Err(Error::FenceLost { .. })), "{answer:?}");
}

async fn an_owner_that_released_learns_it(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let batch = owner.batch(vec![Write::InsertRun(mine(&owner, 1))]);
    assert_eq!(store.commit(batch.clone()).await.unwrap(), [APPLIED]);
    assert!(store.release_lease(CellId(0), owner.member, owner.fence.epoch).await.unwrap());
    let answer = store.commit(batch).await;
    assert!(matches!(answer, Err(Error::FenceLost { .. })), "{answer:?}");
}

fn mine(owner: &Owner, n: u64) -> Run {
    run_with(n, |_, status| status.epoch = owner.fence.epoch)
}
