//! Migrations that take longer than any statement or lock may.

use std::time::Duration;

use crate::servers::{Place, Server, open};

/// A step waits for longer than the connection's limits on statements and locks, by the server's clock, and is taken.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_step_outlives_the_limits_of_the_server() {
    const LIMIT_MS: i64 = 200;
    let place = Place::new(Server::Postgres).await;
    // The URL's own options count after ours.
    let limits = format!("%20-c%20statement_timeout%3D{LIMIT_MS}%20-c%20lock_timeout%3D{LIMIT_MS}");
    let store = open(&format!("{}{limits}", place.url)).await;
    // A table of the first step is being made by another: the step waits to see whether it will be there.
    let mut other = place.backdoor().await;
    other.execute("BEGIN; CREATE TABLE runs (x INT)").await;
    let migrating = tokio::spawn(async move { (store.migrate().await, store) });
    let mut watcher = place.backdoor().await;
    while !migrating.is_finished() {
        let waited = watcher.column(&place.longest_wait_ms()).await;
        if waited.iter().any(|waited| *waited > 5 * LIMIT_MS) {
            break;
        }
        // No server tells when a wait has lasted for some time.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    other.execute("ROLLBACK").await;
    let (steps, store) = migrating.await.unwrap();
    assert!(!steps.unwrap().is_empty());
    assert_eq!(store.migrate().await.unwrap(), []);
    place.remove().await;
}
