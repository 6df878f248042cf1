//! Removing rows that are past their time: ended runs as their jobs say, roll-ups, expired records. A little at a time, so
//! that nobody waits for it; never anything that is not over (the store sees to that, I30).

use std::time::Duration;

use mainspring_model::{JobId, Timestamp, limits};
use mainspring_store::{RecordRetention, Result, Retention, Store};
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

/// Rows removed at once.
const ROWS_AT_ONCE: usize = 500;
/// Jobs whose rules are read at once.
const JOBS_AT_ONCE: usize = 500;
/// The pause after rows were removed.
const BREATH: Duration = Duration::from_millis(20);
/// Looking rests for so many times as long as it took, once that is worth a rest, and not for longer than this at a time.
const REST: u32 = 9;
const REST_WORTH: Duration = Duration::from_millis(2);
const REST_MAX: Duration = Duration::from_millis(500);

/// How long things are kept that say nothing themselves.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// Ended runs of jobs without a retention of their own.
    pub runs: Duration,
    /// Roll-ups.
    pub counters: Duration,
    /// Entries of the audit.
    pub audit: Duration,
    /// The ledger of planned moments.
    pub occurrences: Duration,
}

impl Default for Keeping {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(86_400);
        Self { runs: 30 * DAY, counters: 400 * DAY, audit: 400 * DAY, occurrences: 90 * DAY }
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The jobs that there are: as much work as there are jobs, however long the history.
    Jobs,
    /// Also runs whose job was removed, and runs that brought a specification of their own.
    All,
}

/// Leaves the store to others for most of the time.
struct Pace {
    began: Instant,
}

impl Pace {
    fn new() -> Self {
        Self { began: Instant::now() }
    }

    /// Something was looked at.
    async fn looked(&mut self) {
        let took = self.began.elapsed();
        if took >= REST_WORTH {
            sleep((took * REST).min(REST_MAX)).await;
            self.began = Instant::now();
        }
    }
}

/// Removes what is past its time.
pub(crate) async fn hold(store: &dyn Store, now: Timestamp, keeping: Keeping, scope: Scope) -> Result<()> {
    let mut pace = Pace::new();
    // First what is soon done: looking at every job may take long.
    store.retain_counters(now - keeping.counters).await?;
    let expired = RecordRetention::Expired { at: now };
    while store.retain_records(expired.clone(), ROWS_AT_ONCE).await? == ROWS_AT_ONCE as u64 {
        sleep(BREATH).await;
    }
    hold_jobs(store, now, keeping, &mut pace).await?;
    if scope == Scope::All {
        hold_strays(store, now, keeping, &mut pace).await?;
    }
    Ok(())
}

/// Runs of jobs, as each job says.
async fn hold_jobs(store: &dyn Store, now: Timestamp, keeping: Keeping, pace: &mut Pace) -> Result<()> {
    let mut after = None;
    loop {
        let page = store.jobs(None, after, JOBS_AT_ONCE).await?;
        let keys: Vec<(JobId, u32)> = page.rows.iter().map(|job| (job.id, job.current_version)).collect();
        // One whose specification cannot be read is left alone: nobody knows.
        for version in store.job_versions(&keys).await? {
            let keep = &version.spec.retention.runs;
            let count = keep.count.map(|count| u64::from(count.get()));
            // A job that says anything itself is not held to the default: it may keep its runs for longer.
            let age = keep.age.or_else(|| count.is_none().then_some(keeping.runs));
            let made_before = age.map(|age| now - age);
            let rule = Retention { job: Some(version.job), made_before, keep_newest: count };
            tidy(store, version.job, &rule, pace).await?;
        }
        after = page.rows.last().map(|job| job.id);
        if !page.more {
            return Ok(());
        }
    }
}

/// Runs without a job, by the default.
async fn hold_strays(store: &dyn Store, now: Timestamp, keeping: Keeping, pace: &mut Pace) -> Result<()> {
    let mut after = None;
    loop {
        let page = store.jobs_with_runs(after, limits::PAGE_ROWS_MAX).await?;
        for job in &page.rows {
            if store.job(*job).await?.is_none() {
                let made_before = Some(now - keeping.runs);
                tidy(store, *job, &Retention { job: Some(*job), made_before, keep_newest: None }, pace)
                    .await?;
            }
            pace.looked().await;
        }
        after = page.rows.last().copied();
        if !page.more {
            return Ok(());
        }
    }
}

/// One job that cannot be tidied does not keep the others.
async fn tidy(store: &dyn Store, job: JobId, rule: &Retention, pace: &mut Pace) -> Result<()> {
    match retain(store, rule, pace).await {
        Err(error) if !error.is_transient() => {
            warn!(%job, %error, "the runs of a job cannot be tidied");
            Ok(())
        }
        tidied => tidied,
    }
}

async fn retain(store: &dyn Store, rule: &Retention, pace: &mut Pace) -> Result<()> {
    loop {
        let removed = store.retain(rule.clone(), ROWS_AT_ONCE).await?;
        if removed > 0 {
            debug!(removed, job = ?rule.job, "old runs were removed");
        }
        if removed < ROWS_AT_ONCE as u64 {
            pace.looked().await;
            return Ok(());
        }
        sleep(BREATH).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mainspring_model::spec::{self, Format};
    use mainspring_model::{CellId, Job, JobVersion, Payload, Run, RunHead, RunId, RunState, RunStatus};
    use mainspring_store::{Measurement, Metered, Recorder, RunQuery, Transaction, Write};
    use mainspring_store_mem::MemStore;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn day(n: u32) -> Timestamp {
        Timestamp::ZERO + DAY * n
    }

    fn job(n: u128) -> JobId {
        JobId::new(day(0), n)
    }

    /// A run of a job, made and ended on a day.
    fn ended(of: JobId, n: u32) -> Write {
        let head = RunHead {
            id: RunId::new(day(n), u128::from_be_bytes(*of.as_bytes())),
            namespace: "acme".parse().unwrap(),
            job: of,
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at: day(n),
            not_before: None,
            deadline: None,
            params: Payload::from(*b"{}"),
            keys: None,
            submitted_by: "ann".into(),
            fired: None,
            overlap: Default::default(),
        };
        let mut status = RunStatus::arrived(CellId(0), day(n));
        (status.state, status.place, status.finished_at) = (RunState::Success, None, Some(day(n)));
        Write::InsertRun(Run { head: Arc::new(head), status })
    }

    /// A job whose file has this after its name.
    fn writes_of(id: JobId, retention: &str) -> [Write; 2] {
        let file = format!("name: {}\nscript: 'true'\n{retention}", id.to_string().replace('_', "-"));
        let spec = Arc::new(spec::parse(&file, Format::Yaml).unwrap());
        let row = Job {
            id,
            namespace: "acme".parse().unwrap(),
            name: spec.name.as_str().into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at: day(0),
            updated_at: day(0),
        };
        let version = JobVersion { job: id, version: 1, spec, created_at: day(0), created_by: "ann".into() };
        [Write::PutJob(Box::new(row)), Write::InsertJobVersion(Box::new(version))]
    }

    #[tokio::test(start_paused = true)]
    async fn looking_rests_for_most_of_the_time() {
        let (began, mut pace) = (Instant::now(), Pace::new());
        tokio::time::advance(Duration::from_millis(1)).await;
        pace.looked().await;
        assert_eq!(began.elapsed(), Duration::from_millis(1), "not worth a rest yet");
        tokio::time::advance(Duration::from_millis(2)).await;
        pace.looked().await;
        assert_eq!(began.elapsed(), Duration::from_millis(3 + 27));
        tokio::time::advance(Duration::from_secs(60)).await;
        pace.looked().await;
        assert_eq!(began.elapsed(), Duration::from_millis(30) + Duration::from_secs(60) + REST_MAX);
    }

    #[tokio::test]
    async fn each_job_is_held_to_its_own_rule_and_runs_without_a_job_to_the_default() {
        let store = MemStore::default();
        let (silent, long, few, none) = (job(1), job(2), job(3), job(4));
        let mut writes = Vec::new();
        writes.extend(writes_of(silent, ""));
        writes.extend(writes_of(long, "retention: { runs: { age: 90d } }"));
        writes.extend(writes_of(few, "retention: { runs: { count: 1 } }"));
        for job in [silent, long, few, none] {
            writes.extend([10, 50, 95].map(|made| ended(job, made)));
        }
        store.commit(Transaction::unfenced(writes)).await.unwrap();
        let keeping = Keeping { runs: 30 * DAY, ..Keeping::default() };
        hold(&store, day(101), keeping, Scope::All).await.unwrap();
        let left = async |job| {
            let query = RunQuery { job: Some(job), limit: 10, ..RunQuery::default() };
            let rows = store.runs(query).await.unwrap().rows;
            rows.iter().map(|run| run.head.created_at).collect::<Vec<_>>()
        };
        assert_eq!(left(silent).await, [day(95)]);
        assert_eq!(left(long).await, [day(95), day(50)]);
        assert_eq!(left(few).await, [day(95)]);
        assert_eq!(left(none).await, [day(95)], "a run that brought its own specification");
    }

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Recorder for Calls {
        fn record(&self, _: Measurement) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn an_ordinary_round_costs_no_more_when_there_is_more_history() {
        let calls = async |strays: u32| {
            let (store, calls) = (MemStore::default(), Arc::new(Calls::default()));
            let mut writes = Vec::from(writes_of(job(1), ""));
            writes.push(ended(job(1), 10));
            writes.extend((0..strays).map(|n| ended(job(100 + u128::from(n)), 95)));
            store.commit(Transaction::unfenced(writes)).await.unwrap();
            let counted = Metered::new(Arc::new(store.clone()), calls.clone());
            hold(&counted, day(101), Keeping::default(), Scope::Jobs).await.unwrap();
            let query = RunQuery { job: Some(job(1)), limit: 10, ..RunQuery::default() };
            assert!(store.runs(query).await.unwrap().rows.is_empty(), "jobs are held to their rules");
            calls.0.load(Ordering::SeqCst)
        };
        assert_eq!(calls(1).await, calls(1_000).await);
    }
}
