//! Retention: by age and by count, the oldest first; what is not over stays, whatever its age (I30).

use std::sync::Arc;

use mainspring_model::{Run, RunId, RunState, Timestamp};
use mainspring_store::{Retention, RunQuery, Store, Write};

use crate::case::cases;
use crate::fixture::{
    at, at_micros, attempt, ended, event, job_id, key_taken, namespace, next, put, read_run, run, run_id,
    run_with, update,
};

cases! { "retention":
    an_empty_store_has_nothing_to_remove,
    old_runs_go,
    the_bound_itself_stays,
    a_bound_within_a_millisecond,
    a_bound_at_the_extremes,
    runs_beyond_the_newest_go,
    a_count_of_none_removes_all_that_ended,
    a_large_count_removes_nothing,
    a_count_counts_only_what_ended,
    either_rule_suffices,
    no_live_state_ever_goes_by_age,
    no_live_state_ever_goes_by_count,
    every_ended_state_goes,
    one_job_is_spared_from_anothers_rule,
    every_job_by_age,
    attempts_and_events_go_too,
    attempts_and_events_of_others_stay,
    the_limit_takes_the_oldest,
    a_limit_of_none_removes_nothing,
    again_and_again_until_nothing_is_left,
    a_key_is_free_again,
    an_id_is_free_again,
    a_run_that_ends_later_goes_later,
    a_thousand_at_once,
}

async fn an_empty_store_has_nothing_to_remove(store: Arc<dyn Store>) {
    assert_eq!(store.retain(before(at(100)), 10).await.unwrap(), 0);
    assert_eq!(store.retain(newest(0), 10).await.unwrap(), 0);
}

async fn old_runs_go(store: Arc<dyn Store>) {
    fill(&store, 6).await;
    assert_eq!(store.retain(before(at(4)), 100).await.unwrap(), 4);
    assert_eq!(left(&store).await, [4, 5]);
}

async fn the_bound_itself_stays(store: Arc<dyn Store>) {
    fill(&store, 1).await;
    assert_eq!(store.retain(before(at(0)), 100).await.unwrap(), 0);
    assert_eq!(store.retain(before(at(1)), 100).await.unwrap(), 1);
}

async fn a_bound_within_a_millisecond(store: Arc<dyn Store>) {
    fill(&store, 5).await;
    assert_eq!(store.retain(before(at_micros(2001)), 100).await.unwrap(), 3);
    assert_eq!(left(&store).await, [3, 4]);
}

async fn a_bound_at_the_extremes(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    assert_eq!(store.retain(before(Timestamp::from_micros(i64::MIN)), 100).await.unwrap(), 0);
    assert_eq!(store.retain(before(Timestamp::MAX), 100).await.unwrap(), 3);
}

async fn runs_beyond_the_newest_go(store: Arc<dyn Store>) {
    fill(&store, 6).await;
    assert_eq!(store.retain(newest(2), 100).await.unwrap(), 4);
    assert_eq!(left(&store).await, [4, 5]);
    assert_eq!(store.retain(newest(2), 100).await.unwrap(), 0);
}

async fn a_count_of_none_removes_all_that_ended(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    put(&store, vec![Write::InsertRun(run(9))]).await;
    assert_eq!(store.retain(newest(0), 100).await.unwrap(), 3);
    assert_eq!(left(&store).await, [9]);
}

async fn a_large_count_removes_nothing(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    for count in [3, 4, u64::from(u32::MAX), i64::MAX as u64] {
        assert_eq!(store.retain(newest(count), 100).await.unwrap(), 0, "{count}");
    }
}

async fn a_count_counts_only_what_ended(store: Arc<dyn Store>) {
    // Live runs between and after: history is as long as was asked for.
    put(&store, [0, 2, 4, 6].map(|n| Write::InsertRun(ended(n))).to_vec()).await;
    put(&store, [1, 3, 5, 7, 8].map(|n| Write::InsertRun(run(n))).to_vec()).await;
    assert_eq!(store.retain(newest(3), 100).await.unwrap(), 1);
    assert_eq!(left(&store).await, [1, 2, 3, 4, 5, 6, 7, 8]);
}

async fn either_rule_suffices(store: Arc<dyn Store>) {
    fill(&store, 6).await;
    let rule = Retention { made_before: Some(at(2)), ..newest(3) };
    assert_eq!(store.retain(rule, 100).await.unwrap(), 3);
    let rule = Retention { made_before: Some(at(5)), ..newest(3) };
    assert_eq!(store.retain(rule, 100).await.unwrap(), 2);
    assert_eq!(left(&store).await, [5]);
}

async fn no_live_state_ever_goes_by_age(store: Arc<dyn Store>) {
    put(&store, live().map(Write::InsertRun).to_vec()).await;
    assert_eq!(store.retain(before(Timestamp::MAX), 100).await.unwrap(), 0);
    assert_eq!(left(&store).await, [0, 1, 2, 3]);
}

async fn no_live_state_ever_goes_by_count(store: Arc<dyn Store>) {
    put(&store, live().map(Write::InsertRun).to_vec()).await;
    assert_eq!(store.retain(newest(0), 100).await.unwrap(), 0);
    assert_eq!(left(&store).await, [0, 1, 2, 3]);
}

async fn every_ended_state_goes(store: Arc<dyn Store>) {
    let states = [RunState::Success, RunState::FinalFailed, RunState::Cancelled, RunState::Skipped];
    for (n, state) in (0..).zip(states) {
        let row = run_with(n, |_, status| (status.state, status.place) = (state, None));
        put(&store, vec![Write::InsertRun(row)]).await;
    }
    assert_eq!(store.retain(before(at(100)), 100).await.unwrap(), 4);
}

async fn one_job_is_spared_from_anothers_rule(store: Arc<dyn Store>) {
    put(&store, (0..6).map(|n| Write::InsertRun(of_job(n, n % 2))).collect()).await;
    assert_eq!(store.retain(Retention { job: Some(job_id(1)), ..before(at(100)) }, 100).await.unwrap(), 3);
    assert_eq!(left(&store).await, [0, 2, 4]);
    assert_eq!(store.retain(newest(1), 100).await.unwrap(), 2);
    assert_eq!(left(&store).await, [4]);
}

async fn every_job_by_age(store: Arc<dyn Store>) {
    put(&store, (0..6).map(|n| Write::InsertRun(of_job(n, n))).collect()).await;
    assert_eq!(store.retain(before(at(3)), 100).await.unwrap(), 3);
    assert_eq!(left(&store).await, [3, 4, 5]);
}

async fn attempts_and_events_go_too(store: Arc<dyn Store>) {
    fill(&store, 1).await;
    put(&store, history(0)).await;
    assert_eq!(store.retain(before(at(100)), 100).await.unwrap(), 1);
    assert_eq!(store.attempts(run_id(0)).await.unwrap(), []);
    assert_eq!(store.events(run_id(0)).await.unwrap(), []);
}

async fn attempts_and_events_of_others_stay(store: Arc<dyn Store>) {
    fill(&store, 2).await;
    put(&store, vec![Write::InsertRun(run(5))]).await;
    for n in [0, 1, 5] {
        put(&store, history(n)).await;
    }
    assert_eq!(store.retain(before(at(1)), 100).await.unwrap(), 1);
    for n in [1, 5] {
        assert_eq!(store.attempts(run_id(n)).await.unwrap().len(), 2);
        assert_eq!(store.events(run_id(n)).await.unwrap().len(), 2);
    }
}

async fn the_limit_takes_the_oldest(store: Arc<dyn Store>) {
    fill(&store, 6).await;
    assert_eq!(store.retain(before(at(5)), 2).await.unwrap(), 2);
    assert_eq!(left(&store).await, [2, 3, 4, 5]);
    assert_eq!(store.retain(newest(1), 2).await.unwrap(), 2);
    assert_eq!(left(&store).await, [4, 5]);
}

async fn a_limit_of_none_removes_nothing(store: Arc<dyn Store>) {
    fill(&store, 3).await;
    assert_eq!(store.retain(before(at(100)), 0).await.unwrap(), 0);
    assert_eq!(left(&store).await, [0, 1, 2]);
}

async fn again_and_again_until_nothing_is_left(store: Arc<dyn Store>) {
    fill(&store, 25).await;
    let mut removed = Vec::new();
    for _ in 0..4 {
        removed.push(store.retain(before(at(100)), 10).await.unwrap());
    }
    assert_eq!(removed, [10, 10, 5, 0]);
}

async fn a_key_is_free_again(store: Arc<dyn Store>) {
    let keyed = |n| {
        run_with(n, |head, status| {
            head.idempotency_key = Some("k".into());
            (status.state, status.place) = (RunState::Success, None);
        })
    };
    put(&store, vec![Write::InsertRun(keyed(1))]).await;
    let again = vec![Write::InsertRun(keyed(2))];
    assert_eq!(crate::fixture::commit(&store, again.clone()).await, [key_taken(run_id(1))]);
    assert_eq!(store.retain(before(at(100)), 100).await.unwrap(), 1);
    assert_eq!(store.run_by_key(&namespace("acme"), "k").await.unwrap(), None);
    put(&store, again).await;
}

async fn an_id_is_free_again(store: Arc<dyn Store>) {
    fill(&store, 1).await;
    assert_eq!(store.retain(before(at(100)), 100).await.unwrap(), 1);
    assert_eq!(read_run(&store, run_id(0)).await, None);
    put(&store, vec![Write::InsertRun(run(0))]).await;
}

async fn a_run_that_ends_later_goes_later(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(store.retain(before(at(100)), 100).await.unwrap(), 0);
    let over = next(&run(1), |status| (status.state, status.place) = (RunState::Cancelled, None));
    put(&store, vec![update(&over)]).await;
    assert_eq!(store.retain(before(at(100)), 100).await.unwrap(), 1);
}

async fn a_thousand_at_once(store: Arc<dyn Store>) {
    fill(&store, 1000).await;
    assert_eq!(store.retain(newest(10), 10_000).await.unwrap(), 990);
    assert_eq!(left(&store).await, (990..1000).collect::<Vec<_>>());
}

/// The numbers of the runs that are left, oldest first.
async fn left(store: &Arc<dyn Store>) -> Vec<u64> {
    let page = store.runs(RunQuery { limit: 1000, ..RunQuery::default() }).await.unwrap();
    let number = |id: RunId| id.made_at().since(at(0)).as_millis() as u64;
    page.rows.iter().rev().map(|run| number(run.head.id)).collect()
}

async fn fill(store: &Arc<dyn Store>, count: u64) {
    put(store, (0..count).map(|n| Write::InsertRun(ended(n))).collect()).await;
}

fn history(n: u64) -> Vec<Write> {
    vec![
        Write::InsertAttempt(Box::new(attempt(run_id(n), 1))),
        Write::InsertAttempt(Box::new(attempt(run_id(n), 2))),
        Write::InsertEvent(Box::new(event(run_id(n), 1, 0))),
        Write::InsertEvent(Box::new(event(run_id(n), 2, 0))),
    ]
}

fn live() -> [Run; 4] {
    let states = [RunState::Ready, RunState::Waiting, RunState::Running, RunState::Failed];
    std::array::from_fn(|n| run_with(n as u64, |_, status| status.state = states[n]))
}

fn of_job(n: u64, job: u64) -> Run {
    let mut row = ended(n);
    let mut head = (*row.head).clone();
    head.job = job_id(job);
    row.head = Arc::new(head);
    row
}

fn before(at: Timestamp) -> Retention {
    Retention { job: None, made_before: Some(at), keep_newest: None }
}

/// Keeps the newest so many of job 0.
fn newest(count: u64) -> Retention {
    Retention { job: Some(job_id(0)), made_before: None, keep_newest: Some(count) }
}
