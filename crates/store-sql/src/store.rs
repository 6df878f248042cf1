//! The contract over any backend: each verb handed to its body.

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use mainspring_store::{
    CounterQuery, JobPlace, LeaseGrant, LeaseRequest, Migration, Outcome, Page, Record, RecordKey,
    RecordKind, RecordQuery, RecordRetention, Result, Retention, RunEnd, RunQuery, ShelfQuery, Store,
    Transaction,
};

use crate::known_jobs::KnownJobs;
use crate::session::Backend;
use crate::{migrate, verbs};

/// A store in a database.
///
/// A row that cannot be read back is [`mainspring_store::Error::Damaged`] in reads by id or name. In pages and lists it is left out
/// and logged, so that one bad row never stops the rest (I20).
pub(crate) struct SqlStore<B>(B, KnownJobs);

impl<B: Backend> SqlStore<B> {
    /// A store over a backend.
    pub(crate) fn new(backend: B) -> Self {
        Self(backend, KnownJobs::default())
    }
}

#[async_trait]
impl<B: Backend> Store for SqlStore<B> {
    async fn commit(&self, transaction: Transaction) -> Result<Vec<Outcome>> {
        verbs::commit::commit(&self.0, &self.1, transaction).await
    }

    async fn acquire_lease(&self, request: LeaseRequest) -> Result<LeaseGrant> {
        verbs::leases::acquire(&self.0, request).await
    }
    async fn renew_lease(
        &self,
        cell: CellId,
        member: MemberId,
        epoch: Epoch,
        expires_at: Timestamp,
    ) -> Result<Option<Timestamp>> {
        verbs::leases::renew(&self.0, cell, member, epoch, expires_at).await
    }
    async fn release_lease(&self, cell: CellId, member: MemberId, epoch: Epoch) -> Result<bool> {
        verbs::leases::release(&self.0, cell, member, epoch).await
    }
    async fn leases(&self) -> Result<Vec<Lease>> {
        verbs::leases::all(&self.0).await
    }
    async fn put_member(&self, member: Member) -> Result<()> {
        verbs::members::put(&self.0, &member).await
    }
    async fn remove_members(&self, seen_before: Timestamp) -> Result<u64> {
        verbs::members::remove(&self.0, seen_before).await
    }
    async fn members(&self) -> Result<Vec<Member>> {
        verbs::members::all(&self.0).await
    }

    async fn shelf(&self, query: ShelfQuery) -> Result<Page<Run>> {
        verbs::runs::shelf(&self.0, query).await
    }
    async fn cell_pause(&self, cell: CellId) -> Result<Option<Pause>> {
        verbs::leases::pause(&self.0, cell).await
    }
    async fn nodes(&self, cell: CellId) -> Result<Vec<Node>> {
        verbs::nodes::of_cell(&self.0, cell).await
    }

    async fn runs_by_id(&self, ids: &[RunId]) -> Result<Vec<Run>> {
        verbs::runs::by_id(&self.0, ids).await
    }
    async fn run_by_key(&self, namespace: &Namespace, key: &str) -> Result<Option<Run>> {
        verbs::runs::by_key(&self.0, namespace, key).await
    }
    async fn runs(&self, query: RunQuery) -> Result<Page<Run>> {
        verbs::newest::page(&self.0, query).await
    }
    async fn newest_ends(&self, jobs: &[JobId], each: usize) -> Result<Vec<RunEnd>> {
        verbs::ends::newest(&self.0, jobs, each).await
    }
    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>> {
        verbs::runs::attempts(&self.0, run).await
    }
    async fn events(&self, run: RunId) -> Result<Vec<RunEvent>> {
        verbs::runs::events(&self.0, run).await
    }
    async fn job(&self, id: JobId) -> Result<Option<Job>> {
        verbs::jobs::one(&self.0, id).await
    }
    async fn job_by_name(&self, namespace: &Namespace, name: &str) -> Result<Option<Job>> {
        verbs::jobs::by_name(&self.0, namespace, name).await
    }
    async fn jobs(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Page<Job>> {
        verbs::jobs::pages(&self.0, namespace, after, limit).await
    }
    async fn jobs_by_name(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Result<Page<Job>> {
        verbs::jobs::pages_by_name(&self.0, namespace, after, limit).await
    }
    async fn job_versions(&self, keys: &[(JobId, u32)]) -> Result<Vec<JobVersion>> {
        verbs::jobs::versions(&self.0, keys).await
    }
    async fn versions_of_job(
        &self,
        job: JobId,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Page<JobVersion>> {
        verbs::jobs::versions_of(&self.0, job, after, limit).await
    }
    async fn jobs_with_runs(&self, after: Option<JobId>, limit: usize) -> Result<Page<JobId>> {
        verbs::jobs::with_runs(&self.0, after, limit).await
    }
    async fn node(&self, id: NodeId) -> Result<Option<Node>> {
        verbs::nodes::one(&self.0, id).await
    }
    async fn all_nodes(&self, after: Option<NodeId>, limit: usize) -> Result<Page<Node>> {
        verbs::nodes::all(&self.0, after, limit).await
    }
    async fn record(&self, kind: RecordKind, key: &RecordKey) -> Result<Option<Record>> {
        verbs::records::one(&self.0, kind, key).await
    }
    async fn records(&self, query: RecordQuery) -> Result<Page<Record>> {
        verbs::records::page(&self.0, query).await
    }
    async fn counters(&self, query: CounterQuery) -> Result<Page<(CounterKey, Counts)>> {
        verbs::counters::page(&self.0, query).await
    }

    async fn clock(&self) -> Result<Timestamp> {
        verbs::clock::now(&self.0).await
    }
    async fn migrate(&self) -> Result<Vec<Migration>> {
        migrate::migrate(&self.0).await
    }
    async fn retain(&self, rule: Retention, limit: usize) -> Result<u64> {
        verbs::retain::runs(&self.0, rule, limit).await
    }
    async fn retain_counters(&self, before: Timestamp) -> Result<u64> {
        verbs::retain::counters(&self.0, before).await
    }
    async fn retain_records(&self, rule: RecordRetention, limit: usize) -> Result<u64> {
        verbs::records::retain(&self.0, rule, limit).await
    }
}
