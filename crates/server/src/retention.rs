//! Removing rows that are past their time: ended runs as their jobs say, roll-ups, expired records, nodes that are gone. A little at a time, so
//! that nobody waits for it; never anything that is not over (the store sees to that, I30).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainspring_model::{JobId, Timestamp, limits};
use mainspring_store::{RecordRetention, Result, Retention, Store, Versions};
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::gone_nodes;

/// Rows removed at once.
pub(crate) const ROWS_AT_ONCE: usize = 500;
/// Rows removed in one round: a clock that is far ahead does not empty the store at once.
pub(crate) const ROWS_PER_ROUND_MAX: u64 = 200_000;
/// Jobs whose rules are read at once.
const JOBS_AT_ONCE: usize = 500;
/// The shortest pause after rows were removed.
const BREATH: Duration = Duration::from_millis(20);
/// Looking rests for so many times as long as it took, once that is worth a rest. No rest is longer than the last: a store that
/// hung for a minute is no reason to stay away for ten.
const REST: u32 = 9;
const REST_WORTH: Duration = Duration::from_millis(2);
const REST_MAX: Duration = Duration::from_secs(20);

/// How long things are kept that say nothing themselves.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// Ended runs of jobs without a retention of their own, and nodes that are gone: such runs name them.
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
pub(crate) struct Pace {
    began: Instant,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now() }
    }

    /// Something was looked at.
    pub(crate) async fn looked(&mut self) {
        let took = self.began.elapsed();
        if took >= REST_WORTH {
            self.rest(took * REST).await;
        }
    }

    /// Rows were removed, and there may be more: they are in the way until they are gone, so it rests for half of the time.
    pub(crate) async fn removed(&mut self) {
        self.rest(self.began.elapsed().max(BREATH)).await;
    }

    async fn rest(&mut self, time: Duration) {
        sleep(time.min(REST_MAX)).await;
        self.began = Instant::now();
    }
}

/// A look through everything.
pub(crate) struct Round<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) now: Timestamp,
    pub(crate) keeping: Keeping,
    /// Whether this server still is the one that tidies.
    pub(crate) may_go_on: &'a (dyn Fn() -> bool + Sync),
    /// Rows that may still be removed.
    left: AtomicU64,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        store: &'a dyn Store,
        now: Timestamp,
        keeping: Keeping,
        may_go_on: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self { store, now, keeping, may_go_on, left: AtomicU64::new(ROWS_PER_ROUND_MAX) }
    }

    /// How many rows may be removed at once now.
    fn rows_at_once(&self) -> usize {
        ROWS_AT_ONCE.min(usize::try_from(self.left.load(Ordering::Relaxed)).unwrap_or(ROWS_AT_ONCE))
    }

    /// Rows were removed: whether there may be more, and more may be removed.
    fn removed(&self, removed: u64, limit: usize) -> bool {
        let left = self.left.load(Ordering::Relaxed).saturating_sub(removed);
        self.left.store(left, Ordering::Relaxed);
        if left == 0 && removed > 0 {
            warn!("this round has removed {ROWS_PER_ROUND_MAX} rows; the rest is left to the next");
        }
        removed == limit as u64 && left > 0
    }

    /// Removes what is past its time. Jobs are looked at after this one, if there is one: where the last round broke off.
    pub(crate) async fn hold(&self, scope: Scope, after: &mut Option<JobId>) -> Result<()> {
        let mut pace = Pace::new();
        // First what is soon done: looking at every job may take long.
        self.store.retain_counters(self.now - self.keeping.counters).await?;
        let expired = RecordRetention::Expired { at: self.now };
        loop {
            let limit = self.rows_at_once();
            let removed = self.store.retain_records(expired.clone(), limit).await?;
            if !self.removed(removed, limit) {
                break;
            }
            pace.removed().await;
        }
        gone_nodes::remove(self, &mut pace).await?;
        self.hold_jobs(after, &mut pace).await?;
        if scope == Scope::All {
            self.hold_strays(&mut pace).await?;
        }
        Ok(())
    }

    /// Runs of jobs, as each job says.
    async fn hold_jobs(&self, after: &mut Option<JobId>, pace: &mut Pace) -> Result<()> {
        while (self.may_go_on)() {
            let page = self.store.jobs(None, *after, JOBS_AT_ONCE).await?;
            let keys: Vec<(JobId, u32)> = page.rows.iter().map(|job| (job.id, job.current_version)).collect();
            // One whose specification cannot be read is left alone: nobody knows.
            let mut versions = Versions::read(self.store, &keys).await?.readable;
            versions.sort_unstable_by_key(|version| version.job);
            for version in versions {
                let keep = &version.spec.retention.runs;
                let count = keep.count.map(|count| u64::from(count.get()));
                // A job that says anything itself is not held to the default: it may keep its runs for longer.
                let age = keep.age.or_else(|| count.is_none().then_some(self.keeping.runs));
                let made_before = age.map(|age| self.now - age);
                let rule = Retention { job: Some(version.job), made_before, keep_newest: count };
                if let Err(error) = self.tidy(version.job, &rule, pace).await {
                    // The next round goes on behind it: one that fails each time keeps nobody from their turn.
                    *after = Some(version.job);
                    return Err(error);
                }
            }
            *after = page.rows.last().map(|job| job.id).filter(|_| page.more);
            if !page.more {
                break;
            }
        }
        Ok(())
    }

    /// Runs without a job, by the default.
    async fn hold_strays(&self, pace: &mut Pace) -> Result<()> {
        let mut after = None;
        while (self.may_go_on)() {
            let page = self.store.jobs_with_runs(after, limits::PAGE_ROWS_MAX).await?;
            for job in &page.rows {
                if self.store.job(*job).await?.is_none() {
                    let made_before = Some(self.now - self.keeping.runs);
                    let rule = Retention { job: Some(*job), made_before, keep_newest: None };
                    self.tidy(*job, &rule, pace).await?;
                }
                pace.looked().await;
            }
            after = page.rows.last().copied();
            if !page.more {
                break;
            }
        }
        Ok(())
    }

    /// One job that cannot be tidied does not keep the others.
    async fn tidy(&self, job: JobId, rule: &Retention, pace: &mut Pace) -> Result<()> {
        match self.retain(rule, pace).await {
            Err(error) if !error.is_transient() => {
                warn!(%job, %error, "the runs of a job cannot be tidied");
                Ok(())
            }
            tidied => tidied,
        }
    }

    async fn retain(&self, rule: &Retention, pace: &mut Pace) -> Result<()> {
        loop {
            let limit = self.rows_at_once();
            if limit == 0 {
                return Ok(());
            }
            let removed = self.store.retain(rule.clone(), limit).await?;
            if removed > 0 {
                debug!(removed, job = ?rule.job, "old runs were removed");
            }
            if !self.removed(removed, limit) {
                pace.looked().await;
                return Ok(());
            }
            pace.removed().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

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
        let began = Instant::now();
        tokio::time::advance(Duration::from_millis(1)).await;
        pace.removed().await;
        assert_eq!(began.elapsed(), Duration::from_millis(1) + BREATH);
        tokio::time::advance(Duration::from_millis(90)).await;
        pace.removed().await;
        assert_eq!(began.elapsed(), Duration::from_millis(1 + 90 + 90) + BREATH);
    }

    async fn hold(store: &dyn Store, keeping: Keeping, scope: Scope) {
        let round = Round::new(store, day(101), keeping, &|| true);
        round.hold(scope, &mut None).await.unwrap();
    }

    /// The runs of so many jobs that they are on three pages, and those that are left.
    async fn many() -> (MemStore, impl AsyncFn() -> usize) {
        let (store, jobs) = (MemStore::default(), (2 * JOBS_AT_ONCE + 1) as u128);
        let writes = (1..=jobs).flat_map(|n| {
            let mut writes = Vec::from(writes_of(job(n), ""));
            writes.push(ended(job(n), 10));
            writes
        });
        store.commit(Transaction::unfenced(writes.collect())).await.unwrap();
        let counted = store.clone();
        let left = async move || {
            let query = RunQuery { limit: limits::PAGE_ROWS_MAX, ..RunQuery::default() };
            counted.runs(query).await.unwrap().rows.len()
        };
        (store, left)
    }

    #[tokio::test]
    async fn a_server_that_is_no_longer_the_one_stops_with_the_page() {
        let (store, left) = many().await;
        let asked = AtomicUsize::new(0);
        let may_go_on = || asked.fetch_add(1, Ordering::SeqCst) == 0;
        let round = Round::new(&store, day(101), Keeping::default(), &may_go_on);
        let mut after = None;
        round.hold(Scope::All, &mut after).await.unwrap();
        assert_eq!(left().await, JOBS_AT_ONCE + 1);
        // Whoever it is next begins where this one stopped, or at the beginning: here it is the same again.
        let round = Round::new(&store, day(101), Keeping::default(), &|| true);
        round.hold(Scope::Jobs, &mut after).await.unwrap();
        assert_eq!((left().await, after), (0, None));
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
        hold(&store, keeping, Scope::All).await;
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

    #[tokio::test(start_paused = true)]
    async fn a_round_removes_a_bounded_part() {
        let store = MemStore::default();
        let mut writes = Vec::from(writes_of(job(1), ""));
        writes.extend((10..40).map(|n| ended(job(1), n)));
        store.commit(Transaction::unfenced(writes)).await.unwrap();
        let mut left = Vec::new();
        for _ in 0..4 {
            let round = Round::new(&store, day(101), Keeping::default(), &|| true);
            round.left.store(12, Ordering::Relaxed);
            round.hold(Scope::Jobs, &mut None).await.unwrap();
            let query = RunQuery { limit: limits::PAGE_ROWS_MAX, ..RunQuery::default() };
            left.push(store.runs(query).await.unwrap().rows.len());
        }
        assert_eq!(left, [18, 6, 0, 0]);
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
            hold(&counted, Keeping::default(), Scope::Jobs).await;
            let query = RunQuery { job: Some(job(1)), limit: 10, ..RunQuery::default() };
            assert!(store.runs(query).await.unwrap().rows.is_empty(), "jobs are held to their rules");
            calls.0.load(Ordering::SeqCst)
        };
        assert_eq!(calls(1).await, calls(1_000).await);
    }
}
