//! A store that stands still, as a database does whose process is stopped: callers are told in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use mainspring_server::Roles;
use mainspring_store::{
    CounterQuery, LeaseGrant, LeaseRequest, Migration, Outcome, Page, Record, RecordKey, RecordKind,
    RecordQuery, RecordRetention, Result, Retention, RunQuery, ShelfQuery, Store, Transaction,
};
use mainspring_store_mem::MemStore;
use serde_json::json;

use super::World;

struct Hanging {
    inner: MemStore,
    reads: AtomicBool,
    writes: AtomicBool,
}

macro_rules! hanging {
    ($($flag:ident: $verb:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for Hanging {
            $(async fn $verb(&self, $($arg: $kind),*) -> Result<$answer> {
                if self.$flag.load(Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                self.inner.$verb($($arg),*).await
            })*
        }
    };
}

hanging! {
    reads: leases() -> Vec<Lease>;
    reads: members() -> Vec<Member>;
    reads: shelf(query: ShelfQuery) -> Page<Run>;
    reads: cell_pause(cell: CellId) -> Option<Pause>;
    reads: nodes(cell: CellId) -> Vec<Node>;
    reads: runs_by_id(ids: &[RunId]) -> Vec<Run>;
    reads: run_by_key(namespace: &Namespace, key: &str) -> Option<Run>;
    reads: runs(query: RunQuery) -> Page<Run>;
    reads: attempts(run: RunId) -> Vec<Attempt>;
    reads: events(run: RunId) -> Vec<RunEvent>;
    reads: job(id: JobId) -> Option<Job>;
    reads: job_by_name(namespace: &Namespace, name: &str) -> Option<Job>;
    reads: jobs(namespace: Option<&Namespace>, after: Option<JobId>, limit: usize) -> Page<Job>;
    reads: job_versions(keys: &[(JobId, u32)]) -> Vec<JobVersion>;
    reads: versions_of_job(job: JobId, after: Option<u32>, limit: usize) -> Page<JobVersion>;
    reads: jobs_with_runs(after: Option<JobId>, limit: usize) -> Page<JobId>;
    reads: node(id: NodeId) -> Option<Node>;
    reads: all_nodes(after: Option<NodeId>, limit: usize) -> Page<Node>;
    reads: record(kind: RecordKind, key: &RecordKey) -> Option<Record>;
    reads: records(query: RecordQuery) -> Page<Record>;
    reads: counters(query: CounterQuery) -> Page<(CounterKey, Counts)>;
    reads: clock() -> Timestamp;
    writes: commit(transaction: Transaction) -> Vec<Outcome>;
    writes: acquire_lease(request: LeaseRequest) -> LeaseGrant;
    writes: renew_lease(cell: CellId, member: MemberId, epoch: Epoch, expires_at: Timestamp) -> bool;
    writes: release_lease(cell: CellId, member: MemberId, epoch: Epoch) -> bool;
    writes: put_member(member: Member) -> ();
    writes: remove_members(seen_before: Timestamp) -> u64;
    writes: migrate() -> Vec<Migration>;
    writes: retain(rule: Retention, limit: usize) -> u64;
    writes: retain_counters(before: Timestamp) -> u64;
    writes: retain_records(rule: RecordRetention, limit: usize) -> u64;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_of_a_store_that_stands_still_are_told_in_time() {
    let store = Arc::new(Hanging { inner: MemStore::default(), reads: false.into(), writes: false.into() });
    let data = tempfile::tempdir().expect("a folder");
    let world = World::beside(Arc::clone(&store) as _, data, None, |options| {
        options.roles = Roles { api: true, scheduler: false };
        options.store_wait = Duration::from_millis(200);
    });
    let world = world.await;
    store.writes.store(true, Ordering::SeqCst);
    world.put("/v1/namespaces/acme", json!({})).await.problem(503, "store_unavailable");
    store.reads.store(true, Ordering::SeqCst);
    world.get("/v1/jobs").await.problem(503, "store_unavailable");
    world.get("/v1/runs").await.problem(503, "store_unavailable");
    let ready = world.get("/readyz").await;
    assert_eq!(ready.expect(503), json!({"ready": false, "waits_for": ["store"]}));
    assert_eq!(world.get("/healthz").await.status, 200, "the process lives");
    store.reads.store(false, Ordering::SeqCst);
    world.get("/readyz").await.expect(200);
    world.get("/v1/jobs").await.expect(200);
}
