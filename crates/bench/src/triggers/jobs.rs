//! Jobs with one trigger each, as a store has them after somebody put them.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use mainspring_engine::{Merged, TriggerKey, merge, news_key};
use mainspring_model::spec::{Body, Days, Misfire, MisfirePolicy, Process, Trigger, When};
use mainspring_model::{Calendars, CellId, Job, JobId, JobSpec, JobVersion, Namespace, Timestamp};
use mainspring_store::{Outcome, Record, Store, Transaction, Write};

/// The only cell of a server that was not told otherwise.
pub(super) const CELL: CellId = CellId(0);
const NAMESPACES: usize = 10;
const TRIGGER: &str = "cron";
/// Jobs written in one transaction, and transactions at a time.
const JOBS_PER_COMMIT: usize = 2_000;
const COMMITS_AT_ONCE: usize = 2;

/// When a trigger fires.
#[derive(Debug, Clone)]
pub(super) struct Rhythm {
    pub(super) cron: String,
    /// Its job was put then.
    pub(super) put_at: Timestamp,
    /// Whether each moment makes a run, also while the run before it waits.
    pub(super) each_counts: bool,
}

/// The namespaces, each once in memory.
pub(super) struct Jobs(Vec<Namespace>);

impl Jobs {
    pub(super) fn new() -> Result<Self> {
        let namespaces = (0..NAMESPACES).map(|n| format!("team-{n}").parse());
        Ok(Self(namespaces.collect::<Result<_, _>>().ok().context("a namespace")?))
    }

    /// What putting the job writes. The news of it was heard: it goes after an hour.
    pub(super) fn writes(&self, n: usize, rhythm: &Rhythm) -> Result<Vec<Write>> {
        let job = id(n);
        let namespace = &self.0[n % NAMESPACES];
        let spec = Arc::new(spec(n, rhythm)?);
        let now = rhythm.put_at;
        let row = Job {
            id: job,
            namespace: namespace.clone(),
            name: spec.name.as_str().into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at: now,
            updated_at: now,
        };
        let version =
            JobVersion { job, version: 1, spec: spec.clone(), created_at: now, created_by: "bench".into() };
        let merged = Merged {
            cell: CELL,
            namespace,
            job,
            version: 1,
            spec: Some(&spec),
            now,
            calendars: Calendars::NONE,
            news: None,
            gone: &[],
        };
        let (news, _) = news_key(CELL, job);
        let is_news = |write: &Write| matches!(write, Write::PutRecord(record) if record.kind == news);
        let mut writes = vec![Write::PutJob(Box::new(row)), Write::InsertJobVersion(Box::new(version))];
        writes.extend(merge(&[], merged).into_iter().filter(|write| !is_news(write)));
        Ok(writes)
    }

    /// The row of its trigger.
    pub(super) fn record(&self, n: usize, rhythm: &Rhythm) -> Result<Record> {
        let record = |write| match write {
            Write::PutRecord(record) => Some(*record),
            _ => None,
        };
        self.writes(n, rhythm)?.into_iter().find_map(record).context("a job without a trigger")
    }

    /// Puts so many jobs into the store.
    pub(super) async fn put(
        &self,
        store: &dyn Store,
        count: usize,
        rhythm: impl Fn(usize) -> Rhythm,
    ) -> Result<()> {
        let firsts: Vec<usize> = (0..count).step_by(JOBS_PER_COMMIT).collect();
        let rhythm = &rhythm;
        let commit = |first: usize| async move {
            let mut writes = Vec::with_capacity(3 * JOBS_PER_COMMIT);
            for n in first..count.min(first + JOBS_PER_COMMIT) {
                writes.extend(self.writes(n, &rhythm(n))?);
            }
            let outcomes = store.commit(Transaction::unfenced(writes)).await?;
            ensure!(outcomes.iter().all(|outcome| *outcome == Outcome::Applied), "a job was not written");
            anyhow::Ok(())
        };
        stream::iter(firsts.into_iter().map(commit)).buffered(COMMITS_AT_ONCE).try_collect().await
    }
}

/// The job of a number; their order is the same.
pub(super) fn id(n: usize) -> JobId {
    JobId::new(Timestamp::from_micros(1_767_225_600_000_000), n as u128)
}

/// Its trigger.
pub(super) fn trigger(n: usize) -> TriggerKey {
    TriggerKey { job: id(n), name: TRIGGER.into() }
}

/// The machine's clock.
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The second of the day of a moment, as a daily cron expression.
pub(super) fn daily(at: Timestamp) -> String {
    let second = at.as_micros() / 1_000_000;
    format!("{} {} {} * * *", second % 60, second / 60 % 60, second / 3_600 % 24)
}

fn spec(n: usize, rhythm: &Rhythm) -> Result<JobSpec> {
    let mut spec = JobSpec::new(format!("job-{n}").parse()?, Body::Process(Process::new("/bin/true")));
    let mut misfire = Misfire::default();
    if rhythm.each_counts {
        misfire.policy = MisfirePolicy::All;
    }
    spec.triggers.push(Trigger {
        name: TRIGGER.parse()?,
        when: When::Cron {
            cron: rhythm.cron.as_str().into(),
            zone: "UTC".into(),
            days: Days::default(),
            dst: Default::default(),
        },
        from: None,
        until: None,
        count: None,
        calendar: Vec::new(),
        needs: Vec::new(),
        jitter: Default::default(),
        misfire,
        parameters: Default::default(),
        pause_after: None,
    });
    Ok(spec)
}
