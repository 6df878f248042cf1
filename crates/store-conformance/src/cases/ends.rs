//! Ends of runs: the newest of each job, without what was asked and what came of it.

use std::sync::Arc;

use mainspring_model::{Payload, Run, RunState};
use mainspring_store::{Error, RunEnd, Store, Write};

use crate::case::cases;
use crate::fixture::{at, ended, full_status, job_id, put, run_id, run_with};

cases! { "ends":
    no_runs_have_no_ends,
    each_job_has_its_own_newest_ends,
    an_end_is_what_the_status_says,
    what_is_large_is_left_out,
    active_runs_have_no_end,
    ends_are_found_behind_a_backlog,
    a_job_asked_twice_is_answered_once,
    many_jobs_are_asked_at_once,
    more_than_a_page_is_refused,
}

async fn no_runs_have_no_ends(store: Arc<dyn Store>) {
    assert_eq!(ends(&store, &[], 5).await, [] as [(u64, u64); 0]);
    assert_eq!(ends(&store, &[1, 2], 5).await, []);
}

async fn each_job_has_its_own_newest_ends(store: Arc<dyn Store>) {
    put(&store, (0..30).map(|n| Write::InsertRun(of_job(n, n % 3))).collect()).await;
    assert_eq!(ends(&store, &[0, 2], 2).await, [(29, 2), (27, 0), (26, 2), (24, 0)]);
    assert_eq!(ends(&store, &[1], 1).await, [(28, 1)]);
    assert_eq!(ends(&store, &[1], 100).await.len(), 10);
    assert_eq!(ends(&store, &[1], 0).await, []);
}

async fn an_end_is_what_the_status_says(store: Arc<dyn Store>) {
    let run = run_with(7, |head, status| {
        head.job = job_id(3);
        (status.state, status.place, status.attempt) = (RunState::FinalFailed, None, 4);
        (status.eligible_at, status.placed_at) = (Some(at(1)), Some(at(20)));
        (status.started_at, status.finished_at) = (Some(at(21)), Some(at(4_000_000)));
    });
    let expected = RunEnd {
        run: run.head.id,
        job: job_id(3),
        state: RunState::FinalFailed,
        attempt: 4,
        eligible_at: Some(at(1)),
        placed_at: Some(at(20)),
        started_at: Some(at(21)),
        finished_at: Some(at(4_000_000)),
    };
    put(&store, vec![Write::InsertRun(run)]).await;
    assert_eq!(store.newest_ends(&[job_id(3)], 1).await.unwrap(), [expected]);
}

async fn what_is_large_is_left_out(store: Arc<dyn Store>) {
    let run = run_with(1, |head, status| {
        head.params = Payload::from(vec![b'x'; 100_000]);
        *status = full_status();
        (status.state, status.place) = (RunState::Success, None);
        status.extra_mut().result = Some(Payload::from(vec![0; 500_000]));
    });
    let expected = RunEnd::of(&run).unwrap();
    put(&store, vec![Write::InsertRun(run)]).await;
    assert_eq!(store.newest_ends(&[job_id(0)], 5).await.unwrap(), [expected]);
}

async fn active_runs_have_no_end(store: Arc<dyn Store>) {
    for (n, state) in (0..).zip(RunState::ALL) {
        let run = run_with(n, |_, status| {
            status.state = state;
            if state.is_terminal() {
                status.place = None;
            }
        });
        put(&store, vec![Write::InsertRun(run)]).await;
    }
    let over = (0..).zip(RunState::ALL).filter(|(_, state)| state.is_terminal()).map(|(n, _)| (n, 0));
    let mut over: Vec<(u64, u64)> = over.collect();
    over.reverse();
    assert_eq!(ends(&store, &[0], 100).await, over);
}

async fn ends_are_found_behind_a_backlog(store: Arc<dyn Store>) {
    let waits = |n: u64, job: u64| run_with(n, |head, _| head.job = job_id(job));
    put(&store, (0..50).map(|n| Write::InsertRun(of_job(n, n % 2))).collect()).await;
    put(&store, (50..250).map(|n| Write::InsertRun(waits(n, 0))).collect()).await;
    put(&store, (250..260).map(|n| Write::InsertRun(of_job(n, 0))).collect()).await;
    let own: Vec<u64> = (250..260).rev().chain((0..25).rev().map(|n| n * 2)).take(15).collect();
    let other: Vec<u64> = (0..25).rev().map(|n| n * 2 + 1).take(15).collect();
    let mut expected: Vec<(u64, u64)> = own.iter().map(|n| (*n, 0)).collect();
    expected.extend(other.iter().map(|n| (*n, 1)));
    expected.sort_unstable_by(|one, two| two.cmp(one));
    assert_eq!(ends(&store, &[0, 1], 15).await, expected);
}

async fn a_job_asked_twice_is_answered_once(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(of_job(1, 5))]).await;
    assert_eq!(ends(&store, &[5, 5, 6, 5], 3).await, [(1, 5)]);
}

async fn many_jobs_are_asked_at_once(store: Arc<dyn Store>) {
    put(&store, (0..600).map(|n| Write::InsertRun(of_job(n, n % 100))).collect()).await;
    let jobs: Vec<u64> = (0..100).collect();
    let expected: Vec<(u64, u64)> = (200..600).rev().map(|n| (n, n % 100)).collect();
    assert_eq!(ends(&store, &jobs, 4).await, expected);
}

async fn more_than_a_page_is_refused(store: Arc<dyn Store>) {
    let jobs: Vec<_> = (0..101).map(job_id).collect();
    assert!(matches!(store.newest_ends(&jobs, 100).await, Err(Error::Invalid(_))));
    assert_eq!(store.newest_ends(&jobs[1..], 100).await.unwrap(), []);
}

/// The numbers of runs and of their jobs, the newest first.
async fn ends(store: &Arc<dyn Store>, jobs: &[u64], each: usize) -> Vec<(u64, u64)> {
    let ids: Vec<_> = jobs.iter().copied().map(job_id).collect();
    let ends = store.newest_ends(&ids, each).await.unwrap();
    let number = |end: &RunEnd| {
        let run = (0..1000).find(|n| run_id(*n) == end.run).unwrap();
        (run, (0..200).find(|n| job_id(*n) == end.job).unwrap())
    };
    let mut ends: Vec<(u64, u64)> = ends.iter().map(number).collect();
    ends.sort_unstable_by(|one, two| two.cmp(one));
    ends
}

/// An ended run of a job.
fn of_job(n: u64, job: u64) -> Run {
    let mut run = ended(n);
    Arc::make_mut(&mut run.head).job = job_id(job);
    run
}
