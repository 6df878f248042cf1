//! Finding active work never scans history: each server's own plan says so, with history in the table.

use mainspring_store::{Transaction, Write};

use crate::rows::{ended, run};
use crate::servers::{Place, Server};

const HISTORY: u64 = 5_000;
const ACTIVE: u64 = 50;

/// The shape of a shelf's page, as `verbs/runs.rs` makes it.
const SHELF: &str = "SELECT id FROM runs WHERE cell = 0 AND shelf = 2 ORDER BY shelf_rank, id LIMIT 20";

async fn check(server: Server) {
    let (place, store) = Place::migrated(server).await;
    let over = (1..=HISTORY).map(|n| {
        let mut row = ended(&run(n));
        row.status.version = 1;
        Write::InsertRun(row)
    });
    store.commit(Transaction::unfenced(over.collect())).await.unwrap();
    let active = (HISTORY + 1..=HISTORY + ACTIVE).map(|n| Write::InsertRun(run(n)));
    store.commit(Transaction::unfenced(active.collect())).await.unwrap();
    let (analyze, explain) = match server {
        Server::Sqlite => ("ANALYZE", "EXPLAIN QUERY PLAN"),
        Server::Postgres => ("ANALYZE runs", "EXPLAIN"),
        Server::Mysql => ("ANALYZE TABLE runs", "EXPLAIN FORMAT=JSON"),
    };
    place.execute(analyze).await;
    let plan = place.plan(&format!("{explain} {SHELF}")).await;
    assert!(plan.contains("runs_active"), "{server:?}: {plan}");
    assert!(!plan.to_lowercase().contains("seq scan"), "{server:?}: {plan}");
    place.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    check(Server::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    check(Server::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql() {
    check(Server::Mysql).await;
}
