//! The core behind a mutex and the async contract. No verb awaits anything, so none is ever half done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use mainspring_store::{
    CounterQuery, Error, JobPlace, LeaseGrant, LeaseRequest, Migration, Outcome, Page, Record, RecordKey,
    RecordKind, RecordQuery, RecordRetention, Result, Retention, RunEnd, RunQuery, ShelfQuery, Store,
    Transaction,
};

use crate::core::MemCore;

/// Tells the time of a store.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A store in memory. Its clones share their rows.
#[derive(Clone)]
pub struct MemStore {
    core: Arc<Mutex<MemCore>>,
    clock: Clock,
    loses_answer: Arc<AtomicBool>,
}

impl MemStore {
    /// An empty store on this clock.
    pub fn new(clock: Clock) -> Self {
        Self { core: Arc::default(), clock, loses_answer: Arc::default() }
    }

    /// The next commit is written but answers [`Error::Unknown`], as if the connection was cut (F4).
    pub fn lose_next_answer(&self) {
        self.loses_answer.store(true, Ordering::SeqCst);
    }

    /// The rows themselves, for tests and checkers. Every verb waits while the guard lives.
    pub fn core(&self) -> MutexGuard<'_, MemCore> {
        // A panic elsewhere cannot have left a batch half written: the core checks before it writes.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemStore {
    /// An empty store on the system's clock.
    fn default() -> Self {
        Self::new(Arc::new(system_time))
    }
}

fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::ZERO + since
}

#[async_trait]
impl Store for MemStore {
    async fn commit(&self, transaction: Transaction) -> Result<Vec<Outcome>> {
        let answer = self.core().commit(&transaction);
        match self.loses_answer.swap(false, Ordering::SeqCst) {
            true => Err(Error::unknown("the answer was lost on purpose")),
            false => answer,
        }
    }
    async fn acquire_lease(&self, request: LeaseRequest) -> Result<LeaseGrant> {
        Ok(self.core().acquire_lease(request))
    }
    async fn renew_lease(
        &self,
        cell: CellId,
        member: MemberId,
        epoch: Epoch,
        expires_at: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let held = self.core().renew_lease(cell, member, epoch, expires_at);
        Ok(held.then(|| (self.clock)()))
    }
    async fn release_lease(&self, cell: CellId, member: MemberId, epoch: Epoch) -> Result<bool> {
        Ok(self.core().release_lease(cell, member, epoch))
    }
    async fn leases(&self) -> Result<Vec<Lease>> {
        Ok(self.core().leases())
    }
    async fn put_member(&self, member: Member) -> Result<()> {
        self.core().put_member(member);
        Ok(())
    }
    async fn remove_members(&self, seen_before: Timestamp) -> Result<u64> {
        Ok(self.core().remove_members(seen_before))
    }
    async fn members(&self) -> Result<Vec<Member>> {
        Ok(self.core().members())
    }
    async fn shelf(&self, query: ShelfQuery) -> Result<Page<Run>> {
        self.core().shelf(&query)
    }
    async fn cell_pause(&self, cell: CellId) -> Result<Option<Pause>> {
        Ok(self.core().cell_pause(cell))
    }
    async fn nodes(&self, cell: CellId) -> Result<Vec<Node>> {
        Ok(self.core().nodes(cell))
    }
    async fn runs_by_id(&self, ids: &[RunId]) -> Result<Vec<Run>> {
        self.core().runs_by_id(ids)
    }
    async fn run_by_key(&self, namespace: &Namespace, key: &str) -> Result<Option<Run>> {
        Ok(self.core().run_by_key(namespace, key))
    }
    async fn runs(&self, query: RunQuery) -> Result<Page<Run>> {
        self.core().runs(&query)
    }
    async fn newest_ends(&self, jobs: &[JobId], each: usize) -> Result<Vec<RunEnd>> {
        self.core().newest_ends(jobs, each)
    }
    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>> {
        Ok(self.core().attempts(run))
    }
    async fn events(&self, run: RunId) -> Result<Vec<RunEvent>> {
        Ok(self.core().events(run))
    }
    async fn job(&self, id: JobId) -> Result<Option<Job>> {
        Ok(self.core().job(id))
    }
    async fn job_by_name(&self, namespace: &Namespace, name: &str) -> Result<Option<Job>> {
        Ok(self.core().job_by_name(namespace, name))
    }
    async fn jobs(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Page<Job>> {
        self.core().jobs(namespace, after, limit)
    }
    async fn jobs_by_name(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Result<Page<Job>> {
        self.core().jobs_by_name(namespace, after, limit)
    }
    async fn job_versions(&self, keys: &[(JobId, u32)]) -> Result<Vec<JobVersion>> {
        self.core().job_versions(keys)
    }
    async fn versions_of_job(
        &self,
        job: JobId,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Page<JobVersion>> {
        self.core().versions_of_job(job, after, limit)
    }
    async fn jobs_with_runs(&self, after: Option<JobId>, limit: usize) -> Result<Page<JobId>> {
        self.core().jobs_with_runs(after, limit)
    }
    async fn node(&self, id: NodeId) -> Result<Option<Node>> {
        Ok(self.core().node(id))
    }
    async fn all_nodes(&self, after: Option<NodeId>, limit: usize) -> Result<Page<Node>> {
        self.core().all_nodes(after, limit)
    }
    async fn record(&self, kind: RecordKind, key: &RecordKey) -> Result<Option<Record>> {
        Ok(self.core().record(kind, key))
    }
    async fn records(&self, query: RecordQuery) -> Result<Page<Record>> {
        self.core().records(&query)
    }
    async fn counters(&self, query: CounterQuery) -> Result<Page<(CounterKey, Counts)>> {
        self.core().counters(&query)
    }
    async fn clock(&self) -> Result<Timestamp> {
        Ok((self.clock)())
    }
    async fn migrate(&self) -> Result<Vec<Migration>> {
        Ok(Vec::new())
    }
    async fn retain(&self, rule: Retention, limit: usize) -> Result<u64> {
        self.core().retain(&rule, limit)
    }
    async fn retain_counters(&self, before: Timestamp) -> Result<u64> {
        Ok(self.core().retain_counters(before))
    }
    async fn retain_records(&self, rule: RecordRetention, limit: usize) -> Result<u64> {
        Ok(self.core().retain_records(&rule, limit))
    }
}
