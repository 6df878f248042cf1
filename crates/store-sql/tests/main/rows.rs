//! Rows for tests.

use std::sync::Arc;

use mainspring_model::{
    Cause, CellId, Epoch, JobId, MemberId, Payload, Place, Run, RunHead, RunId, RunState, RunStatus, Shelf,
    Timestamp,
};
use mainspring_store::{Fence, LeaseGrant, LeaseRequest, Outcome, RunUpdate, Store, Transaction, Write};

/// The id of run `n`: made in the nth millisecond after 1,000 s.
pub(crate) fn run_id(n: u64) -> RunId {
    RunId::new(Timestamp::from_micros(1_000_000_000 + n as i64 * 1000), u128::from(n))
}

/// A run that waits in cell 0.
pub(crate) fn run(n: u64) -> Run {
    let at = Timestamp::from_micros(1_000_000_000 + n as i64 * 1000);
    let head = RunHead {
        id: run_id(n),
        namespace: "acme/data".parse().unwrap(),
        job: job_id(n % 10),
        job_version: 1,
        inline_spec: None,
        idempotency_key: None,
        priority: 100,
        created_at: at,
        not_before: None,
        deadline: None,
        params: Payload::from(&b"{}"[..]),
        keys: None,
        submitted_by: "somebody".into(),
        fired: None,
        overlap: Default::default(),
    };
    let mut status = RunStatus::arrived(CellId(0), at);
    status.state = RunState::Waiting;
    status.place = Some(Place { shelf: Shelf::Waiting, rank: n as i64 });
    Run { head: Arc::new(head), status }
}

/// The id of job `n`.
pub(crate) fn job_id(n: u64) -> JobId {
    JobId::new(Timestamp::from_micros(1_000_000), u128::from(n))
}

/// The same run, ended.
pub(crate) fn ended(run: &Run) -> Run {
    let mut status = run.status.clone();
    status.version += 1;
    status.state = RunState::Success;
    status.place = None;
    status.finished_at = Some(run.head.created_at);
    status.cause = Some(Cause::Exit { code: 0 });
    Run { head: Arc::clone(&run.head), status }
}

/// The write that makes the row what `run` says.
pub(crate) fn update(run: &Run) -> Write {
    let status = run.status.clone();
    Write::UpdateRun(RunUpdate { id: run.head.id, expected: status.version - 1, status })
}

/// The writes that insert these runs.
pub(crate) fn inserts(numbers: impl IntoIterator<Item = u64>) -> Vec<Write> {
    numbers.into_iter().map(|n| Write::InsertRun(run(n))).collect()
}

/// Commits without a fence; everything must be applied.
pub(crate) async fn put(store: &Arc<dyn Store>, writes: Vec<Write>) {
    let count = writes.len();
    let outcomes = store.commit(Transaction::unfenced(writes)).await.unwrap();
    assert_eq!(outcomes, vec![Outcome::Applied; count]);
}

/// Takes cell 0; answers the fence of the first commit.
pub(crate) async fn own(store: &Arc<dyn Store>) -> Fence {
    let member = MemberId::new(Timestamp::ZERO, 1);
    let request = LeaseRequest { cell: CellId(0), member, observed: None, expires_at: Timestamp::MAX };
    match store.acquire_lease(request).await.unwrap() {
        LeaseGrant::Granted(lease) => Fence { cell: CellId(0), epoch: lease.epoch, seq: 1 },
        LeaseGrant::Held(lease) => panic!("held: {lease:?}"),
    }
}

/// The run as the owner of `epoch` writes it.
pub(crate) fn owned(mut run: Run, epoch: Epoch) -> Run {
    run.status.epoch = epoch;
    run.status.attempt_epoch = epoch;
    run
}
