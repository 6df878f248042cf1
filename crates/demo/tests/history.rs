//! A history agrees with itself: lines with moments, roll-ups with rows, and the same seed with itself.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_demo::{Made, Options, make};
use mainspring_engine::{Outcome, TriggerKey, TriggerRow};
use mainspring_model::spec::{Trigger, When};
use mainspring_model::{CellId, CounterKey, Counts, Job, JobSpec, Run, RunState, Timestamp, counter};
use mainspring_store::{CounterQuery, RunQuery, Store};
use mainspring_store_mem::MemStore;

/// A Wednesday noon.
const UNTIL: Timestamp = Timestamp::from_micros(1_763_553_600_000_000);
const PAGE: usize = 10_000;

async fn made(days: u32, seed: u64) -> (MemStore, Made) {
    let store = MemStore::new(Arc::new(|| UNTIL));
    let made = make(&store, Options { days, seed, until: UNTIL }).await.unwrap();
    (store, made)
}

async fn runs(store: &dyn Store) -> Vec<Run> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.runs(RunQuery { after, limit: PAGE, ..RunQuery::default() }).await.unwrap();
        all.extend(page.rows);
        after = all.last().map(|run: &Run| run.head.id);
        if !page.more {
            return all;
        }
    }
}

async fn jobs(store: &dyn Store) -> Vec<(Job, Arc<JobSpec>)> {
    let mut found = Vec::new();
    for job in store.jobs(None, None, PAGE).await.unwrap().rows {
        let version = store.job_versions(&[(job.id, job.current_version)]).await.unwrap().pop().unwrap();
        found.push((job, version.spec));
    }
    found
}

#[tokio::test]
async fn roll_ups_agree_with_rows() {
    let (store, made) = made(4, 1).await;
    let runs = runs(&store).await;
    assert_eq!(runs.len(), made.runs);
    assert!(runs.len() > 3_000, "{}", runs.len());
    let mut counted: BTreeMap<CounterKey, (u64, u64, u64)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.status.state.is_terminal()) {
        let hour = counter::hour_of(run.status.finished_at.unwrap());
        let key = CounterKey { namespace: run.head.namespace.clone(), job: run.head.job, hour };
        let of = Counts::of(run.status.state);
        let sum = counted.entry(key).or_default();
        *sum = (sum.0 + of.success, sum.1 + of.final_failed, sum.2 + u64::from(run.status.attempt));
    }
    let query = CounterQuery {
        namespace: None,
        job: None,
        from: Timestamp::ZERO,
        until: Timestamp::MAX,
        after: None,
        limit: PAGE,
    };
    let rolled = store.counters(query).await.unwrap().rows;
    let rolled: BTreeMap<_, _> =
        rolled.into_iter().map(|(key, c)| (key, (c.success, c.final_failed, c.attempts))).collect();
    assert_eq!(rolled, counted);
}

#[tokio::test]
async fn every_planned_moment_has_one_line() {
    let (store, _) = made(4, 2).await;
    let mut looked_at = 0;
    for (job, spec) in jobs(&store).await {
        for record in store.records(TriggerRow::of_job(CellId(0), job.id)).await.unwrap().rows {
            let row = TriggerRow::read(&record).unwrap();
            let trigger =
                spec.triggers.iter().find(|trigger| trigger.name.as_str() == &*row.key.name).unwrap();
            // What changed under way was planned otherwise before; what follows something else is not planned.
            let is_planned = matches!(trigger.when, When::Every { .. } | When::Cron { .. });
            let is_simple = trigger.calendar.is_empty() && row.state.pause.is_none();
            if !is_planned || !is_simple || job.name.as_ref() == "refresh-prices" {
                continue;
            }
            looked_at += 1;
            check_ledger(&store, &job, trigger, &row.key, row.state.cursor).await;
        }
    }
    assert!(looked_at >= 12, "{looked_at}");
}

async fn check_ledger(store: &MemStore, job: &Job, trigger: &Trigger, key: &TriggerKey, cursor: Timestamp) {
    let seed = Trigger::seed(&job.namespace, &job.name);
    let schedule = trigger.schedule(seed, &Default::default()).unwrap();
    let mut planned = BTreeSet::new();
    let mut at = job.created_at.as_micros();
    while let Some(next) = schedule.next(at).filter(|next| *next <= cursor.as_micros()) {
        planned.insert(Timestamp::from_micros(next));
        at = next;
    }
    let lines = store.records(key.occurrences(None, PAGE)).await.unwrap().rows;
    let lines: Vec<_> = lines.iter().filter_map(mainspring_engine::Occurrence::read).collect();
    let told: BTreeSet<_> =
        lines.iter().filter(|line| line.backfill.is_none()).map(|line| line.planned).collect();
    assert!(lines.iter().all(|line| line.through.is_none()), "{}: nothing was missed", job.name);
    assert_eq!(told, planned, "{}", job.name);
    for line in lines.iter().filter(|line| line.outcome == Outcome::Fired) {
        let run = store.runs_by_id(&[line.run.unwrap()]).await.unwrap().pop().unwrap();
        assert_eq!(run.head.fired.as_ref().unwrap().planned, line.planned);
    }
}

#[tokio::test]
async fn what_is_to_be_seen_is_there() {
    let (store, made) = made(4, 1).await;
    let runs = runs(&store).await;
    let jobs = jobs(&store).await;
    let name = |run: &Run| jobs.iter().find(|(job, _)| job.id == run.head.job).unwrap().0.name.clone();
    let in_state = |state| runs.iter().filter(|run| run.status.state == state).count();
    assert!(in_state(RunState::FinalFailed) >= 10);
    assert!(runs.iter().any(|run| run.status.state == RunState::Success && run.status.attempt > 1));
    assert!(in_state(RunState::Cancelled) >= 1);
    let waiting: BTreeSet<Box<str>> =
        runs.iter().filter(|run| run.status.state == RunState::Waiting).map(name).collect();
    assert!(
        waiting.contains("train-recommendations") && waiting.contains("rebuild-thumbnails"),
        "{waiting:?}"
    );
    assert_eq!(in_state(RunState::Running), 0, "the machines of the past hold nothing");
    assert!(jobs.iter().any(|(job, _)| job.pause.is_some()));
    let mut paused = 0;
    for (job, _) in &jobs {
        for record in store.records(TriggerRow::of_job(CellId(0), job.id)).await.unwrap().rows {
            let row = TriggerRow::read(&record).unwrap();
            paused += u32::from(row.state.pause.is_some());
        }
    }
    assert_eq!(paused, 1, "the carrier that is leaving");
    let logs: BTreeSet<_> = made.logs.iter().map(|(token, _)| *token).collect();
    for run in runs.iter().filter(|run| run.status.started_at.is_some()) {
        assert!(logs.contains(&run.status.token(run.head.id)), "{} has its output", run.head.id);
    }
    assert!(store.leases().await.unwrap().iter().all(|lease| lease.holder.is_none()));
}

#[tokio::test]
async fn the_same_seed_makes_the_same_history() {
    let told = |runs: Vec<Run>| -> Vec<_> {
        let told = |run: Run| (run.head.id, run.status.state, run.status.started_at, run.status.finished_at);
        runs.into_iter().map(told).collect()
    };
    let (one, same, other) = (made(2, 5).await.0, made(2, 5).await.0, made(2, 6).await.0);
    let (one, same, other) = (told(runs(&one).await), told(runs(&same).await), told(runs(&other).await));
    assert_eq!(one, same);
    assert_ne!(one, other);
}
