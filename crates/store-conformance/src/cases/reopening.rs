//! Data that outlive their handles, handles beside each other, and a commit whose answer was lost (I13).

use std::sync::Arc;

use mainspring_model::{CellId, Counts, Epoch, Run, Shelf, Timestamp};
use mainspring_store::{CounterQuery, Error, LeaseGrant, Store, Write};

use crate::case::{Verdict, data_cases};
use crate::fixture::{
    APPLIED, Owner, acquire, at, commit, counter_key, exists, full_head, full_status, key_taken, next, pause,
    put, read_run, run, run_id, run_with, shelf, update,
};
use crate::harness::Data;

data_cases! { "reopening":
    rows_outlive_their_handle,
    leases_and_seqs_outlive_their_handle,
    a_handle_sees_what_another_committed,
    a_handle_sees_conflicts_of_another,
    a_lease_taken_through_another_handle_fences,
    a_replay_through_another_handle_answers_the_same,
    a_lost_answer_is_asked_again_and_written_once,
    a_lost_answer_of_a_conflict_answers_the_same,
    a_lost_answer_without_a_fence_is_asked_again,
}

async fn rows_outlive_their_handle(data: Arc<dyn Data>) -> Verdict {
    let full = Run { head: Arc::new(full_head(2)), status: full_status() };
    {
        let store = migrated(&data).await;
        put(&store, vec![Write::InsertRun(run(1)), Write::InsertRun(full.clone())]).await;
        Owner::of(&store, 0).await.put(vec![Write::PauseCell(Some(Box::new(pause("p"))))]).await;
    }
    let store = data.open().await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
    assert_eq!(read_run(&store, run_id(2)).await, Some(full));
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await, [run_id(1)]);
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(pause("p")));
    Verdict::Passed
}

async fn leases_and_seqs_outlive_their_handle(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![]).await;
    owner.put(vec![]).await;
    let held = store.leases().await.unwrap();
    drop((owner, store));
    let store = data.open().await;
    assert_eq!(store.leases().await.unwrap(), held);
    let mut owner = Owner::with(&store, &held[0]);
    owner.put(vec![Write::InsertRun(run(1))]).await;
    Verdict::Passed
}

async fn a_handle_sees_what_another_committed(data: Arc<dyn Data>) -> Verdict {
    let (one, other) = (migrated(&data).await, data.open().await);
    for n in 0..20 {
        let (writer, reader) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        put(writer, vec![Write::InsertRun(run(n))]).await;
        assert_eq!(read_run(reader, run_id(n)).await, Some(run(n)));
        assert_eq!(shelf(reader, 0, Shelf::Arrived).await.len(), n as usize + 1);
    }
    Verdict::Passed
}

async fn a_handle_sees_conflicts_of_another(data: Arc<dyn Data>) -> Verdict {
    let (one, other) = (migrated(&data).await, data.open().await);
    put(&one, vec![Write::InsertRun(keyed(1))]).await;
    let batch = vec![Write::InsertRun(run(1)), Write::InsertRun(keyed(2)), Write::InsertRun(run(3))];
    assert_eq!(commit(&other, batch).await, [exists(), key_taken(run_id(1)), APPLIED]);
    Verdict::Passed
}

async fn a_lease_taken_through_another_handle_fences(data: Arc<dyn Data>) -> Verdict {
    let (one, other) = (migrated(&data).await, data.open().await);
    let mut old = Owner::of(&one, 0).await;
    old.put(vec![Write::InsertRun(run(1))]).await;
    let mut new = Owner::after(&other, 0, 9).await;
    let lost = old.try_commit(vec![Write::InsertRun(run(2))]).await;
    assert!(matches!(lost, Err(Error::FenceLost { .. })), "{lost:?}");
    new.put(vec![Write::InsertRun(run(2))]).await;
    let answer = acquire(&one, 0, 0, Some((Epoch(1), at(10_000))), at(5)).await;
    assert!(matches!(answer, LeaseGrant::Held(_)), "{answer:?}");
    Verdict::Passed
}

async fn a_replay_through_another_handle_answers_the_same(data: Arc<dyn Data>) -> Verdict {
    let (one, other) = (migrated(&data).await, data.open().await);
    let mut owner = Owner::of(&one, 0).await;
    let batch = owner.batch(vec![Write::InsertRun(mine(&owner, 1)), add()]);
    for store in [&one, &other, &one] {
        assert_eq!(store.commit(batch.clone()).await.unwrap(), [APPLIED, APPLIED]);
    }
    assert_eq!(successes(&other).await, 1);
    Verdict::Passed
}

async fn a_lost_answer_is_asked_again_and_written_once(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(2))]).await;
    let Some(cut) = data.open_cut_after_commit().await else { return Verdict::NotOffered };
    let moved = next(&run(2), |status| status.epoch = owner.fence.epoch);
    let batch = owner.batch(vec![Write::InsertRun(mine(&owner, 1)), update(&moved), add()]);
    // A store may ask again by itself; it may not say that nothing was written.
    match cut.commit(batch.clone()).await {
        Ok(outcomes) => assert_eq!(outcomes, vec![APPLIED; 3]),
        Err(error) => assert!(matches!(error, Error::Unknown(_)), "{error:?}"),
    }
    for handle in [&cut, &store] {
        assert_eq!(handle.commit(batch.clone()).await.unwrap(), vec![APPLIED; 3]);
    }
    assert_eq!(successes(&store).await, 1);
    assert_eq!(read_run(&store, run_id(1)).await, Some(mine(&owner, 1)));
    assert_eq!(read_run(&store, run_id(2)).await, Some(moved));
    assert_eq!(store.leases().await.unwrap()[0].seq, 1);
    Verdict::Passed
}

async fn a_lost_answer_of_a_conflict_answers_the_same(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1)), Write::InsertRun(keyed(2))]).await;
    let Some(cut) = data.open_cut_after_commit().await else { return Verdict::NotOffered };
    let clash = Run { status: mine(&owner, 3).status, ..keyed(3) };
    let batch = owner.batch(vec![
        Write::InsertRun(mine(&owner, 1)),
        Write::InsertRun(clash),
        Write::InsertRun(mine(&owner, 4)),
    ]);
    let expected = [exists(), key_taken(run_id(2)), APPLIED];
    match cut.commit(batch.clone()).await {
        Ok(outcomes) => assert_eq!(outcomes, expected),
        Err(error) => assert!(matches!(error, Error::Unknown(_)), "{error:?}"),
    }
    assert_eq!(cut.commit(batch).await.unwrap(), expected);
    Verdict::Passed
}

async fn a_lost_answer_without_a_fence_is_asked_again(data: Arc<dyn Data>) -> Verdict {
    let store = migrated(&data).await;
    let Some(cut) = data.open_cut_after_commit().await else { return Verdict::NotOffered };
    let batch = mainspring_store::Transaction::unfenced(vec![Write::InsertRun(keyed(1))]);
    match cut.commit(batch.clone()).await {
        Ok(outcomes) => assert!(outcomes == [APPLIED] || outcomes == [exists()], "{outcomes:?}"),
        Err(error) => assert!(matches!(error, Error::Unknown(_)), "{error:?}"),
    }
    assert_eq!(cut.commit(batch).await.unwrap(), [exists()]);
    assert_eq!(read_run(&store, run_id(1)).await, Some(keyed(1)));
    Verdict::Passed
}

async fn migrated(data: &Arc<dyn Data>) -> Arc<dyn Store> {
    let store = data.open().await;
    store.migrate().await.unwrap();
    store
}

async fn successes(store: &Arc<dyn Store>) -> u64 {
    let query = CounterQuery {
        namespace: None,
        job: None,
        from: Timestamp::ZERO,
        until: Timestamp::MAX,
        after: None,
        limit: 10,
    };
    store.counters(query).await.unwrap().rows.iter().map(|(_, counts)| counts.success).sum()
}

fn add() -> Write {
    Write::AddCounts(Box::new((counter_key(1, 1), Counts { success: 1, ..Counts::default() })))
}

fn mine(owner: &Owner, n: u64) -> Run {
    run_with(n, |_, status| status.epoch = owner.fence.epoch)
}

fn keyed(n: u64) -> Run {
    run_with(n, |head, _| head.idempotency_key = Some("k".into()))
}
