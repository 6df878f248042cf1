//! The history: finished runs of many jobs in some namespaces, with their roll-ups, written through the store contract.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use mainspring_model::spec::Format;
use mainspring_model::{
    Cause, CellId, CounterKey, Counts, Epoch, Fired, Job, JobId, JobVersion, MemberId, Namespace, NodeId,
    Run, RunHead, RunId, RunState, RunStatus, Timestamp, counter, hash,
};
use mainspring_store::{Fence, LeaseGrant, LeaseRequest, Outcome, Registry, Store, Transaction, Write};

const CELL: CellId = CellId(0);
const JOBS: usize = 200;
const NAMESPACES: usize = 10;
const DAYS: u64 = 30;
/// Writes in one transaction.
const BATCH: usize = 2_000;
const LEASE: Duration = Duration::from_secs(3_600);

/// What to ask for.
pub(super) struct Written {
    pub(super) namespace: Namespace,
    pub(super) job: String,
    pub(super) run: RunId,
    pub(super) failed: RunId,
}

/// Writes so many runs, spread over the last days.
pub(super) async fn write(url: &str, runs: usize) -> Result<Written> {
    let mut registry = Registry::new();
    mainspring_store_sql::register(&mut registry);
    let store = registry.open(url).await?;
    store.migrate().await?;
    let until = Timestamp::ZERO + SystemTime::now().duration_since(UNIX_EPOCH)?;
    let begin = until - Duration::from_secs(DAYS * 86_400);
    let mut writer = Writer::take(&*store, until).await?;
    let jobs = jobs(begin)?;
    for (job, version) in &jobs {
        writer.write(Write::PutJob(Box::new(job.clone()))).await?;
        writer.write(Write::InsertJobVersion(Box::new(version.clone()))).await?;
    }
    let step = until.since(begin) / u32::try_from(runs)?;
    let mut counted: BTreeMap<CounterKey, Counts> = BTreeMap::new();
    let (mut last, mut failed) = (None, None);
    for n in 0..runs {
        let run = finished(n, begin + step * u32::try_from(n)?, &jobs[n % JOBS].0);
        count(&mut counted, &run);
        if run.status.state == RunState::FinalFailed {
            failed = Some(run.head.id);
        }
        last = Some(run.head.id);
        writer.write(Write::InsertRun(run)).await?;
    }
    for row in counted {
        writer.write(Write::AddCounts(Box::new(row))).await?;
    }
    writer.finish().await?;
    Ok(Written {
        namespace: jobs[0].0.namespace.clone(),
        job: jobs[0].0.name.to_string(),
        run: last.context("no runs")?,
        failed: failed.context("no run failed")?,
    })
}

fn jobs(at: Timestamp) -> Result<Vec<(Job, JobVersion)>> {
    let made = (0..JOBS).map(|n| {
        let namespace: Namespace = format!("team-{}", n % NAMESPACES).parse()?;
        let text = format!("name: job-{n}\nlabels: {{ team: t{} }}\nprocess: /bin/true\n", n % NAMESPACES);
        let spec = mainspring_model::spec::parse(&text, Format::Yaml)
            .map_err(|errors| anyhow::anyhow!("{errors}"))?;
        let id = JobId::new(at, u128::from(hash::mix(n as u64)));
        let job = Job {
            id,
            namespace,
            name: spec.name.as_str().into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at: at,
            updated_at: at,
        };
        let version = JobVersion {
            job: id,
            version: 1,
            spec: Arc::new(spec),
            created_at: at,
            created_by: "bench".into(),
        };
        Ok((job, version))
    });
    made.collect()
}

/// A run that took a while; every fiftieth failed.
fn finished(n: usize, at: Timestamp, job: &Job) -> Run {
    let chance = hash::mix(n as u64);
    let head = RunHead {
        id: RunId::new(at, u128::from(chance)),
        namespace: job.namespace.clone(),
        job: job.id,
        job_version: 1,
        inline_spec: None,
        idempotency_key: None,
        priority: 50,
        created_at: at,
        not_before: None,
        deadline: None,
        params: Arc::from(&b"{}"[..]),
        keys: None,
        submitted_by: "trigger:cron".into(),
        fired: Some(Box::new(Fired { trigger: "cron".into(), planned: at, backfill: None, depth: 0 })),
        overlap: Default::default(),
    };
    let placed = at + Duration::from_millis(5);
    let started = placed + Duration::from_millis(12);
    let (state, code) =
        if chance.is_multiple_of(50) { (RunState::FinalFailed, 3) } else { (RunState::Success, 0) };
    let status = RunStatus {
        version: 3,
        epoch: Epoch(1),
        state,
        place: None,
        attempt: 1,
        attempt_epoch: Epoch(1),
        node: Some(NodeId::new(Timestamp::ZERO, u128::from(chance % 20 + 1))),
        eligible_at: Some(at),
        placed_at: Some(placed),
        started_at: Some(started),
        finished_at: Some(started + Duration::from_millis(chance % 90_000)),
        cause: Some(Cause::Exit { code }),
        ..RunStatus::arrived(CELL, at)
    };
    Run { head: Arc::new(head), status }
}

fn count(counted: &mut BTreeMap<CounterKey, Counts>, run: &Run) {
    let Some(finished) = run.status.finished_at else { return };
    let (namespace, job) = (run.head.namespace.clone(), run.head.job);
    let counts = counted.entry(CounterKey { namespace, job, hour: counter::hour_of(finished) }).or_default();
    counts.add(&Counts { attempts: 1, queued_us: 5_000, ..Counts::of(run.status.state) });
}

struct Writer<'a> {
    store: &'a dyn Store,
    member: MemberId,
    fence: Fence,
    batch: Vec<Write>,
}

impl<'a> Writer<'a> {
    async fn take(store: &'a dyn Store, now: Timestamp) -> Result<Self> {
        let member = MemberId::new(now, 1);
        let request = LeaseRequest { cell: CELL, member, observed: None, expires_at: now + LEASE };
        match store.acquire_lease(request).await? {
            LeaseGrant::Granted(lease) => {
                let fence = Fence { cell: CELL, epoch: lease.epoch, seq: 0 };
                Ok(Self { store, member, fence, batch: Vec::with_capacity(BATCH) })
            }
            LeaseGrant::Held(_) => bail!("somebody owns the cell of a new store"),
        }
    }

    async fn write(&mut self, write: Write) -> Result<()> {
        self.batch.push(write);
        if self.batch.len() < BATCH { Ok(()) } else { self.commit().await }
    }

    async fn commit(&mut self) -> Result<()> {
        self.fence.seq += 1;
        let writes = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let outcomes = self.store.commit(Transaction::fenced(self.fence, writes)).await?;
        let all = outcomes.iter().all(|outcome| *outcome == Outcome::Applied);
        ensure!(all, "a row was there already");
        Ok(())
    }

    async fn finish(mut self) -> Result<()> {
        self.commit().await?;
        self.store.release_lease(CELL, self.member, self.fence.epoch).await?;
        Ok(())
    }
}
