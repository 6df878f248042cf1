//! The runs that both sides write: ordinary ones of a few jobs, placed at once and ended well.
//!
//! Invariant: all runs of one job differ only in their id and their rank, so that the row of one, read back from
//! the database, tells the bytes of all.

use std::sync::Arc;

use mainspring_model::{
    Cause, CellId, CounterKey, Counts, Epoch, JobId, Namespace, NodeId, Payload, Place, Run, RunHead, RunId,
    RunState, RunStatus, Shelf, Timestamp, Usage, hash,
};
use mainspring_store::{RunUpdate, Write};

/// The cell whose lease the writer holds.
pub(super) const CELL: CellId = CellId(0);
/// Jobs whose runs are mixed in every batch.
pub(super) const JOBS: usize = 10;

/// The start of an hour.
const BEGIN_US: i64 = 1_767_225_600_000_000;
const RUNS_PER_MILLISECOND: u64 = 25;
/// What every run's times are past the millisecond of its id.
const PAST_MILLISECOND_US: i64 = 137;
const WAIT_US: i64 = 1_900;
const WORK_US: i64 = 41_000;

/// A stream of new runs.
#[derive(Debug)]
pub(super) struct Workload {
    namespace: Namespace,
    submitted_by: Arc<str>,
    epoch: Epoch,
    made: u64,
}

impl Workload {
    pub(super) fn new(namespace: Namespace, epoch: Epoch) -> Self {
        Self { namespace, submitted_by: Arc::from("user:alice"), epoch, made: 0 }
    }

    /// The next runs, their jobs in turn, each placed on a node and not yet over.
    pub(super) fn runs(&mut self, count: usize) -> Vec<Run> {
        (0..count).map(|_| self.run()).collect()
    }

    fn run(&mut self) -> Run {
        let n = self.made;
        self.made += 1;
        let millisecond = (n / RUNS_PER_MILLISECOND) as i64 * 1_000;
        let at = Timestamp::from_micros(BEGIN_US + millisecond + PAST_MILLISECOND_US);
        let placed_at = after(at, WAIT_US);
        let head = RunHead {
            id: RunId::new(at, u128::from(hash::mix(n)) << 32 | u128::from(n)),
            namespace: self.namespace.clone(),
            job: job((n % JOBS as u64) as usize),
            job_version: 3,
            inline_spec: None,
            idempotency_key: None,
            priority: 100,
            created_at: at,
            not_before: None,
            deadline: None,
            params: Payload::from(&br#"{"date":"2026-01-01","table":"orders","limit":1000}"#[..]),
            keys: None,
            submitted_by: Arc::clone(&self.submitted_by),
            fired: None,
            overlap: Default::default(),
        };
        let mut status = RunStatus::arrived(CELL, at);
        status.epoch = self.epoch;
        status.attempt_epoch = self.epoch;
        status.state = RunState::Running;
        status.place = Some(Place { shelf: Shelf::Flight, rank: placed_at.as_micros() });
        status.attempt = 1;
        status.node = Some(NodeId::new(Timestamp::from_micros(BEGIN_US), u128::from(n % JOBS as u64)));
        status.eligible_at = Some(at);
        status.placed_at = Some(placed_at);
        Run { head: Arc::new(head), status }
    }
}

/// A job by its number.
pub(super) fn job(number: usize) -> JobId {
    JobId::new(Timestamp::from_micros(BEGIN_US), number as u128)
}

/// The writes that insert these runs.
pub(super) fn inserts(runs: &[Run]) -> Vec<Write> {
    runs.iter().cloned().map(Write::InsertRun).collect()
}

/// The writes that end these runs well.
pub(super) fn updates(runs: &[Run]) -> Vec<Write> {
    let update = |run: &Run| {
        let mut status = run.status.clone();
        let expected = status.version;
        status.version += 1;
        status.state = RunState::Success;
        status.place = None;
        status.started_at = status.placed_at;
        status.finished_at = status.placed_at.map(|at| after(at, WORK_US));
        status.cause = Some(Cause::Exit { code: 0 });
        status.extra_mut().usage = Usage { cpu_us: 12_345, memory_peak_bytes: 7_654_321, silent: false };
        Write::UpdateRun(RunUpdate { id: run.head.id, expected, status })
    };
    runs.iter().map(update).collect()
}

/// The writes that count the end of these runs: one for each job, as the engine sends them.
pub(super) fn counts(runs: &[Run]) -> Vec<Write> {
    let mut sums = [Counts::default(); JOBS];
    for run in runs {
        let one = Counts {
            attempts: 1,
            queued_us: WAIT_US as u64,
            running_us: WORK_US as u64,
            ..Counts::of(RunState::Success)
        };
        if let Some(number) = (0..JOBS).find(|number| job(*number) == run.head.job) {
            sums[number].add(&one);
        }
    }
    let namespace = runs.first().map(|run| &run.head.namespace);
    let keyed = sums.iter().enumerate().zip(std::iter::repeat(namespace));
    keyed
        .filter_map(|((number, sum), namespace)| Some((number, sum, namespace?)))
        .filter(|(_, sum, _)| sum.attempts > 0)
        .map(|(number, sum, namespace)| {
            let hour = Timestamp::from_micros(BEGIN_US);
            let key = CounterKey { namespace: namespace.clone(), job: job(number), hour };
            Write::AddCounts(Box::new((key, *sum)))
        })
        .collect()
}

fn after(at: Timestamp, us: i64) -> Timestamp {
    Timestamp::from_micros(at.as_micros() + us)
}
