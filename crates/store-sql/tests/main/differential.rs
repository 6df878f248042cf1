//! Random calls to each server and to the store in memory: every answer is the same.

use std::sync::Arc;

use mainspring_store_conformance::differential::{self, Summary};
use mainspring_store_mem::MemStore;

use crate::servers::{Place, Server};

const SEEDS: u64 = 6;
const STEPS: u64 = 250;

async fn check(server: Server) {
    let mut summary = Summary::default();
    for seed in 1..=SEEDS {
        let (place, store) = Place::migrated(server).await;
        summary.add(&differential::run(store, Arc::new(MemStore::default()), seed, STEPS).await);
        place.remove().await;
    }
    summary.assert_not_vacuous();
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
