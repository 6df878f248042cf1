//! The whole conformance suite on each server.

use std::sync::Arc;

use mainspring_store_conformance::run_all;

use crate::servers::{Fresh, Server};

async fn check(server: Server) {
    let fresh = Arc::new(Fresh::new(server).await);
    run_all(fresh.clone()).await;
    fresh.remove().await;
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
