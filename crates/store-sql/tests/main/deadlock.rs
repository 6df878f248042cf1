//! Others in the way: a deadlock is undone by the server and tried again by the store, and a foreign writer of a SQLite
//! file is waited for.

use std::sync::Arc;
use std::time::Duration;

use mainspring_store::{Error, Outcome, Transaction};

use crate::rows::{ended, inserts, put, run, run_id, update};
use crate::servers::{Place, Server, open};

/// Somebody holds run 2 and then wants run 1, while a commit holds run 1 and wants run 2. Whoever the server chooses to
/// undo, the commit is made in the end.
async fn check(server: Server) {
    let (place, store) = Place::migrated(server).await;
    put(&store, inserts(1..40)).await;
    let touch =
        |n: u64| format!("UPDATE runs SET epoch = 7 WHERE id = {}", place.literal(run_id(n).as_bytes()));

    let mut other = place.backdoor().await;
    other.execute("BEGIN").await;
    // Many rows, because a server undoes the one that has done less.
    for n in 2..40 {
        other.execute(&touch(n)).await;
    }
    let committing = {
        let (store, batch) = (Arc::clone(&store), vec![update(&ended(&run(1))), update(&ended(&run(2)))]);
        tokio::spawn(async move { store.commit(Transaction::unfenced(batch)).await })
    };
    place.wait_for_waiter().await;
    other.try_execute(&touch(1)).await;
    other.try_execute("COMMIT").await;
    let outcomes =
        tokio::time::timeout(Duration::from_secs(600), committing).await.unwrap().unwrap().unwrap();
    assert_eq!(outcomes, [Outcome::Applied, Outcome::Applied]);
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    check(Server::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql() {
    check(Server::Mysql).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_writer_of_the_file_is_waited_for() {
    let (place, store) = Place::migrated(Server::Sqlite).await;
    let mut other = place.backdoor().await;
    other.execute("BEGIN IMMEDIATE").await;
    let committing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.commit(Transaction::unfenced(inserts(1..3))).await })
    };
    // Somebody with less patience comes after it and is gone before it.
    let impatient = open(&format!("{}?busy_timeout_ms=300", place.url)).await;
    let refused = impatient.commit(Transaction::unfenced(inserts(7..9))).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(!committing.is_finished());
    // Readers are not in the way of anybody.
    assert_eq!(store.runs_by_id(&[run_id(1)]).await.unwrap(), []);
    other.execute("COMMIT").await;
    assert_eq!(committing.await.unwrap().unwrap(), [Outcome::Applied, Outcome::Applied]);
}
