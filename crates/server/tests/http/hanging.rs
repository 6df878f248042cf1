//! A store that stands still, as a database does whose process is stopped: callers are told in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use mainspring_server::Roles;
use mainspring_store::{
    CounterQuery, Error, JobPlace, LeaseGrant, LeaseRequest, Migration, Outcome, Page, Record, RecordKey,
    RecordKind, RecordQuery, RecordRetention, Result, Retention, RunEnd, RunQuery, ShelfQuery, Store,
    Transaction,
};
use mainspring_store_mem::MemStore;
use serde_json::json;

use super::World;

#[derive(Default)]
struct Hanging {
    inner: MemStore,
    /// The next answer to an owner's commit has no outcomes.
    loses_outcomes: AtomicBool,
    reads: AtomicBool,
    writes: AtomicBool,
    /// Fails at once instead.
    away: AtomicBool,
    /// So many calls fail before one is answered.
    failing: AtomicU32,
}

impl Hanging {
    fn is_away(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        let fails = self.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
        fails || self.away.load(Ordering::SeqCst)
    }
}

macro_rules! hanging {
    ($($flag:ident: $verb:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)*) => {
        #[async_trait]
        impl Store for Hanging {
            async fn commit(&self, transaction: Transaction) -> Result<Vec<Outcome>> {
                if self.writes.load(Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                if self.is_away() {
                    return Err(Error::unavailable("away"));
                }
                let is_owners = transaction.fence.is_some();
                let outcomes = self.inner.commit(transaction).await?;
                let is_lost = is_owners && self.loses_outcomes.swap(false, Ordering::SeqCst);
                Ok(if is_lost { Vec::new() } else { outcomes })
            }

            $(async fn $verb(&self, $($arg: $kind),*) -> Result<$answer> {
                if self.$flag.load(Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                if self.is_away() {
                    return Err(Error::unavailable("away"));
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
    reads: newest_ends(jobs: &[JobId], each: usize) -> Vec<RunEnd>;
    reads: attempts(run: RunId) -> Vec<Attempt>;
    reads: events(run: RunId) -> Vec<RunEvent>;
    reads: job(id: JobId) -> Option<Job>;
    reads: job_by_name(namespace: &Namespace, name: &str) -> Option<Job>;
    reads: jobs(namespace: Option<&Namespace>, after: Option<JobId>, limit: usize) -> Page<Job>;
    reads: jobs_by_name(namespace: Option<&Namespace>, after: Option<JobPlace>, limit: usize) -> Page<Job>;
    reads: job_versions(keys: &[(JobId, u32)]) -> Vec<JobVersion>;
    reads: versions_of_job(job: JobId, after: Option<u32>, limit: usize) -> Page<JobVersion>;
    reads: jobs_with_runs(after: Option<JobId>, limit: usize) -> Page<JobId>;
    reads: node(id: NodeId) -> Option<Node>;
    reads: all_nodes(after: Option<NodeId>, limit: usize) -> Page<Node>;
    reads: record(kind: RecordKind, key: &RecordKey) -> Option<Record>;
    reads: records(query: RecordQuery) -> Page<Record>;
    reads: counters(query: CounterQuery) -> Page<(CounterKey, Counts)>;
    reads: clock() -> Timestamp;
    writes: acquire_lease(request: LeaseRequest) -> LeaseGrant;
    writes: renew_lease(cell: CellId, member: MemberId, epoch: Epoch, expires_at: Timestamp) -> Option<Timestamp>;
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
    let store = Arc::new(Hanging::default());
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_goes_away_while_a_server_starts_is_waited_for() {
    // Whichever of the reads of a start it is.
    for failing in 1..=4 {
        let store = Arc::new(Hanging::default());
        store.failing.store(failing, Ordering::SeqCst);
        let data = tempfile::tempdir().expect("a folder");
        let world = World::beside(Arc::clone(&store) as _, data, None, |_| {}).await;
        assert_eq!(store.failing.load(Ordering::SeqCst), 0);
        world.get("/v1/me").await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_at_one_cell_ends_neither_the_others_nor_the_process() {
    let store = Arc::new(Hanging::default());
    let data = tempfile::tempdir().expect("a folder");
    let world = World::beside(Arc::clone(&store) as _, data, None, |options| options.cells = 2).await;
    world.job("default", "job").await;
    for times in 1..=2 {
        // The engine asserts that there is an outcome for each write.
        store.loses_outcomes.store(true, Ordering::SeqCst);
        let run = world.run("default", "job").await;
        while world.get(&format!("/v1/runs/{run}")).await.expect(200)["state"] != "waiting" {
            tokio::task::yield_now().await;
        }
        let cluster = world.get("/v1/cluster").await.expect(200);
        let setbacks = |cell: &serde_json::Value| cell["setbacks"].as_u64();
        let sum: u64 = cluster["cells"].as_array().unwrap().iter().filter_map(setbacks).sum();
        assert_eq!(sum, times, "{cluster}");
    }
    let doctor = world.get("/v1/doctor").await.expect(200);
    let told = doctor["findings"].as_array().unwrap().iter();
    assert!(
        told.clone().any(|finding| finding["message"].as_str().unwrap().contains("loaded anew 2 times")),
        "{doctor}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_guesses_tokens_is_told_to_wait_without_a_read_of_the_store() {
    let store = Arc::new(Hanging::default());
    let data = tempfile::tempdir().expect("a folder");
    let world = World::beside(Arc::clone(&store) as _, data, None, |options| {
        options.roles = Roles { api: true, scheduler: false };
        options.store_wait = Duration::from_millis(200);
        // None is forgotten while the test runs.
        options.limits.wrong_credentials_per_minute = 5;
    });
    let world = world.await;
    // Well-formed, and not known.
    let made = world.post("/v1/tokens", json!({})).await.expect(201);
    let (wrong, id) = (made["secret"].as_str().expect("text"), made["token"]["id"].as_str().expect("text"));
    world.call(&world.admin, "DELETE", &format!("/v1/tokens/{id}"), None).await.expect(204);
    world.get("/v1/me").await.expect(200);
    for _ in 0..5 {
        world.call(wrong, "GET", "/v1/me", None).await.problem(401, "unauthenticated");
    }
    store.reads.store(true, Ordering::SeqCst);
    let refused = world.call(wrong, "GET", "/v1/me", None).await;
    refused.problem(429, "rate_limited");
    let wait: u64 = refused.header("retry-after").and_then(|wait| wait.parse().ok()).expect("seconds");
    assert!((1..=12).contains(&wait), "{wait}");
    let session = json!({ "token": wrong }).to_string();
    let sign_in =
        world.send("POST", "/v1/sessions", &[("content-type", "application/json")], session.as_bytes());
    sign_in.await.problem(429, "rate_limited");
    world.send("POST", "/v1/hooks/msh_x", &[], b"").await.problem(429, "rate_limited");
    store.reads.store(false, Ordering::SeqCst);
    world.get("/v1/me").await.expect(200);
    assert_eq!(
        world.send("GET", "/healthz", &[], b"").await.status,
        200,
        "who shows nothing is not concerned"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_while_the_store_was_away_is_in_the_audit_when_it_is_back() {
    let store = Arc::new(Hanging::default());
    let data = tempfile::tempdir().expect("a folder");
    let world = World::beside(Arc::clone(&store) as _, data, None, |options| {
        options.roles = Roles { api: true, scheduler: false };
    });
    let world = world.await;
    world.put("/v1/namespaces/before", json!({})).await.expect(201);
    // The token is known; nothing else is read.
    store.away.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        world.app.issue_join_token(None).await.expect_err("the store is away");
    }
    store.away.store(false, Ordering::SeqCst);
    // Nothing else is written from here on.
    loop {
        let page = world.get("/v1/audit?operation=node.invite").await.expect(200);
        if page["items"].as_array().expect("a list").len() == 3 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let found = world.get("/v1/doctor").await.expect(200);
    assert!(!found.to_string().contains("of chain"), "{found}");
}
