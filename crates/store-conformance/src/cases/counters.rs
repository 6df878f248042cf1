//! Roll-ups: additions that are made once, read by hour and job.

use std::sync::Arc;

use mainspring_model::{CounterKey, Counts, Timestamp};
use mainspring_store::{CounterQuery, Error, Store, Write};

use crate::case::cases;
use crate::fixture::{Owner, counter_key, hour, job_id, namespace, run, try_commit};

cases! { "counters":
    the_first_addition_makes_the_row,
    additions_add_up,
    every_figure_is_apart,
    nothing_added_is_applied,
    jobs_and_hours_are_apart,
    two_cells_add_to_one_row,
    large_figures_are_exact,
    a_batch_of_five_hundred_rows,
    a_conflict_beside_it_does_not_stop_it,
    without_a_fence_it_is_invalid,
    rows_are_ordered_by_hour_and_job,
    hours_before_1970_are_ordered,
    the_span_has_its_first_hour_and_not_its_last,
    a_namespace_holds_all_below,
    one_job_is_picked,
    pages_walk_through_an_hour,
    old_hours_go,
}

async fn the_first_addition_makes_the_row(store: Arc<dyn Store>) {
    Owner::of(&store, 0).await.put(vec![add(1, 5, success(3))]).await;
    assert_eq!(all(&store).await, [(counter_key(1, 5), success(3))]);
}

async fn additions_add_up(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for n in 1..=10 {
        owner.put(vec![add(1, 5, success(n))]).await;
    }
    assert_eq!(all(&store).await, [(counter_key(1, 5), success(55))]);
}

async fn every_figure_is_apart(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let counts = Counts {
        success: 1,
        final_failed: 20,
        cancelled: 300,
        skipped: 4000,
        attempts: 50_000,
        queued_us: 600_000,
        running_us: 7_000_000,
    };
    owner.put(vec![add(1, 5, counts)]).await;
    owner.put(vec![add(1, 5, counts)]).await;
    let mut twice = counts;
    twice.add(&counts);
    assert_eq!(all(&store).await, [(counter_key(1, 5), twice)]);
}

async fn nothing_added_is_applied(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![add(1, 5, success(1))]).await;
    owner.put(vec![add(1, 5, Counts::default())]).await;
    assert_eq!(all(&store).await, [(counter_key(1, 5), success(1))]);
}

async fn jobs_and_hours_are_apart(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![add(1, 5, success(1)), add(2, 5, success(2)), add(1, 6, success(3))]).await;
    owner.put(vec![add(1, 6, success(10))]).await;
    assert_eq!(rows(&store, everything()).await, [(5, 1, 1), (5, 2, 2), (6, 1, 13)]);
}

async fn two_cells_add_to_one_row(store: Arc<dyn Store>) {
    Owner::of(&store, 0).await.put(vec![add(1, 5, success(1))]).await;
    Owner::of(&store, 1).await.put(vec![add(1, 5, success(2))]).await;
    assert_eq!(rows(&store, everything()).await, [(5, 1, 3)]);
}

async fn large_figures_are_exact(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let large = Counts { running_us: (1 << 62) - 1, queued_us: (1 << 53) + 1, ..Counts::default() };
    owner.put(vec![add(1, 5, large)]).await;
    owner.put(vec![add(1, 5, Counts { running_us: 1, queued_us: 0, ..Counts::default() })]).await;
    let expected = Counts { running_us: 1 << 62, queued_us: (1 << 53) + 1, ..Counts::default() };
    assert_eq!(all(&store).await, [(counter_key(1, 5), expected)]);
}

async fn a_batch_of_five_hundred_rows(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for _ in 0..2 {
        owner.put((0..500).rev().map(|n| add(n, 5, success(n + 1))).collect()).await;
    }
    let read = rows(&store, everything()).await;
    assert_eq!(read, (0..500).map(|n| (5, n, 2 * (n + 1))).collect::<Vec<_>>());
}

async fn a_conflict_beside_it_does_not_stop_it(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    owner.put(vec![Write::InsertRun(run(1))]).await;
    owner.commit(vec![Write::InsertRun(run(1)), add(1, 5, success(1))]).await;
    assert_eq!(rows(&store, everything()).await, [(5, 1, 1)]);
}

async fn without_a_fence_it_is_invalid(store: Arc<dyn Store>) {
    let answer = try_commit(&store, vec![Write::InsertRun(run(1)), add(1, 5, success(1))]).await;
    assert!(matches!(answer, Err(Error::Invalid(_))), "{answer:?}");
    assert_eq!(all(&store).await, []);
}

async fn rows_are_ordered_by_hour_and_job(store: Arc<dyn Store>) {
    let keys = [(2, 9), (1, 300), (9, 1), (1, 9), (300, 1)];
    let writes = keys.map(|(job, hour)| add(job, hour, success(1))).to_vec();
    Owner::of(&store, 0).await.put(writes).await;
    let read: Vec<(i64, u64)> =
        rows(&store, everything()).await.iter().map(|(hour, job, _)| (*hour, *job)).collect();
    assert_eq!(read, [(1, 9), (1, 300), (9, 1), (9, 2), (300, 1)]);
}

async fn hours_before_1970_are_ordered(store: Arc<dyn Store>) {
    let writes = [0, -300, 1, -1].map(|hour| add(1, hour, success(1))).to_vec();
    Owner::of(&store, 0).await.put(writes).await;
    let read: Vec<i64> = rows(&store, everything()).await.iter().map(|(hour, ..)| *hour).collect();
    assert_eq!(read, [-300, -1, 0, 1]);
}

async fn the_span_has_its_first_hour_and_not_its_last(store: Arc<dyn Store>) {
    Owner::of(&store, 0).await.put((1..=5).map(|n| add(1, n, success(1))).collect()).await;
    let query = CounterQuery { from: hour(2), until: hour(4), ..everything() };
    assert_eq!(rows(&store, query).await, [(2, 1, 1), (3, 1, 1)]);
    let empty = CounterQuery { from: hour(4), until: hour(4), ..everything() };
    assert_eq!(rows(&store, empty).await, []);
    let turned = CounterQuery { from: hour(4), until: hour(2), ..everything() };
    assert_eq!(rows(&store, turned).await, []);
}

async fn a_namespace_holds_all_below(store: Arc<dyn Store>) {
    let spaces = ["acme", "acme/data", "acme2", "acme-x", "beta"];
    let key = |(job, space)| CounterKey { namespace: namespace(space), ..counter_key(job, 5) };
    let writes = (1..).zip(spaces).map(key).map(|key| Write::AddCounts(Box::new((key, success(1)))));
    Owner::of(&store, 0).await.put(writes.collect()).await;
    let query = |space| CounterQuery { namespace: Some(namespace(space)), ..everything() };
    assert_eq!(rows(&store, query("acme")).await, [(5, 1, 1), (5, 2, 1)]);
    assert_eq!(rows(&store, query("acme/data")).await, [(5, 2, 1)]);
}

async fn one_job_is_picked(store: Arc<dyn Store>) {
    Owner::of(&store, 0).await.put((1..=5).map(|n| add(n, 5, success(n))).collect()).await;
    let query = CounterQuery { job: Some(job_id(3)), ..everything() };
    assert_eq!(rows(&store, query).await, [(5, 3, 3)]);
}

async fn pages_walk_through_an_hour(store: Arc<dyn Store>) {
    let keys: Vec<(u64, i64)> = (1..=3).flat_map(|hour| (1..=5).map(move |job| (job, hour))).collect();
    Owner::of(&store, 0)
        .await
        .put(keys.iter().map(|(job, hour)| add(*job, *hour, success(1))).collect())
        .await;
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.counters(CounterQuery { after, limit: 2, ..everything() }).await.unwrap();
        after = page.rows.last().map(|(key, _)| (key.hour, key.job)).or(after);
        seen.extend(page.rows.into_iter().map(|(key, _)| key));
        if !page.more {
            break;
        }
    }
    assert_eq!(seen, keys.iter().map(|(job, hour)| counter_key(*job, *hour)).collect::<Vec<_>>());
}

async fn old_hours_go(store: Arc<dyn Store>) {
    Owner::of(&store, 0).await.put((1..=5).map(|n| add(1, n, success(1))).collect()).await;
    assert_eq!(store.retain_counters(hour(3)).await.unwrap(), 2);
    assert_eq!(store.retain_counters(hour(3)).await.unwrap(), 0);
    assert_eq!(rows(&store, everything()).await, [(3, 1, 1), (4, 1, 1), (5, 1, 1)]);
}

async fn all(store: &Arc<dyn Store>) -> Vec<(CounterKey, Counts)> {
    store.counters(everything()).await.unwrap().rows
}

/// (hour, job, successes) of each row.
async fn rows(store: &Arc<dyn Store>, query: CounterQuery) -> Vec<(i64, u64, u64)> {
    let page = store.counters(query).await.unwrap();
    assert!(!page.more);
    let number = |key: &CounterKey| (0..1000).find(|n| job_id(*n) == key.job).unwrap();
    page.rows
        .iter()
        .map(|(key, counts)| (key.hour.as_micros() / hour(1).as_micros(), number(key), counts.success))
        .collect()
}

fn everything() -> CounterQuery {
    CounterQuery {
        namespace: None,
        job: None,
        from: Timestamp::from_micros(i64::MIN),
        until: Timestamp::MAX,
        after: None,
        limit: 1000,
    }
}

fn add(job: u64, hour: i64, counts: Counts) -> Write {
    Write::AddCounts(Box::new((counter_key(job, hour), counts)))
}

fn success(success: u64) -> Counts {
    Counts { success, ..Counts::default() }
}
