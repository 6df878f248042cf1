//! The store's clock, the authority on time: sane, never back, and moving.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mainspring_model::Timestamp;
use mainspring_store::Store;

use crate::case::cases;

cases! { "clock":
    it_is_of_this_century,
    it_never_goes_back,
    it_moves,
    every_task_sees_the_same,
}

async fn it_is_of_this_century(store: Arc<dyn Store>) {
    let now = store.clock().await.unwrap();
    let years = Duration::from_secs(365 * 24 * 3600);
    assert!(now > Timestamp::ZERO + years * 50 && now < Timestamp::ZERO + years * 130, "{now}");
}

async fn it_never_goes_back(store: Arc<dyn Store>) {
    let mut last = store.clock().await.unwrap();
    for _ in 0..200 {
        let now = store.clock().await.unwrap();
        assert!(now >= last, "{last} then {now}");
        last = now;
    }
}

async fn it_moves(store: Arc<dyn Store>) {
    let (first, begun) = (store.clock().await.unwrap(), Instant::now());
    while store.clock().await.unwrap() == first {
        assert!(begun.elapsed() < Duration::from_secs(600), "still {first} after a guard against a hang");
        tokio::task::yield_now().await;
    }
}

async fn every_task_sees_the_same(store: Arc<dyn Store>) {
    let before = store.clock().await.unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.clock().await.unwrap() })
        })
        .collect();
    let mut seen = Vec::new();
    for task in tasks {
        seen.push(task.await.unwrap());
    }
    let after = store.clock().await.unwrap();
    assert!(seen.iter().all(|at| (before..=after).contains(at)), "{seen:?} between {before} and {after}");
}
