//! The contract itself. Each verb is one sentence; `store-conformance` is the long form.

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};

use crate::commit::{Outcome, Transaction};
use crate::error::Result;
use crate::page::{CounterQuery, JobPlace, Page, RunQuery, ShelfQuery};
use crate::record::{Record, RecordKey, RecordKind, RecordQuery, RecordRetention};
use crate::run_end::RunEnd;

/// A store. Cheap to share behind an `Arc`; every verb may be called from many tasks at once.
#[async_trait]
pub trait Store: Send + Sync {
    // --- writing ---

    /// Writes the batch atomically and answers for each write, in order. Runs to its end even when the
    /// caller stops waiting.
    async fn commit(&self, transaction: Transaction) -> Result<Vec<Outcome>>;

    // --- leases and members ---

    /// Grants the cell under the next epoch (seq 0) if [`Lease::may_be_taken`], else tells who holds it.
    async fn acquire_lease(&self, request: LeaseRequest) -> Result<LeaseGrant>;
    /// Moves the end of a lease that the caller still holds, never backwards, and tells the store's clock; none when it does
    /// not hold it.
    async fn renew_lease(
        &self,
        cell: CellId,
        member: MemberId,
        epoch: Epoch,
        expires_at: Timestamp,
    ) -> Result<Option<Timestamp>>;
    /// Gives a lease back, so that anyone may take it at once; false when the caller did not hold it. Only
    /// the holder goes from the row.
    async fn release_lease(&self, cell: CellId, member: MemberId, epoch: Epoch) -> Result<bool>;
    /// Every lease, by cell.
    async fn leases(&self) -> Result<Vec<Lease>>;
    /// Inserts or replaces a member.
    async fn put_member(&self, member: Member) -> Result<()>;
    /// Removes members not seen since `seen_before`; tells how many.
    async fn remove_members(&self, seen_before: Timestamp) -> Result<u64>;
    /// Every member, by id.
    async fn members(&self) -> Result<Vec<Member>>;

    // --- reading active work ---

    /// A page of a shelf.
    async fn shelf(&self, query: ShelfQuery) -> Result<Page<Run>>;
    /// The pause of a cell.
    async fn cell_pause(&self, cell: CellId) -> Result<Option<Pause>>;
    /// The nodes of a cell that have not left, by id.
    async fn nodes(&self, cell: CellId) -> Result<Vec<Node>>;

    // --- reading by id and by page ---

    /// These runs, each once, in any order; missing ones are missing.
    async fn runs_by_id(&self, ids: &[RunId]) -> Result<Vec<Run>>;
    /// The run with this idempotency key.
    async fn run_by_key(&self, namespace: &Namespace, key: &str) -> Result<Option<Run>>;
    /// A page of runs, in the order that is asked for.
    async fn runs(&self, query: RunQuery) -> Result<Page<Run>>;
    /// The ends of the newest runs of each of these jobs that are over, at most `each` of a job, in any order; `each` times
    /// the number of jobs is a page. See [`RunEnd::LOOKED_PAST_MAX`].
    async fn newest_ends(&self, jobs: &[JobId], each: usize) -> Result<Vec<RunEnd>>;
    /// The earlier attempts of a run, by number.
    async fn attempts(&self, run: RunId) -> Result<Vec<Attempt>>;
    /// The events of a run, by (version, ordinal).
    async fn events(&self, run: RunId) -> Result<Vec<RunEvent>>;
    /// A job.
    async fn job(&self, id: JobId) -> Result<Option<Job>>;
    /// The job with this name.
    async fn job_by_name(&self, namespace: &Namespace, name: &str) -> Result<Option<Job>>;
    /// Jobs of a namespace and all below it, ordered by id, after `after`.
    async fn jobs(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Page<Job>>;
    /// The same, ordered by namespace and name.
    async fn jobs_by_name(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Result<Page<Job>>;
    /// These versions of jobs, each once, in any order; missing ones are missing.
    async fn job_versions(&self, keys: &[(JobId, u32)]) -> Result<Vec<JobVersion>>;
    /// The versions of a job, newest first, older than `after`.
    async fn versions_of_job(&self, job: JobId, after: Option<u32>, limit: usize)
    -> Result<Page<JobVersion>>;
    /// Jobs that have ended runs, by id, after `after`; one of which none has ended may be left out. They may have no row of
    /// their own: runs bring their own specification, and jobs are removed.
    async fn jobs_with_runs(&self, after: Option<JobId>, limit: usize) -> Result<Page<JobId>>;
    /// A node, whatever its state.
    async fn node(&self, id: NodeId) -> Result<Option<Node>>;
    /// Nodes of every cell, whatever their state, ordered by id, after `after`.
    async fn all_nodes(&self, after: Option<NodeId>, limit: usize) -> Result<Page<Node>>;
    /// A record.
    async fn record(&self, kind: RecordKind, key: &RecordKey) -> Result<Option<Record>>;
    /// A page of records of a kind, by key.
    async fn records(&self, query: RecordQuery) -> Result<Page<Record>>;
    /// Roll-ups.
    async fn counters(&self, query: CounterQuery) -> Result<Page<(CounterKey, Counts)>>;

    // --- upkeep ---

    /// The store's own clock, the authority on time.
    async fn clock(&self) -> Result<Timestamp>;
    /// Brings the schema to this program's version; safe to call again and from many at once.
    async fn migrate(&self) -> Result<Vec<Migration>>;
    /// Removes ended runs, with their attempts and events, as the rule says; never a run that is not over.
    /// Removes at most `limit`, the oldest first, and tells how many.
    async fn retain(&self, rule: Retention, limit: usize) -> Result<u64>;
    /// Removes roll-ups of hours before `before`; tells how many.
    async fn retain_counters(&self, before: Timestamp) -> Result<u64>;
    /// Removes records as the rule says, whatever their revision; at most `limit`, and tells how many.
    async fn retain_records(&self, rule: RecordRetention, limit: usize) -> Result<u64>;
}

/// Who wants a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The cell.
    pub cell: CellId,
    /// For whom.
    pub member: MemberId,
    /// The lease that the caller watched go stale: its epoch and end as read from [`Store::leases`].
    pub observed: Option<(Epoch, Timestamp)>,
    /// The end of the new lease.
    pub expires_at: Timestamp,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseGrant {
    /// It is the caller's, under a new epoch.
    Granted(Lease),
    /// Somebody else holds it.
    Held(Lease),
}

/// Which ended runs go: a run goes as soon as one of the two rules says so, and one of them must be given.
/// A run was made when its id says ([`RunId::made_at`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Of this job; none is every job.
    pub job: Option<JobId>,
    /// Those made before this.
    pub made_before: Option<Timestamp>,
    /// Those beyond the newest so many ended runs of the job; needs `job`.
    pub keep_newest: Option<u64>,
}

/// A step that `migrate` took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: Box<str>,
}
