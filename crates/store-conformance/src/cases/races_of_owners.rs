//! Owners at one cell: one grant at a time, and nothing of a deposed owner after its successor's grant (I9).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainspring_model::{CellId, Counts, Epoch, Lease, Timestamp};
use mainspring_store::{CounterQuery, Error, LeaseGrant, RunQuery, Store, Transaction, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, Owner, acquire, at, counter_key, crowd, member_id, read_run, run, run_id, run_in, run_with,
    the_one,
};

cases! { "races_of_owners":
    a_first_grant_from_32_tasks,
    a_takeover_from_32_tasks,
    a_released_cell_from_32_tasks,
    a_renewal_against_a_takeover,
    own_grants_never_share_an_epoch,
    one_batch_from_16_tasks_is_written_once,
    two_batches_under_one_seq_are_not_both_written,
    a_takeover_amid_commits,
    a_release_amid_commits,
    eight_owners_of_eight_cells,
    counts_of_eight_owners_add_up,
}

async fn a_first_grant_from_32_tasks(store: Arc<dyn Store>) {
    let answers = crowd(32, |n| ask(&store, n, None)).await;
    one_grant(&store, &answers, 1).await;
}

async fn a_takeover_from_32_tasks(store: Arc<dyn Store>) {
    acquire(&store, 0, 99, None, at(50)).await;
    for round in 1..=5 {
        let seen = store.leases().await.unwrap().remove(0);
        let answers = crowd(32, |n| ask(&store, round * 100 + n, Some((seen.epoch, seen.expires_at)))).await;
        one_grant(&store, &answers, round + 1).await;
    }
}

async fn a_released_cell_from_32_tasks(store: Arc<dyn Store>) {
    acquire(&store, 0, 99, None, at(50)).await;
    assert!(store.release_lease(CellId(0), member_id(99), Epoch(1)).await.unwrap());
    let answers = crowd(32, |n| ask(&store, n, None)).await;
    one_grant(&store, &answers, 2).await;
}

async fn a_renewal_against_a_takeover(store: Arc<dyn Store>) {
    for cell in 0..20 {
        acquire(&store, cell, 1, None, at(50)).await;
        let clash = |n| {
            let store = Arc::clone(&store);
            async move {
                if n == 0 {
                    store.renew_lease(CellId(cell), member_id(1), Epoch(1), at(60)).await.unwrap().is_some()
                } else {
                    let answer = acquire(&store, cell, 2, Some((Epoch(1), at(50))), at(70)).await;
                    matches!(answer, LeaseGrant::Granted(_))
                }
            }
        };
        let answers = crowd(2, clash).await;
        let winner = the_one(&answers, |won| *won);
        let lease = store.leases().await.unwrap().pop().unwrap();
        let expected = if winner == 0 { (1, 1, 60) } else { (2, 2, 70) };
        assert_eq!((lease.epoch, lease.holder, lease.expires_at), {
            let (epoch, member, end) = expected;
            (Epoch(epoch), Some(member_id(member)), at(end))
        });
    }
}

async fn own_grants_never_share_an_epoch(store: Arc<dyn Store>) {
    let answers = crowd(16, |_| ask(&store, 7, None)).await;
    let epochs: BTreeSet<u64> = answers
        .iter()
        .map(|answer| match answer {
            LeaseGrant::Granted(lease) => lease.epoch.0,
            LeaseGrant::Held(lease) => panic!("{lease:?} is held by the one that asks"),
        })
        .collect();
    assert_eq!(epochs, (1..=16).collect());
}

async fn one_batch_from_16_tasks_is_written_once(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for n in 1..=5 {
        let row = run_with(n, |_, status| status.epoch = owner.fence.epoch);
        let batch = owner.batch(vec![Write::InsertRun(row), add()]);
        for answer in crowd(16, |_| send(&store, batch.clone())).await {
            assert_eq!(answer.unwrap(), [APPLIED, APPLIED]);
        }
        assert_eq!(successes(&store).await, n);
    }
}

async fn two_batches_under_one_seq_are_not_both_written(store: Arc<dyn Store>) {
    // No owner does this; a store that checks and then writes would let both pass.
    let mut owner = Owner::of(&store, 0).await;
    for round in 0..10 {
        let first = owner.batch(vec![]);
        let batch =
            |n: u64| Transaction { writes: vec![Write::InsertRun(run(round * 10 + n))], ..first.clone() };
        crowd(4, |n| send(&store, batch(n))).await;
        let ids: Vec<_> = (0..4).map(|n| run_id(round * 10 + n)).collect();
        assert_eq!(store.runs_by_id(&ids).await.unwrap().len(), 1, "round {round}");
    }
    assert_eq!(store.leases().await.unwrap()[0].seq, 10);
}

async fn a_takeover_amid_commits(store: Arc<dyn Store>) {
    const COMMITS_MAX: u64 = 9_000;
    for round in 0..5 {
        let cell = round as u16;
        let mut old = Owner::of(&store, cell).await;
        let granted = Arc::new(AtomicBool::new(false));
        let deposed = {
            let (granted, base) = (Arc::clone(&granted), round * 10_000);
            tokio::spawn(async move {
                // A store without waits of its own would not let the takeover run beside this.
                for written in 0..COMMITS_MAX {
                    tokio::task::yield_now().await;
                    let began_after = granted.load(Ordering::SeqCst);
                    let row = run_in(cell, base + written);
                    match old.try_commit(vec![Write::InsertRun(row)]).await {
                        Ok(outcomes) => {
                            assert_eq!(outcomes, [APPLIED]);
                            assert!(!began_after, "a commit that began after the grant was written");
                        }
                        Err(Error::FenceLost { .. }) => return written,
                        Err(error) => panic!("{error:?}"),
                    }
                }
                panic!("still the owner after {COMMITS_MAX} commits");
            })
        };
        // The takeover comes after a few commits, whenever the store gets to it.
        while !deposed.is_finished() && read_run(&store, run_id(round * 10_000 + 3)).await.is_none() {
            tokio::task::yield_now().await;
        }
        let mut new = Owner::after(&store, cell, 99).await;
        granted.store(true, Ordering::SeqCst);
        new.put(vec![Write::InsertRun(run_in(cell, round * 10_000 + 9_999))]).await;
        let written = deposed.await.unwrap();
        let ids: Vec<_> = (0..10_000).map(|n| run_id(round * 10_000 + n)).collect();
        assert_eq!(store.runs_by_id(&ids).await.unwrap().len() as u64, written + 1);
    }
}

async fn a_release_amid_commits(store: Arc<dyn Store>) {
    for cell in 0..10 {
        let owner = Owner::of(&store, cell).await;
        let n = u64::from(cell);
        let clash = |task| {
            let (store, mut owner) = (Arc::clone(&store), owner.clone());
            async move {
                if task == 0 {
                    store.release_lease(CellId(cell), owner.member, owner.fence.epoch).await.unwrap()
                } else {
                    owner.try_commit(vec![Write::InsertRun(run(n))]).await.is_ok()
                }
            }
        };
        let answers = crowd(2, clash).await;
        assert!(answers[0], "the holder may always release");
        assert_eq!(read_run(&store, run_id(n)).await.is_some(), answers[1]);
    }
}

async fn eight_owners_of_eight_cells(store: Arc<dyn Store>) {
    let work = |n: u64| {
        let store = Arc::clone(&store);
        async move {
            let mut owner = Owner::of(&store, n as u16).await;
            for k in 0..20 {
                owner.put(vec![Write::InsertRun(run_in(n as u16, n * 1000 + k))]).await;
            }
        }
    };
    crowd(8, work).await;
    let leases = store.leases().await.unwrap();
    assert!(leases.len() == 8 && leases.iter().all(|lease| lease.seq == 20), "{leases:?}");
    let page = store.runs(RunQuery { limit: 1000, ..RunQuery::default() }).await.unwrap();
    assert_eq!(page.rows.len(), 160);
}

async fn counts_of_eight_owners_add_up(store: Arc<dyn Store>) {
    let one = Counts { success: 1, ..Counts::default() };
    let work = |n: u64| {
        let store = Arc::clone(&store);
        async move {
            let mut owner = Owner::of(&store, n as u16).await;
            for _ in 0..10 {
                // Half of the owners name the rows in the opposite order.
                let mut writes: Vec<Write> =
                    (0..5).map(|job| Write::AddCounts(Box::new((counter_key(job, 1), one)))).collect();
                if n.is_multiple_of(2) {
                    writes.reverse();
                }
                owner.put(writes).await;
            }
        }
    };
    crowd(8, work).await;
    assert_eq!(successes(&store).await, 8 * 10 * 5);
}

/// One was granted under `epoch`, the others were told so, and the row says so.
async fn one_grant(store: &Arc<dyn Store>, answers: &[LeaseGrant], epoch: u64) {
    let winner = the_one(answers, |answer| matches!(answer, LeaseGrant::Granted(_)));
    let (LeaseGrant::Granted(lease) | LeaseGrant::Held(lease)) = &answers[winner as usize];
    assert_eq!(lease.epoch, Epoch(epoch));
    assert_eq!(store.leases().await.unwrap(), std::slice::from_ref(lease));
    let told = |answer: &LeaseGrant| -> Lease {
        let (LeaseGrant::Granted(lease) | LeaseGrant::Held(lease)) = answer;
        lease.clone()
    };
    assert!(answers.iter().all(|answer| told(answer) == *lease), "{answers:?}");
}

fn ask(
    store: &Arc<dyn Store>,
    member: u64,
    observed: Option<(Epoch, Timestamp)>,
) -> impl Future<Output = LeaseGrant> + Send + use<> {
    let store = Arc::clone(store);
    async move { acquire(&store, 0, member, observed, at(50 + member as i64)).await }
}

fn send(
    store: &Arc<dyn Store>,
    batch: Transaction,
) -> impl Future<Output = mainspring_store::Result<Vec<mainspring_store::Outcome>>> + Send + use<> {
    let store = Arc::clone(store);
    async move { store.commit(batch).await }
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
