//! Finding jobs by name, versions by number and what nodes are called, with a short memory.
//!
//! Versions never change and are remembered as long as there is room. A job's row is believed for a moment only, and only
//! when a run of it is submitted: whoever reads or changes a job reads its row.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use mainspring_model::{ErrorCode, Job, JobId, JobSpec, Name, Namespace, NodeId, Run};
use mainspring_store::Versions;
use rustc_hash::FxHashMap;

use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::SPECS_AT_ONCE;

/// Jobs and versions remembered at most; then the memory begins anew.
const REMEMBERED_MAX: usize = 10_000;

/// How long the name of a node is believed.
const NAME_TTL: Duration = Duration::from_secs(30);

type ByName = FxHashMap<Namespace, FxHashMap<Box<str>, (Arc<Job>, Instant)>>;

/// The memory of jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    ttl: Duration,
    by_name: RwLock<ByName>,
    versions: RwLock<FxHashMap<(JobId, u32), Arc<JobSpec>>>,
}

impl Jobs {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, by_name: RwLock::default(), versions: RwLock::default() }
    }

    /// The job was changed.
    pub(crate) fn forget(&self, namespace: &Namespace, name: &str) {
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(jobs) = by_name.get_mut(namespace) {
            jobs.remove(name);
        }
    }

    /// The same for a job whose name is not known.
    pub(crate) fn forget_id(&self, namespace: &Namespace, id: JobId) {
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(jobs) = by_name.get_mut(namespace) {
            jobs.retain(|_, (job, _)| job.id != id);
        }
    }

    fn recent(&self, namespace: &Namespace, name: &str, since: Option<Instant>) -> Option<Arc<Job>> {
        let by_name = self.by_name.read().unwrap_or_else(PoisonError::into_inner);
        let (job, read_at) = by_name.get(namespace)?.get(name)?;
        let is_new = since.is_none_or(|since| *read_at >= since);
        (read_at.elapsed() < self.ttl && is_new).then(|| job.clone())
    }

    fn remember(&self, job: &Arc<Job>, read_at: Instant) {
        if self.ttl.is_zero() {
            return;
        }
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        if by_name.values().map(|jobs| jobs.len()).sum::<usize>() >= REMEMBERED_MAX {
            by_name.clear();
        }
        by_name.entry(job.namespace.clone()).or_default().insert(job.name.clone(), (job.clone(), read_at));
    }

    fn version(&self, key: (JobId, u32)) -> Option<Arc<JobSpec>> {
        self.versions.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    pub(crate) fn remember_version(&self, key: (JobId, u32), spec: &Arc<JobSpec>) {
        let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
        if versions.len() >= REMEMBERED_MAX {
            versions.clear();
        }
        versions.insert(key, spec.clone());
    }
}

/// The memory of what nodes are called.
#[derive(Debug, Default)]
pub(crate) struct NodeNames(RwLock<FxHashMap<NodeId, ReadName>>);

/// None is a node that nobody knows.
type ReadName = (Option<Arc<str>>, Instant);

impl NodeNames {
    fn recent(&self, node: NodeId) -> Option<Option<Arc<str>>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (name, read_at) = known.get(&node)?;
        (read_at.elapsed() < NAME_TTL).then(|| name.clone())
    }

    fn remember(&self, node: NodeId, name: Option<Arc<str>>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(node, (name, Instant::now()));
    }
}

impl App {
    /// What a node is called; none when nobody knows, or the store does not answer.
    pub(crate) async fn node_name(&self, node: NodeId) -> Option<Arc<str>> {
        if let Some(known) = self.node_names.recent(node) {
            return known;
        }
        let name = self.store.node(node).await.ok()?.map(|node| Arc::from(&*node.name));
        self.node_names.remember(node, name.clone());
        name
    }

    /// The job of a name or an id in a namespace, as its row is now.
    pub(crate) async fn find_job(&self, namespace: &Namespace, job: &str) -> Result<Job> {
        let missing = || Error::not_found(format!("job `{job}` in `{namespace}`"));
        if let Ok(id) = job.parse::<JobId>() {
            let found = self.store.job(id).await?.filter(|found| found.namespace == *namespace);
            return found.ok_or_else(missing);
        }
        // A name that no job can have is not asked for: some stores fold letters that names do not have.
        job.parse::<Name>().map_err(|_| missing())?;
        self.store.job_by_name(namespace, job).await?.ok_or_else(missing)
    }

    /// The job of a name or an id, perhaps as its row was a moment ago, but not before `since`: for submissions.
    pub(crate) async fn find_job_soon(
        &self,
        namespace: &Namespace,
        job: &str,
        since: Option<Instant>,
    ) -> Result<Arc<Job>> {
        if let Some(known) = self.jobs.recent(namespace, job, since) {
            return Ok(known);
        }
        let read_at = Instant::now();
        let found = Arc::new(self.find_job(namespace, job).await?);
        if *found.name == *job {
            self.jobs.remember(&found, read_at);
        }
        Ok(found)
    }

    /// What a version of a job says.
    pub(crate) async fn find_version(&self, job: JobId, version: u32) -> Result<Arc<JobSpec>> {
        if let Some(known) = self.jobs.version((job, version)) {
            return Ok(known);
        }
        let found = self.store.job_versions(&[(job, version)]).await?.pop();
        let found = found.ok_or_else(|| Error::not_found(format!("version {version} of {job}")))?;
        self.jobs.remember_version((job, version), &found.spec);
        Ok(found.spec)
    }

    /// What a run pins: its own specification, or its job's version.
    pub(crate) async fn spec_of(&self, run: &Run) -> Result<Arc<JobSpec>> {
        match &run.head.inline_spec {
            Some(spec) => read_inline(spec).map(Arc::new),
            None => self.find_version(run.head.job, run.head.job_version).await,
        }
    }

    /// What these versions of jobs say, where it can be read.
    pub(crate) async fn find_versions(
        &self,
        keys: &[(JobId, u32)],
    ) -> Result<FxHashMap<(JobId, u32), Arc<JobSpec>>> {
        let (mut found, mut missing) = (FxHashMap::default(), Vec::new());
        for key in keys {
            match self.jobs.version(*key) {
                Some(spec) => drop(found.insert(*key, spec)),
                None => missing.push(*key),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        for part in missing.chunks(SPECS_AT_ONCE) {
            for version in Versions::read(&*self.store, part).await?.readable {
                let key = (version.job, version.version);
                self.jobs.remember_version(key, &version.spec);
                found.insert(key, version.spec);
            }
        }
        Ok(found)
    }

    /// What these runs pin, where it can be read, in their order.
    pub(crate) async fn specs_of(&self, runs: &[Run]) -> Result<Vec<Option<Arc<JobSpec>>>> {
        let pinned = runs.iter().filter(|run| run.head.inline_spec.is_none());
        let keys: Vec<(JobId, u32)> = pinned.map(|run| (run.head.job, run.head.job_version)).collect();
        let found = self.find_versions(&keys).await?;
        let spec = |run: &Run| match &run.head.inline_spec {
            Some(spec) => read_inline(spec).ok().map(Arc::new),
            None => found.get(&(run.head.job, run.head.job_version)).cloned(),
        };
        Ok(runs.iter().map(spec).collect())
    }
}

/// A specification that came with a run.
fn read_inline(bytes: &[u8]) -> Result<JobSpec> {
    serde_json::from_slice(bytes).map_err(|error| {
        tracing::error!(%error, "the specification of a run cannot be read");
        Error::new(ErrorCode::Internal, "the run's specification cannot be read")
    })
}
