//! Pages of runs for people: newest first, with every filter, and reads by id.

use std::sync::Arc;

use mainspring_model::{Run, RunId, RunState, Timestamp};
use mainspring_store::{RunQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{
    at, at_micros, ended, full_head, full_status, job_id, namespace, put, run, run_at, run_id, run_ids,
    run_with,
};

cases! { "pages":
    an_empty_store_has_an_empty_page,
    the_newest_come_first,
    runs_come_whole,
    more_is_said_exactly,
    a_cursor_goes_on_with_older_runs,
    a_namespace_holds_itself_and_all_below,
    a_namespace_is_no_pattern,
    one_job_is_picked,
    states_are_picked,
    a_span_has_its_begin_and_not_its_end,
    a_span_within_a_millisecond,
    a_span_at_the_extremes,
    all_filters_hold_together,
    more_counts_only_what_passes_the_filters,
    the_oldest_come_first_when_asked,
    a_walk_sees_every_row_once,
    a_walk_is_not_disturbed_by_inserts,
    live_and_ended_runs_are_listed_alike,
    ids_that_are_missing_are_missing,
    ids_asked_twice_come_once,
    no_ids_give_no_runs,
    ten_thousand_ids,
}

async fn an_empty_store_has_an_empty_page(store: Arc<dyn Store>) {
    assert_eq!(page(&store, |_| {}).await, (vec![], false));
}

async fn the_newest_come_first(store: Arc<dyn Store>) {
    put(&store, [3, 1, 300, 2, 256].map(|n| Write::InsertRun(run(n))).to_vec()).await;
    assert_eq!(page(&store, |_| {}).await, (vec![300, 256, 3, 2, 1], false));
}

async fn runs_come_whole(store: Arc<dyn Store>) {
    let full = Run { head: Arc::new(full_head(2)), status: full_status() };
    put(&store, vec![Write::InsertRun(run(1)), Write::InsertRun(full.clone())]).await;
    let page = store.runs(RunQuery { limit: 10, ..RunQuery::default() }).await.unwrap();
    assert_eq!(page.rows, [full, run(1)]);
}

async fn more_is_said_exactly(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    for (limit, expected) in [
        (0, (vec![], true)),
        (2, (vec![2, 1], true)),
        (3, (vec![2, 1, 0], false)),
        (4, (vec![2, 1, 0], false)),
    ] {
        assert_eq!(page(&store, |query| query.limit = limit).await, expected, "{limit}");
    }
}

async fn a_cursor_goes_on_with_older_runs(store: Arc<dyn Store>) {
    fill(&store, 5).await;
    assert_eq!(page(&store, |query| query.after = Some(run_id(3))).await, (vec![2, 1, 0], false));
    assert_eq!(page(&store, |query| query.after = Some(run_id(0))).await, (vec![], false));
    assert_eq!(page(&store, |query| query.after = Some(RunId::MAX)).await.0.len(), 5);
    assert_eq!(page(&store, |query| query.after = Some(RunId::MIN)).await, (vec![], false));
}

async fn a_namespace_holds_itself_and_all_below(store: Arc<dyn Store>) {
    let spaces = [
        "acme",
        "acme2",
        "acme/data",
        "acme-x",
        "acme/data/etl",
        "acme.x",
        "beta",
        "acm",
        "acme/data2",
        "beta/acme",
    ];
    for (n, space) in (0..).zip(spaces) {
        put(&store, vec![Write::InsertRun(run_with(n, |head, _| head.namespace = namespace(space)))]).await;
    }
    for (space, expected) in [
        ("acme", vec![8, 4, 2, 0]),
        ("acme/data", vec![4, 2]),
        ("acme/data/etl", vec![4]),
        ("acme2", vec![1]),
        ("beta", vec![9, 6]),
        ("nobody", vec![]),
    ] {
        let found = page(&store, |query| query.namespace = Some(namespace(space))).await;
        assert_eq!(found, (expected, false), "{space}");
    }
}

async fn a_namespace_is_no_pattern(store: Arc<dyn Store>) {
    for (n, space) in (0..).zip(["a_b", "axb", "a_b/c", "axb/c", "a-b/c"]) {
        put(&store, vec![Write::InsertRun(run_with(n, |head, _| head.namespace = namespace(space)))]).await;
    }
    assert_eq!(page(&store, |query| query.namespace = Some(namespace("a_b"))).await, (vec![2, 0], false));
}

async fn one_job_is_picked(store: Arc<dyn Store>) {
    put(&store, (0..9).map(|n| Write::InsertRun(of_job(n, n % 3))).collect()).await;
    assert_eq!(page(&store, |query| query.job = Some(job_id(1))).await, (vec![7, 4, 1], false));
    assert_eq!(page(&store, |query| query.job = Some(job_id(9))).await, (vec![], false));
}

async fn states_are_picked(store: Arc<dyn Store>) {
    for (n, state) in (0..).zip(RunState::ALL) {
        put(&store, vec![Write::InsertRun(in_state(n, state))]).await;
    }
    for (n, state) in (0..).zip(RunState::ALL) {
        assert_eq!(page(&store, |query| query.states = vec![state]).await, (vec![n], false), "{state:?}");
    }
    let some = vec![RunState::Skipped, RunState::Ready, RunState::Failed];
    assert_eq!(page(&store, |query| query.states = some).await, (vec![7, 3, 0], false));
    assert_eq!(page(&store, |query| query.states = RunState::ALL.to_vec()).await.0.len(), 8);
    assert_eq!(page(&store, |query| query.states = vec![]).await.0.len(), 8);
}

async fn a_span_has_its_begin_and_not_its_end(store: Arc<dyn Store>) {
    fill(&store, 6).await;
    assert_eq!(page(&store, |query| query.from = Some(at(3))).await, (vec![5, 4, 3], false));
    assert_eq!(page(&store, |query| query.until = Some(at(3))).await, (vec![2, 1, 0], false));
    let span = |query: &mut RunQuery| (query.from, query.until) = (Some(at(2)), Some(at(4)));
    assert_eq!(page(&store, span).await, (vec![3, 2], false));
    let turned = |query: &mut RunQuery| (query.from, query.until) = (Some(at(4)), Some(at(2)));
    assert_eq!(page(&store, turned).await, (vec![], false));
}

async fn a_span_within_a_millisecond(store: Arc<dyn Store>) {
    // An id knows its millisecond: run 3 was made at 3.000 ms, which is before 3.001 ms.
    fill(&store, 6).await;
    assert_eq!(page(&store, |query| query.from = Some(at_micros(3001))).await, (vec![5, 4], false));
    assert_eq!(page(&store, |query| query.until = Some(at_micros(3001))).await, (vec![3, 2, 1, 0], false));
    assert_eq!(page(&store, |query| query.from = Some(at_micros(2999))).await, (vec![5, 4, 3], false));
}

async fn a_span_at_the_extremes(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    let least = Timestamp::from_micros(i64::MIN);
    let all = |query: &mut RunQuery| (query.from, query.until) = (Some(least), Some(Timestamp::MAX));
    assert_eq!(page(&store, all).await, (vec![2, 1, 0], false));
    assert_eq!(page(&store, |query| query.from = Some(Timestamp::MAX)).await, (vec![], false));
    assert_eq!(page(&store, |query| query.until = Some(least)).await, (vec![], false));
}

async fn all_filters_hold_together(store: Arc<dyn Store>) {
    let row = |n: u64| {
        run_with(n, |head, status| {
            head.namespace = namespace(if n.is_multiple_of(2) { "acme/data" } else { "beta" });
            head.job = job_id(n % 3);
            if n.is_multiple_of(5) {
                (status.state, status.place) = (RunState::Success, None);
            }
        })
    };
    put(&store, (0..120).map(|n| Write::InsertRun(row(n))).collect()).await;
    let query = |query: &mut RunQuery| {
        query.namespace = Some(namespace("acme"));
        query.job = Some(job_id(0));
        query.states = vec![RunState::Success, RunState::Cancelled];
        (query.from, query.until) = (Some(at(20)), Some(at(110)));
        (query.after, query.limit) = (Some(run_id(90)), 1);
    };
    assert_eq!(page(&store, query).await, (vec![60], true));
}

async fn more_counts_only_what_passes_the_filters(store: Arc<dyn Store>) {
    put(&store, (0..9).map(|n| Write::InsertRun(of_job(n, n % 3))).collect()).await;
    let query = |limit| move |query: &mut RunQuery| (query.job, query.limit) = (Some(job_id(0)), limit);
    assert_eq!(page(&store, query(3)).await, (vec![6, 3, 0], false));
    assert_eq!(page(&store, query(2)).await, (vec![6, 3], true));
}

async fn a_walk_sees_every_row_once(store: Arc<dyn Store>) {
    fill(&store, 500).await;
    assert_eq!(walk(&store, 17, |_| vec![]).await, (0..500).rev().map(run_id).collect::<Vec<_>>());
}

async fn the_oldest_come_first_when_asked(store: Arc<dyn Store>) {
    let row = |n: u64| {
        run_with(n, |head, status| {
            head.namespace = namespace(if n.is_multiple_of(2) { "acme/data" } else { "beta" });
            head.job = job_id(n % 4);
            if n.is_multiple_of(3) {
                (status.state, status.place) = (RunState::Success, None);
            }
        })
    };
    put(&store, (0..60).map(|n| Write::InsertRun(row(n))).collect()).await;
    let turned = |change: fn(&mut RunQuery)| {
        move |query: &mut RunQuery| {
            query.oldest_first = true;
            change(query);
        }
    };
    assert_eq!(page(&store, turned(|query| query.limit = 3)).await, (vec![0, 1, 2], true));
    let after = turned(|query| (query.after, query.limit) = (Some(run_id(57)), 5));
    assert_eq!(page(&store, after).await, (vec![58, 59], false));
    let within = turned(|query| {
        (query.namespace, query.after) = (Some(namespace("acme")), Some(run_id(50)));
    });
    assert_eq!(page(&store, within).await, (vec![52, 54, 56, 58], false));
    let of_job = turned(|query| (query.job, query.limit) = (Some(job_id(1)), 4));
    assert_eq!(page(&store, of_job).await, (vec![1, 5, 9, 13], true));
    let span = turned(|query| {
        (query.from, query.after, query.limit) = (Some(at(20)), Some(run_id(10)), 2);
    });
    assert_eq!(page(&store, span).await, (vec![20, 21], true));
}

async fn a_walk_is_not_disturbed_by_inserts(store: Arc<dyn Store>) {
    put(&store, (0..100).map(|n| Write::InsertRun(run(n * 10))).collect()).await;
    // One newer than everything, one older than everything, at every step of the first twenty.
    let around = |step: i64| match step {
        0..20 => vec![run_at(at(100_000 + step), 1), run_at(at(-1000 - step), 1)],
        _ => vec![],
    };
    let seen = walk(&store, 7, around).await;
    let first: Vec<RunId> = (0..100).rev().map(|n| run_id(n * 10)).collect();
    let steady: Vec<RunId> = seen.iter().copied().filter(|id| first.contains(id)).collect();
    assert_eq!(steady, first);
    assert!(seen.is_sorted_by(|one, other| one > other), "every row once, newest first");
}

async fn live_and_ended_runs_are_listed_alike(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1)), Write::InsertRun(ended(2)), Write::InsertRun(run(3))]).await;
    assert_eq!(page(&store, |_| {}).await, (vec![3, 2, 1], false));
}

async fn ids_that_are_missing_are_missing(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    assert_eq!(by_id(&store, &[9, 1, 7, 2]).await, [1, 2]);
}

async fn ids_asked_twice_come_once(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    assert_eq!(by_id(&store, &[1, 2, 1, 1]).await, [1, 2]);
}

async fn no_ids_give_no_runs(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    assert_eq!(by_id(&store, &[]).await, Vec::<u64>::new());
}

async fn ten_thousand_ids(store: Arc<dyn Store>) {
    fill(&store, 3000).await;
    let asked: Vec<u64> = (0..10_000).rev().collect();
    assert_eq!(by_id(&store, &asked).await, (0..3000).collect::<Vec<_>>());
}

/// Reads page after page; what `between` makes is inserted after each.
async fn walk(store: &Arc<dyn Store>, limit: usize, between: impl Fn(i64) -> Vec<Run>) -> Vec<RunId> {
    let (mut seen, mut after) = (Vec::new(), None);
    for step in 0.. {
        let page = store.runs(RunQuery { after, limit, ..RunQuery::default() }).await.unwrap();
        seen.extend(run_ids(&page));
        after = seen.last().copied();
        if !page.more {
            break;
        }
        put(store, between(step).into_iter().map(Write::InsertRun).collect()).await;
    }
    seen
}

async fn page(store: &Arc<dyn Store>, change: impl FnOnce(&mut RunQuery)) -> (Vec<u64>, bool) {
    let mut query = RunQuery { limit: 1000, ..RunQuery::default() };
    change(&mut query);
    let page = store.runs(query).await.unwrap();
    (run_ids(&page).iter().map(number).collect(), page.more)
}

async fn by_id(store: &Arc<dyn Store>, numbers: &[u64]) -> Vec<u64> {
    let ids: Vec<RunId> = numbers.iter().copied().map(run_id).collect();
    let mut found: Vec<u64> =
        store.runs_by_id(&ids).await.unwrap().iter().map(|run| number(&run.head.id)).collect();
    found.sort();
    found
}

/// The number of a run from the fixture.
fn number(id: &RunId) -> u64 {
    id.made_at().since(at(0)).as_millis() as u64
}

async fn fill(store: &Arc<dyn Store>, count: u64) {
    put(store, (0..count).map(|n| Write::InsertRun(run(n))).collect()).await;
}

fn of_job(n: u64, job: u64) -> Run {
    run_with(n, |head, _| head.job = job_id(job))
}

fn in_state(n: u64, state: RunState) -> Run {
    run_with(n, |_, status| {
        status.state = state;
        status.place = status.place.filter(|_| !state.is_terminal());
    })
}
