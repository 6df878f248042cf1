//! The store in memory passes every case, and two of them give the same answers to the same calls.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_store::Store;
use mainspring_store_conformance::differential::{self, Summary};
use mainspring_store_conformance::{Data, Harness, run, run_all};
use mainspring_store_mem::MemStore;

struct Memory;

#[async_trait]
impl Harness for Memory {
    async fn fresh(&self) -> Arc<dyn Store> {
        Arc::new(MemStore::default())
    }

    async fn data(&self) -> Option<Arc<dyn Data>> {
        Some(Arc::new(Shared(MemStore::default())))
    }
}

/// Rows in memory, opened as often as one likes.
struct Shared(MemStore);

#[async_trait]
impl Data for Shared {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn open_cut_after_commit(&self) -> Option<Arc<dyn Store>> {
        self.0.lose_next_answer();
        Some(self.open().await)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    run_all(Arc::new(Memory)).await;
}

#[tokio::test]
async fn random_calls_are_answered_alike() {
    let mut total = Summary::default();
    for seed in 0..100 {
        let (store, oracle) = (Arc::new(MemStore::default()), Arc::new(MemStore::default()));
        total.add(&differential::run(store, oracle, seed, 300).await);
    }
    total.assert_not_vacuous();
    println!("differential: {total:?}");
}

/// Gives every case the same rows, which is not what "fresh" means.
struct Careless(MemStore);

#[async_trait]
impl Harness for Careless {
    async fn fresh(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }
}

#[tokio::test]
async fn a_failing_case_is_named_with_its_words() {
    let harness = Arc::new(Careless(MemStore::default()));
    let report = run(harness, |name| name.starts_with("pause::")).await;
    // Another member took the cell in `a_pause_outlives_its_owner`; the next case that wants it is refused.
    let (name, words) = report.failed.iter().find(|(_, words)| words.starts_with("held: ")).unwrap();
    assert_eq!(*name, "pause::words_are_kept", "{words}");
    assert!(report.passed > 0, "{report:?}");
}

#[tokio::test]
#[should_panic(expected = "seed 7, step ")]
async fn a_difference_is_told_with_its_seed() {
    let (store, oracle) = (MemStore::default(), MemStore::default());
    let member = mainspring_model::Member {
        id: mainspring_model::MemberId::MAX,
        address: "x".into(),
        seen_at: mainspring_model::Timestamp::MAX,
        load: 0,
        software: "1".into(),
    };
    store.put_member(member).await.unwrap();
    differential::run(Arc::new(store), Arc::new(oracle), 7, 300).await;
}
