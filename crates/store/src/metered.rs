//! Measurement wrapped once around the contract, never inside a store: each call becomes a tracing span
//! and one [`Measurement`] for whatever exporter the user chose.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use tracing::Instrument;

use crate::commit::{Outcome, Transaction};
use crate::contract::{LeaseGrant, LeaseRequest, Migration, Retention, Store};
use crate::error::Result;
use crate::page::{CounterQuery, JobPlace, Page, RunQuery, ShelfQuery};
use crate::record::{Record, RecordKey, RecordKind, RecordQuery, RecordRetention};
use crate::run_end::RunEnd;

/// The verbs of the contract, as metrics name them.
pub type Verb = &'static str;

/// One call of one verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measurement {
    /// The verb.
    pub verb: Verb,
    /// How long it took.
    pub elapsed: Duration,
    /// How many writes were sent; 0 for reads.
    pub writes: usize,
    /// Whether it answered.
    pub ok: bool,
}

/// Takes measurements.
pub trait Recorder: Send + Sync {
    /// Takes one. Called on the hot path: must not block.
    fn record(&self, measurement: Measurement);
}

/// A store that measures another.
pub struct Metered {
    inner: Arc<dyn Store>,
    recorder: Arc<dyn Recorder>,
}

impl Metered {
    /// Measures `inner` into `recorder`.
    pub fn new(inner: Arc<dyn Store>, recorder: Arc<dyn Recorder>) -> Self {
        Self { inner, recorder }
    }

    async fn measure<T>(
        &self,
        verb: Verb,
        writes: usize,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let begun = Instant::now();
        let answer = call.instrument(tracing::debug_span!("store", verb, writes)).await;
        self.recorder.record(Measurement { verb, elapsed: begun.elapsed(), writes, ok: answer.is_ok() });
        answer
    }
}

macro_rules! measured {
    ($($verb:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for Metered {
            async fn commit(&self, transaction: Transaction) -> Result<Vec<Outcome>> {
                let writes = transaction.writes.len();
                self.measure("commit", writes, self.inner.commit(transaction)).await
            }
            $(async fn $verb(&self, $($arg: $kind),*) -> Result<$answer> {
                self.measure(stringify!($verb), 0, self.inner.$verb($($arg),*)).await
            })*
        }
    };
}

measured! {
    acquire_lease(request: LeaseRequest) -> LeaseGrant;
    renew_lease(cell: CellId, member: MemberId, epoch: Epoch, expires_at: Timestamp) -> Option<Timestamp>;
    release_lease(cell: CellId, member: MemberId, epoch: Epoch) -> bool;
    leases() -> Vec<Lease>;
    put_member(member: Member) -> ();
    remove_members(seen_before: Timestamp) -> u64;
    members() -> Vec<Member>;
    shelf(query: ShelfQuery) -> Page<Run>;
    cell_pause(cell: CellId) -> Option<Pause>;
    nodes(cell: CellId) -> Vec<Node>;
    runs_by_id(ids: &[RunId]) -> Vec<Run>;
    run_by_key(namespace: &Namespace, key: &str) -> Option<Run>;
    runs(query: RunQuery) -> Page<Run>;
    newest_ends(jobs: &[JobId], each: usize) -> Vec<RunEnd>;
    attempts(run: RunId) -> Vec<Attempt>;
    events(run: RunId) -> Vec<RunEvent>;
    job(id: JobId) -> Option<Job>;
    job_by_name(namespace: &Namespace, name: &str) -> Option<Job>;
    jobs(namespace: Option<&Namespace>, after: Option<JobId>, limit: usize) -> Page<Job>;
    jobs_by_name(namespace: Option<&Namespace>, after: Option<JobPlace>, limit: usize) -> Page<Job>;
    job_versions(keys: &[(JobId, u32)]) -> Vec<JobVersion>;
    versions_of_job(job: JobId, after: Option<u32>, limit: usize) -> Page<JobVersion>;
    jobs_with_runs(after: Option<JobId>, limit: usize) -> Page<JobId>;
    node(id: NodeId) -> Option<Node>;
    all_nodes(after: Option<NodeId>, limit: usize) -> Page<Node>;
    record(kind: RecordKind, key: &RecordKey) -> Option<Record>;
    records(query: RecordQuery) -> Page<Record>;
    counters(query: CounterQuery) -> Page<(CounterKey, Counts)>;
    clock() -> Timestamp;
    migrate() -> Vec<Migration>;
    retain(rule: Retention, limit: usize) -> u64;
    retain_counters(before: Timestamp) -> u64;
    retain_records(rule: RecordRetention, limit: usize) -> u64;
}
