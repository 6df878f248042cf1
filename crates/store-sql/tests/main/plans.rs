//! Finding active work never scans history, and no page does: each server's own plan says so, with history in the
//! table.

use std::sync::Arc;

use mainspring_store::{Transaction, Write};

use crate::rows::{ended, run};
use crate::servers::{Place, Server};

const HISTORY: u64 = 5_000;
const ACTIVE: u64 = 50;

/// The index that each read must go by, and whether its order must come from there too.
const INDEXES: [(&str, &str, bool); 15] = [
    ("shelf", "runs_active", true),
    ("shelf after", "runs_active", true),
    ("everything", "primary", true),
    ("active", "runs_active", false),
    ("active of a job", "runs_active", false),
    ("of a job", "runs_job", true),
    ("of a namespace", "runs_job", false),
    ("of a namespace, oldest first", "runs_job", false),
    ("records", "primary of records", true),
    ("records after", "primary of records", true),
    ("expired records", "records_expiry", true),
    ("holders of keys", "runs_key", true),
    ("jobs with runs", "runs_job", true),
    ("ends of jobs", "runs_job", true),
    ("ends behind a backlog", "runs_job", true),
];

async fn check(server: Server) {
    let (place, store) = Place::migrated(server).await;
    let over = (1..=HISTORY).map(|n| {
        let mut row = ended(&run(n));
        row.status.version = 1;
        Arc::make_mut(&mut row.head).idempotency_key = Some(format!("k{n}").into());
        Write::InsertRun(row)
    });
    store.commit(Transaction::unfenced(over.collect())).await.unwrap();
    let active = (HISTORY + 1..=HISTORY + ACTIVE).map(|n| Write::InsertRun(run(n)));
    store.commit(Transaction::unfenced(active.collect())).await.unwrap();
    let (name, analyze, explain) = match server {
        Server::Sqlite => ("SQLite", "ANALYZE", "EXPLAIN QUERY PLAN"),
        Server::Postgres => ("PostgreSQL", "ANALYZE runs", "EXPLAIN"),
        Server::Mysql => ("MySQL", "ANALYZE TABLE runs", "EXPLAIN FORMAT=JSON"),
    };
    place.execute(analyze).await;
    let probes = mainspring_store_sql::plan_probes(name);
    assert_eq!(probes.len(), INDEXES.len());
    for ((probe, text), (expected, index, ordered)) in probes.iter().zip(INDEXES) {
        assert_eq!(*probe, expected);
        let plan = place.plan(&format!("{explain} {text}")).await.to_lowercase();
        let index = match (index, server) {
            ("primary", Server::Postgres) => "runs_pkey",
            ("primary of records", Server::Postgres) => "records_pkey",
            ("primary of records", Server::Sqlite | Server::Mysql) => "primary",
            (index, _) => index,
        };
        assert!(plan.contains(index), "{server:?}, {probe}: {text}\n{plan}");
        for scan in ["seq scan", "scan runs\n", "scan records\n", "\"access_type\": \"all\"", "bitmap"] {
            let derived = server == Server::Mysql && text.contains("UNION");
            assert!(derived || !plan.contains(scan), "{server:?}, {probe}: {text}\n{plan}");
        }
        // A row that is found and then left out was found by a part of its key.
        let is_exact = *probe != "holders of keys" || !plan.contains("filter:");
        assert!(is_exact, "{server:?}, {probe}: {text}\n{plan}");
        for sort in ["temp b-tree", "sort key", "filesort"] {
            assert!(!ordered || !plan.contains(sort), "{server:?}, {probe}: {text}\n{plan}");
        }
    }
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
