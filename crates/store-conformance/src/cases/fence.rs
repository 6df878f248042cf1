//! The fence: only the holder of the epoch writes, in turn; a deposed owner's batch leaves nothing (I9).

use std::sync::Arc;

use mainspring_model::{CellId, Counts, Epoch, Timestamp};
use mainspring_store::{CounterQuery, Error, Fence, LeaseGrant, Outcome, Result, Store, Transaction, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, Owner, acquire, at, attempt, counter_key, event, exists, job, job_version, next, node, node_id,
    pause, put, read_run, run, run_id, update,
};

cases! { "fence":
    the_first_seq_is_one,
    each_commit_advances_the_seq,
    an_empty_batch_advances_the_seq,
    a_batch_of_conflicts_advances_the_seq,
    a_commit_without_a_fence_does_not,
    a_cell_that_nobody_took_is_lost,
    an_older_epoch_is_lost,
    an_epoch_that_was_never_granted_is_lost,
    the_epoch_of_another_cell_is_lost,
    a_released_lease_is_lost,
    an_own_new_epoch_deposes_the_old,
    a_lease_past_its_end_still_fences,
    a_lost_fence_writes_nothing_of_any_kind,
    a_lost_fence_leaves_the_new_owners_seq,
    a_seq_ahead_is_invalid,
    a_seq_behind_is_invalid,
    a_seq_of_zero_is_invalid,
    an_invalid_seq_writes_nothing,
    the_seq_begins_anew_with_each_epoch,
    the_lost_epoch_weighs_more_than_the_seq,
    cells_are_fenced_apart,
    an_owner_may_insert_into_another_cell,
    a_renewal_does_not_touch_the_seq,
}

async fn the_first_seq_is_one(store: Arc<dyn Store>) {
    let owner = Owner::of(&store, 0).await;
    assert_eq!((owner.fence.epoch, owner.fence.seq), (Epoch(1), 0));
    let fence = Fence { seq: 1, ..owner.fence };
    assert_eq!(insert(&store, fence, 1).await.unwrap(), [APPLIED]);
    assert_eq!(seq(&store, 0).await, 1);
}

async fn each_commit_advances_the_seq(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for n in 1..=5 {
        owner.put(vec![Write::InsertRun(run(n))]).await;
        assert_eq!(seq(&store, 0).await, n);
    }
}

async fn an_empty_batch_advances_the_seq(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    assert_eq!(seq(&store, 0).await, 1);
    owner.put(vec![Write::InsertRun(run(1))]).await;
}

async fn a_batch_of_conflicts_advances_the_seq(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(owner.commit(vec![Write::InsertRun(run(1))]).await, [exists()]);
    assert_eq!(seq(&store, 0).await, 1);
}

async fn a_commit_without_a_fence_does_not(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(seq(&store, 0).await, 0);
    owner.put(vec![Write::InsertRun(run(2))]).await;
}

async fn a_cell_that_nobody_took_is_lost(store: Arc<dyn Store>) {
    for epoch in [0, 1] {
        let fence = Fence { cell: CellId(0), epoch: Epoch(epoch), seq: 1 };
        is_lost(&store, insert(&store, fence, 1).await, fence).await;
    }
}

async fn an_older_epoch_is_lost(store: Arc<dyn Store>) {
    let old = Owner::of(&store, 0).await;
    let _new = Owner::after(&store, 0, 9).await;
    let fence = Fence { seq: 1, ..old.fence };
    is_lost(&store, insert(&store, fence, 1).await, fence).await;
}

async fn an_epoch_that_was_never_granted_is_lost(store: Arc<dyn Store>) {
    let owner = Owner::of(&store, 0).await;
    let fence = Fence { epoch: Epoch(2), seq: 1, ..owner.fence };
    is_lost(&store, insert(&store, fence, 1).await, fence).await;
}

async fn the_epoch_of_another_cell_is_lost(store: Arc<dyn Store>) {
    let owner = Owner::of(&store, 0).await;
    let fence = Fence { cell: CellId(1), seq: 1, ..owner.fence };
    is_lost(&store, insert(&store, fence, 1).await, fence).await;
}

async fn a_released_lease_is_lost(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    assert!(store.release_lease(CellId(0), owner.member, owner.fence.epoch).await.unwrap());
    for seq in [2, 1] {
        let fence = Fence { seq, ..owner.fence };
        is_lost(&store, insert(&store, fence, 1).await, fence).await;
    }
}

async fn an_own_new_epoch_deposes_the_old(store: Arc<dyn Store>) {
    let old = Owner::of(&store, 0).await;
    let LeaseGrant::Granted(lease) = acquire(&store, 0, 0, None, at(1)).await else { panic!("held") };
    let fence = Fence { seq: 1, ..old.fence };
    is_lost(&store, insert(&store, fence, 1).await, fence).await;
    Owner::with(&store, &lease).put(vec![Write::InsertRun(run(1))]).await;
}

async fn a_lease_past_its_end_still_fences(store: Arc<dyn Store>) {
    let LeaseGrant::Granted(lease) = acquire(&store, 0, 0, None, Timestamp::ZERO).await else {
        panic!("held")
    };
    Owner::with(&store, &lease).put(vec![Write::InsertRun(run(1))]).await;
}

async fn a_lost_fence_writes_nothing_of_any_kind(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(2))]).await;
    let mut old = Owner::of(&store, 0).await;
    let _new = Owner::after(&store, 0, 9).await;
    let writes = vec![
        Write::InsertRun(run(1)),
        update(&next(&run(2), |_| {})),
        Write::InsertAttempt(Box::new(attempt(run_id(2), 1))),
        Write::InsertEvent(Box::new(event(run_id(2), 2, 0))),
        Write::PutJob(Box::new(job(1))),
        Write::InsertJobVersion(Box::new(job_version(1, 1))),
        Write::PutNode(Box::new(node(1))),
        Write::AddCounts(Box::new((counter_key(1, 1), Counts { success: 1, ..Counts::default() }))),
        Write::PauseCell(Some(Box::new(pause("p")))),
    ];
    let answer = old.try_commit(writes).await;
    is_lost(&store, answer, old.fence).await;
    assert_eq!(read_run(&store, run_id(2)).await, Some(run(2)));
    assert_eq!(store.attempts(run_id(2)).await.unwrap(), []);
    assert_eq!(store.events(run_id(2)).await.unwrap(), []);
    assert_eq!(store.job(job(1).id).await.unwrap(), None);
    assert_eq!(store.job_versions(&[(job(1).id, 1)]).await.unwrap(), []);
    assert_eq!(store.node(node_id(1)).await.unwrap(), None);
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), None);
    let query = CounterQuery {
        namespace: None,
        job: None,
        from: Timestamp::ZERO,
        until: Timestamp::MAX,
        after: None,
        limit: 10,
    };
    assert_eq!(store.counters(query).await.unwrap().rows, []);
}

async fn a_lost_fence_leaves_the_new_owners_seq(store: Arc<dyn Store>) {
    let mut old = Owner::of(&store, 0).await;
    let mut new = Owner::after(&store, 0, 9).await;
    new.put(vec![]).await;
    new.put(vec![]).await;
    for _ in 0..4 {
        assert!(old.try_commit(vec![Write::InsertRun(run(1))]).await.is_err());
    }
    assert_eq!(seq(&store, 0).await, 2);
    new.put(vec![Write::InsertRun(run(1))]).await;
}

async fn a_seq_ahead_is_invalid(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    for seq in [3, 4, 1000, 1 << 62] {
        is_invalid(insert(&store, Fence { seq, ..owner.fence }, 1).await);
    }
}

async fn a_seq_behind_is_invalid(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for _ in 0..5 {
        owner.put(vec![]).await;
    }
    for seq in [1, 3, 4] {
        is_invalid(insert(&store, Fence { seq, ..owner.fence }, 1).await);
    }
}

async fn a_seq_of_zero_is_invalid(store: Arc<dyn Store>) {
    let owner = Owner::of(&store, 0).await;
    is_invalid(insert(&store, owner.fence, 1).await);
    assert_eq!(read_run(&store, run_id(1)).await, None);
}

async fn an_invalid_seq_writes_nothing(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    is_invalid(insert(&store, Fence { seq: 2, ..owner.fence }, 1).await);
    assert_eq!(read_run(&store, run_id(1)).await, None);
    assert_eq!(seq(&store, 0).await, 0);
    owner.put(vec![Write::InsertRun(run(1))]).await;
}

async fn the_seq_begins_anew_with_each_epoch(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    owner.put(vec![]).await;
    let mut other = Owner::after(&store, 0, 9).await;
    assert_eq!(seq(&store, 0).await, 0);
    other.put(vec![]).await;
    assert_eq!(seq(&store, 0).await, 1);
}

async fn the_lost_epoch_weighs_more_than_the_seq(store: Arc<dyn Store>) {
    let old = Owner::of(&store, 0).await;
    let _new = Owner::after(&store, 0, 9).await;
    for seq in [5, 100] {
        let fence = Fence { seq, ..old.fence };
        is_lost(&store, insert(&store, fence, 1).await, fence).await;
    }
}

async fn cells_are_fenced_apart(store: Arc<dyn Store>) {
    let (mut one, mut other) = (Owner::of(&store, 1).await, Owner::of(&store, 2).await);
    one.put(vec![Write::InsertRun(run(1))]).await;
    one.put(vec![]).await;
    other.put(vec![Write::InsertRun(run(2))]).await;
    let _new = Owner::after(&store, 1, 9).await;
    other.put(vec![Write::InsertRun(run(3))]).await;
    assert_eq!((seq(&store, 1).await, seq(&store, 2).await), (0, 2));
}

async fn an_owner_may_insert_into_another_cell(store: Arc<dyn Store>) {
    let child = crate::fixture::run_in(7, 1);
    Owner::of(&store, 0).await.put(vec![Write::InsertRun(child.clone())]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(child));
}

async fn a_renewal_does_not_touch_the_seq(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    assert!(
        store.renew_lease(CellId(0), owner.member, owner.fence.epoch, at(99_999)).await.unwrap().is_some()
    );
    assert_eq!(seq(&store, 0).await, 1);
    owner.put(vec![]).await;
}

async fn insert(store: &Arc<dyn Store>, fence: Fence, n: u64) -> Result<Vec<Outcome>> {
    store.commit(Transaction::fenced(fence, vec![Write::InsertRun(run(n))])).await
}

async fn is_lost(store: &Arc<dyn Store>, answer: Result<Vec<Outcome>>, fence: Fence) {
    match answer {
        Err(Error::FenceLost { cell, epoch }) => assert_eq!((cell, epoch), (fence.cell, fence.epoch)),
        other => panic!("the fence {fence:?} should be lost: {other:?}"),
    }
    assert_eq!(read_run(store, run_id(1)).await, None);
}

fn is_invalid(answer: Result<Vec<Outcome>>) {
    assert!(matches!(answer, Err(Error::Invalid(_))), "{answer:?}");
}

async fn seq(store: &Arc<dyn Store>, cell: u16) -> u64 {
    let leases = store.leases().await.unwrap();
    leases.iter().find(|lease| lease.cell == CellId(cell)).unwrap().seq
}
