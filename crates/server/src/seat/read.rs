//! Reading active work: a page of a shelf with the specifications that its runs pin and the pauses of their jobs.
//!
//! One damaged row, specification or job stops nobody: what cannot be read is missing, and the engine says so about that run
//! alone (I20).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use mainspring_app::{CalendarShelf, LastSuccesses};
use mainspring_engine::{LoadedRun, MomentsQuery, MomentsRead, ShelfRead, SpecRead, TriggersRead};
use mainspring_model::spec::{self, Format};
use mainspring_model::{Calendars, Job, JobId, JobSpec, Run};
use mainspring_store::{RecordQuery, Result, ShelfQuery, Store, Versions};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// Jobs read at the same time.
const AT_ONCE: usize = 8;
/// Specifications read at once.
const SPECS_AT_ONCE: usize = 500;
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Reads the page, again and again until it is read; none when the cell is given up.
pub(super) async fn page(
    store: &dyn Store,
    query: ShelfQuery,
    given_up: &CancellationToken,
) -> Option<ShelfRead> {
    let mut patience = Patience::default();
    loop {
        match attempt(store, &query).await {
            Ok(read) => return Some(read),
            Err(error) => patience.wait(&error, given_up).await?,
        }
    }
}

/// Reads rows of triggers, or news of them, in the same way.
pub(super) async fn triggers(
    store: &dyn Store,
    query: RecordQuery,
    given_up: &CancellationToken,
) -> Option<TriggersRead> {
    let mut patience = Patience::default();
    loop {
        match store.records(query.clone()).await {
            Ok(page) => return Some(TriggersRead { query, rows: page.rows, more: page.more }),
            Err(error) => patience.wait(&error, given_up).await?,
        }
    }
}

/// Reads what versions of jobs say, and whether those jobs are paused, in the same way.
pub(super) async fn specs_of(
    store: &dyn Store,
    keys: Vec<(JobId, u32)>,
    given_up: &CancellationToken,
) -> Option<Vec<SpecRead>> {
    let mut patience = Patience::default();
    let mut read = Vec::with_capacity(keys.len());
    for keys in keys.chunks(SPECS_AT_ONCE) {
        loop {
            match specs_with_pauses(store, keys).await {
                Ok(found) => break read.extend(found),
                Err(error) => patience.wait(&error, given_up).await?,
            }
        }
    }
    Some(read)
}

/// Reads what became of planned moments, in the same way.
pub(super) async fn moments(
    store: &dyn Store,
    query: &MomentsQuery,
    given_up: &CancellationToken,
) -> Option<MomentsRead> {
    let mut patience = Patience::default();
    loop {
        match mainspring_app::read_moments(store, query.clone()).await {
            Ok(read) => return Some(read),
            Err(error) => patience.wait(&error, given_up).await?,
        }
    }
}

async fn specs_with_pauses(store: &dyn Store, keys: &[(JobId, u32)]) -> Result<Vec<SpecRead>> {
    let specs = specs(store, keys.to_vec()).await?;
    let jobs = jobs(store, keys.iter().map(|(job, _)| *job).collect()).await?;
    let found = |key: &(JobId, u32)| Some((&jobs.get(&key.0)?.namespace, &**specs.get(key)?));
    let last = LastSuccesses::read(store, keys.iter().filter_map(found)).await?;
    let mut shelf = CalendarShelf::default();
    let mut read = Vec::with_capacity(keys.len());
    for (job, version) in keys {
        let spec = specs.get(&(*job, *version)).cloned();
        let (mut calendars, mut successes) = (Calendars::default(), Vec::new());
        let row = jobs.get(job);
        if let (Some(spec), Some(row)) = (&spec, row) {
            calendars = shelf.of_job(store, &row.namespace, spec).await?;
            successes = last.of_job(&row.namespace, spec);
        }
        let pause = row.and_then(|row| row.job_pause());
        read.push(SpecRead { job: *job, version: *version, spec, pause, calendars, successes });
    }
    Ok(read)
}

/// Longer and longer pauses between tries.
struct Patience(Duration);

impl Default for Patience {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl Patience {
    /// None when the cell is given up meanwhile.
    async fn wait(&mut self, error: &mainspring_store::Error, given_up: &CancellationToken) -> Option<()> {
        warn!(error = error as &dyn std::error::Error, "active work cannot be read yet");
        tokio::select! {
            () = given_up.cancelled() => None,
            () = sleep(self.0) => {
                self.0 = (self.0 * 2).min(PAUSE_MAX);
                Some(())
            }
        }
    }
}

async fn attempt(store: &dyn Store, query: &ShelfQuery) -> Result<ShelfRead> {
    let page = store.shelf(query.clone()).await?;
    let rows = load(store, page.rows).await?;
    Ok(ShelfRead { query: query.clone(), rows, more: page.more })
}

/// Rows with what they pin.
pub(crate) async fn load(store: &dyn Store, runs: Vec<Run>) -> Result<Vec<LoadedRun>> {
    let shared = runs.iter().filter(|run| run.head.inline_spec.is_none());
    let keys: BTreeSet<(JobId, u32)> = shared.map(|run| (run.head.job, run.head.job_version)).collect();
    let pinned: BTreeSet<JobId> = keys.iter().map(|(job, _)| *job).collect();
    let specs = specs(store, keys.into_iter().collect()).await?;
    let jobs = jobs(store, pinned).await?;
    let loaded = |run: Run| {
        let spec = match &run.head.inline_spec {
            Some(json) => inline(json),
            None => specs.get(&(run.head.job, run.head.job_version)).cloned(),
        };
        let pause = jobs.get(&run.head.job).and_then(|job| job.job_pause());
        LoadedRun { run, spec, pause }
    };
    Ok(runs.into_iter().map(loaded).collect())
}

/// A run's own specification.
fn inline(json: &[u8]) -> Option<Arc<JobSpec>> {
    let text = std::str::from_utf8(json).ok()?;
    spec::parse(text, Format::Json).ok().map(Arc::new)
}

async fn specs(store: &dyn Store, keys: Vec<(JobId, u32)>) -> Result<BTreeMap<(JobId, u32), Arc<JobSpec>>> {
    let Versions { readable, damaged } = Versions::read(store, &keys).await?;
    for ((job, version), error) in damaged {
        warn!(%job, version, %error, "a specification cannot be read");
    }
    Ok(readable.into_iter().map(|version| ((version.job, version.version), version.spec)).collect())
}

async fn jobs(store: &dyn Store, jobs: BTreeSet<JobId>) -> Result<BTreeMap<JobId, Job>> {
    let mut read =
        stream::iter(jobs).map(|job| async move { (job, store.job(job).await) }).buffer_unordered(AT_ONCE);
    let mut found = BTreeMap::new();
    while let Some((id, job)) = read.next().await {
        match job {
            Ok(job) => found.extend(job.map(|job| (id, job))),
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => warn!(job = %id, %error, "a job cannot be read"),
        }
    }
    Ok(found)
}
