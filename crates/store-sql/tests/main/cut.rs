//! Connections that break at the worst moments: after the commit and before its answer, before the commit, in the
//! middle of a transaction, and all at once.

use std::sync::Arc;

use mainspring_store::{Conflict, Error, Outcome, Store, Transaction, Write};

use crate::proxy::{self, Cut};
use crate::rows::{ended, inserts, own, owned, put, run, run_id, update};
use crate::servers::{Place, Server, open};

/// The first commit through the proxy loses its connection; the same batch again, through the same handle and
/// another, answers as if it were the first time, and nothing is doubled.
async fn check(server: Server, cut: Cut) {
    let (place, store) = Place::migrated(server).await;
    put(&store, inserts(1..3)).await;
    let fence = own(&store).await;
    let through = open(&proxy::in_front_of(&place.url, cut).await).await;

    let moved = owned(ended(&run(1)), fence.epoch);
    let writes = vec![Write::InsertRun(owned(run(5), fence.epoch)), update(&moved), Write::InsertRun(run(2))];
    let batch = Transaction::fenced(fence, writes);
    let lost = through.commit(batch.clone()).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");

    for handle in [&through, &store, &through] {
        let outcomes = handle.commit(batch.clone()).await.unwrap();
        assert_eq!(outcomes[..2], [Outcome::Applied, Outcome::Applied]);
        assert!(matches!(outcomes[2], Outcome::Conflict(_)));
    }
    assert_eq!(store.leases().await.unwrap()[0].seq, 1);
    assert_eq!(store.runs_by_id(&[run_id(1)]).await.unwrap(), [moved]);
    assert_eq!(store.runs_by_id(&[run_id(5)]).await.unwrap().len(), 1);
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_after_the_commit() {
    check(Server::Postgres, Cut::AfterCommit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_before_the_commit() {
    check(Server::Postgres, Cut::BeforeCommit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_after_the_commit() {
    check(Server::Mysql, Cut::AfterCommit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_before_the_commit() {
    check(Server::Mysql, Cut::BeforeCommit).await;
}

/// The commit is answered and then the server is gone, before it can be asked what a refused write met: the batch is
/// durable, so nobody is told that nothing was written.
async fn check_unexplained(server: Server) {
    let (place, store) = Place::migrated(server).await;
    put(&store, inserts(1..3)).await;
    let fence = own(&store).await;
    let through = open(&proxy::in_front_of(&place.url, Cut::AfterAnswer).await).await;
    let writes = vec![Write::InsertRun(owned(run(5), fence.epoch)), Write::InsertRun(run(2))];
    let batch = Transaction::fenced(fence, writes);
    let lost = through.commit(batch.clone()).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
    assert_eq!(store.runs_by_id(&[run_id(5)]).await.unwrap().len(), 1);
    let outcomes = store.commit(batch).await.unwrap();
    assert_eq!(outcomes, [Outcome::Applied, Outcome::Conflict(Conflict::Exists)]);
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_after_the_answer() {
    check_unexplained(Server::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_after_the_answer() {
    check_unexplained(Server::Mysql).await;
}

/// A commit waits for a row that somebody holds; its connection is killed meanwhile. Nothing is written, the caller
/// may try again, and the same batch again is written.
async fn check_killed(server: Server) {
    let (place, store) = Place::migrated(server).await;
    put(&store, inserts(0..2)).await;
    let fence = own(&store).await;
    let batch = Transaction::fenced(fence, vec![update(&owned(ended(&run(1)), fence.epoch))]);

    let mut holder = place.backdoor().await;
    holder.execute("BEGIN").await;
    holder
        .execute(&format!("UPDATE runs SET epoch = 7 WHERE id = {}", place.literal(run_id(1).as_bytes())))
        .await;
    let committing = {
        let (store, batch) = (Arc::clone(&store), batch.clone());
        tokio::spawn(async move { store.commit(batch).await })
    };
    place.wait_for_waiter().await;
    place.kill_waiters().await;
    let lost = committing.await.unwrap();
    assert!(lost.as_ref().is_err_and(Error::is_transient), "{lost:?}");
    holder.execute("ROLLBACK").await;

    assert_eq!(store.leases().await.unwrap()[0].seq, 0);
    assert_eq!(store.commit(batch).await.unwrap(), [Outcome::Applied]);
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_killed_in_the_middle() {
    check_killed(Server::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_killed_in_the_middle() {
    check_killed(Server::Mysql).await;
}

/// Every connection of the pool is killed while idle, as by a restarted server: the next calls just work, or say
/// that nothing was written and then work.
async fn check_restarted(server: Server) {
    let (place, store) = Place::migrated(server).await;
    let many = (0..8).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { put(&store, inserts([n])).await })
    });
    for one in many.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    place.kill_all_others().await;
    assert_eq!(store.runs_by_id(&[run_id(3)]).await.unwrap().len(), 1);
    place.kill_all_others().await;
    settled(&store).await;
    place.remove().await;
}

/// Commits until the store has found live connections again: each try that fails uses one dead connection up.
async fn settled(store: &Arc<dyn Store>) {
    const POOL_SIZE: usize = 16;
    for _ in 0..=POOL_SIZE {
        match store.commit(Transaction::unfenced(inserts([100]))).await {
            Ok(_) => return,
            Err(error) => assert!(error.is_transient(), "{error:?}"),
        }
    }
    panic!("the pool did not recover");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_after_a_restart() {
    check_restarted(Server::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_after_a_restart() {
    check_restarted(Server::Mysql).await;
}
