//! Migrations: from nothing, again, and from many at once; each step is taken once and keeps what is there.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_store::{Store, Write};

use crate::case::{Verdict, data_cases};
use crate::fixture::{put, read_run, run, run_id};
use crate::harness::Data;

data_cases! { "migrations":
    a_second_call_takes_no_step,
    steps_are_numbered_upwards,
    rows_survive,
    eight_at_once_on_one_handle,
    eight_handles_at_once,
}

async fn a_second_call_takes_no_step(data: Arc<dyn Data>) -> Verdict {
    let store = data.open().await;
    store.migrate().await.unwrap();
    assert_eq!(store.migrate().await.unwrap(), []);
    assert_eq!(data.open().await.migrate().await.unwrap(), []);
    Verdict::Passed
}

async fn steps_are_numbered_upwards(data: Arc<dyn Data>) -> Verdict {
    let steps = data.open().await.migrate().await.unwrap();
    assert!(steps.is_sorted_by(|one, other| one.number < other.number), "{steps:?}");
    assert!(steps.iter().all(|step| !step.name.is_empty()), "{steps:?}");
    Verdict::Passed
}

async fn rows_survive(data: Arc<dyn Data>) -> Verdict {
    let store = data.open().await;
    store.migrate().await.unwrap();
    put(&store, vec![Write::InsertRun(run(1))]).await;
    store.migrate().await.unwrap();
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
    Verdict::Passed
}

async fn eight_at_once_on_one_handle(data: Arc<dyn Data>) -> Verdict {
    let store = data.open().await;
    at_once((0..8).map(|_| Arc::clone(&store)).collect()).await;
    Verdict::Passed
}

async fn eight_handles_at_once(data: Arc<dyn Data>) -> Verdict {
    let mut stores = Vec::new();
    for _ in 0..8 {
        stores.push(data.open().await);
    }
    at_once(stores).await;
    Verdict::Passed
}

/// All migrate at once, each step is taken by exactly one, and every store works.
async fn at_once(stores: Vec<Arc<dyn Store>>) {
    let migrate = |store: &Arc<dyn Store>| {
        let store = Arc::clone(store);
        tokio::spawn(async move { store.migrate().await.unwrap() })
    };
    let tasks: Vec<_> = stores.iter().map(migrate).collect();
    let mut steps = Vec::new();
    for task in tasks {
        steps.extend(task.await.unwrap());
    }
    let distinct: BTreeSet<u32> = steps.iter().map(|step| step.number).collect();
    assert_eq!(distinct.len(), steps.len(), "a step was taken twice: {steps:?}");
    for (n, store) in (0..).zip(&stores) {
        put(store, vec![Write::InsertRun(run(n))]).await;
        assert_eq!(store.migrate().await.unwrap(), []);
    }
}
