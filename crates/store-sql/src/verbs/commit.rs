//! The one write verb. The fence is compared and advanced first, which also locks the lease row, so that a
//! takeover and a commit happen one after the other; then all groups of the plan go in one flight.
//!
//! What a refused write met is found out after the commit ([`super::explain`]); a batch that was sent before is
//! answered from its rows ([`super::replay`]).

use std::sync::Arc;

use mainspring_model::{Job, JobId};
use mainspring_store::{Error, Fence, Outcome, Transaction, Write, check};

use super::plan::Plan;
use super::{explain, replay};
use crate::batch::Batch;
use crate::dialect::Sql;
use crate::known_jobs::{KnownJobs, Pair};
use crate::rows::{attempt, counter, detail, event, job, node, record, run, run_job};
use crate::session::{Applied, Backend, Fault, Op, Result, Session, Work};
use crate::value::{Param, Rows, Value};

/// Tries when the fence fits but did not match a moment before.
const FENCE_TRIES: usize = 3;

static ADVANCE: Sql =
    Sql::same("UPDATE leases SET seq = ? WHERE cell = ? AND epoch = ? AND seq = ? AND holder IS NOT NULL");
static PAUSE: Sql = Sql::same("UPDATE leases SET pause = ? WHERE cell = ?");
/// Whoever writes jobs, or removes rows with other writes, holds this row, which is always there. Jobs keep the caller's order, and removals come
/// after what is written, so neither is locked in the order of its keys like everything else: two that replace what the other
/// removes would wait for each other. Both are rare.
static TURN: Sql = Sql::locking(
    "SELECT number FROM migrations WHERE number = 1",
    "SELECT number FROM migrations WHERE number = 1 FOR UPDATE",
);
const NAME_HOLDER: &str = "SELECT id FROM jobs WHERE namespace = ? AND name = ?";
const REMOVE_JOB: &str = "DELETE FROM jobs WHERE id = ? AND revision = ?";

/// Writes a batch.
pub(crate) async fn commit<B: Backend>(
    backend: &B,
    known: &KnownJobs,
    transaction: Transaction,
) -> Result<Vec<Outcome>> {
    check::transaction(&transaction)?;
    let new_jobs = known.missing(&transaction.writes);
    let commit = Arc::new(Commit::new(transaction, &new_jobs)?);
    for _ in 0..FENCE_TRIES {
        match backend.transaction(commit.clone()).await {
            Ok(refused) => {
                known.note(new_jobs);
                // It is durable: who cannot be told what it met may not be told that nothing was written.
                return explain::outcomes(backend, &commit.transaction, refused)
                    .await
                    .map_err(Error::unknown);
            }
            Err(Fault::Conflicts(refused)) => {
                return explain::undone(backend, &commit.transaction, refused).await;
            }
            Err(Fault::Unmatched) => {
                if let Some(outcomes) = fence_missed(backend, &commit.transaction).await? {
                    return Ok(outcomes);
                }
            }
            Err(fault) => return Err(fault.into()),
        }
    }
    Err(Error::unavailable("the lease row changes faster than it can be read"))
}

/// Why the fence did not match; the outcomes when the batch was committed before, none when it would match now.
async fn fence_missed<B: Backend>(backend: &B, transaction: &Transaction) -> Result<Option<Vec<Outcome>>> {
    let Some(Fence { cell, epoch, seq }) = transaction.fence else {
        return Err(Error::unavailable("an unfenced batch met a fence"));
    };
    match super::leases::one(backend, cell).await? {
        Some(lease) if lease.epoch == epoch && lease.holder.is_some() => {
            if lease.seq == seq {
                return replay::outcomes(backend, transaction, epoch).await.map(Some).map_err(Error::unknown);
            }
            if lease.seq.wrapping_add(1) == seq {
                return Ok(None);
            }
            Err(Error::Invalid(format!("seq {seq} is out of turn: {cell} is at {}", lease.seq)))
        }
        _ => Err(Error::FenceLost { cell, epoch }),
    }
}

/// What to do, with which rows, and where their writes are in the transaction.
type Group<'a> = (&'static Batch, &'a dyn Rows, &'a [u32]);

/// A batch, planned.
struct Commit {
    transaction: Transaction,
    plan: Plan,
    /// Versions are written once, because writing a specification can fail.
    versions: Vec<Vec<Param>>,
    pause: Option<Param>,
    /// The rows of `run_jobs` that may be missing.
    run_jobs: Vec<Vec<Param>>,
}

impl Commit {
    fn new(transaction: Transaction, new_jobs: &[Pair]) -> Result<Self> {
        let plan = Plan::of(&transaction);
        let mut versions = Vec::with_capacity(plan.job_versions.len());
        for at in &plan.job_versions {
            if let Write::InsertJobVersion(version) = &transaction.writes[*at as usize] {
                versions.push(job::encode_version(version)?);
            }
        }
        let pause = plan.pause.map(|at| match &transaction.writes[at as usize] {
            Write::PauseCell(Some(pause)) => detail::to_json(pause).into(),
            _ => Param::Null,
        });
        let run_jobs = new_jobs.iter().map(run_job::encode).collect();
        Ok(Self { transaction, plan, versions, pause, run_jobs })
    }

    /// What `pick` makes of the writes at these positions.
    fn pick<'a, T>(&'a self, group: &[u32], pick: impl Fn(&'a Write) -> Option<T>) -> Vec<T> {
        group.iter().filter_map(|at| pick(&self.transaction.writes[*at as usize])).collect()
    }

    fn run_inserts(&self) -> Vec<run::Inserts<'_>> {
        let picked = self.plan.run_inserts.iter().map(|wave| {
            self.pick(wave, |write| match write {
                Write::InsertRun(run) => Some(run),
                _ => None,
            })
        });
        picked.map(run::Inserts::new).collect()
    }

    fn run_updates(&self) -> run::Updates<'_> {
        run::Updates::new(self.pick(&self.plan.run_updates, |write| match write {
            Write::UpdateRun(update) => Some(update),
            _ => None,
        }))
    }

    /// The rows of a rare kind.
    fn rare(&self, group: &[u32], update: bool) -> Vec<Vec<Param>> {
        self.pick(group, |write| match write {
            Write::InsertAttempt(attempt) => Some(attempt::encode(attempt)),
            Write::InsertEvent(event) => Some(event::encode(event)),
            Write::PutNode(node) if update => Some(node::encode_update(node)),
            Write::PutNode(node) => Some(node::encode(node)),
            Write::RemoveNode { id, expected } => Some(node::encode_removal(*id, *expected)),
            Write::PutRecord(record) if update => Some(record::encode_update(record)),
            Write::PutRecord(record) => Some(record::encode(record)),
            Write::RemoveRecord { kind, key, expected } => {
                Some(record::encode_removal(*kind, key, *expected))
            }
            Write::AddCounts(add) => Some(counter::encode(&add.0, &add.1)),
            _ => None,
        })
    }

    /// Jobs one by one in the caller's order: they are rare, and two may want one name.
    async fn put_jobs<S: Session>(&self, session: &mut S, refused: &mut Vec<u32>) -> Result<(), Fault> {
        for at in &self.plan.jobs {
            let applied = match &self.transaction.writes[*at as usize] {
                Write::PutJob(put) => put_job(session, put).await?,
                Write::RemoveJob { id, expected } => remove_job(session, *id, *expected).await?,
                _ => continue,
            };
            if !applied {
                refused.push(*at);
            }
        }
        Ok(())
    }
}

async fn put_job<S: Session>(session: &mut S, put: &Job) -> Result<bool, Fault> {
    let (batch, row) = if put.revision == 1 {
        (&job::INSERT, job::encode(put))
    } else {
        let name = [Value::Bytes(put.namespace.as_str().as_bytes()), Value::Bytes(put.name.as_bytes())];
        let holders = session.query(NAME_HOLDER, &name, |row| row.id(0)).await?;
        if holders.iter().any(|holder| holder != put.id.as_bytes()) {
            return Ok(false);
        }
        (&job::UPDATE, job::encode_update(put))
    };
    let op = Op::Batch { batch, rows: &vec![row], contested: true };
    let applied = session.flight(&[op], false).await?;
    Ok(applied.iter().all(|applied| applied.row(0)))
}

async fn remove_job<S: Session>(session: &mut S, id: JobId, expected: u64) -> Result<bool, Fault> {
    let params = [Value::Bytes(id.as_bytes()), Value::Int(expected as i64)];
    Ok(session.execute(REMOVE_JOB, &params).await? == 1)
}

impl Work for Commit {
    /// The positions of writes that were not applied.
    type Answer = Vec<u32>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<u32>, Fault> {
        let plan = &self.plan;
        let mut refused = Vec::new();
        let fence = self.transaction.fence.map(|Fence { cell, epoch, seq }| {
            [seq as i64, i64::from(cell.0), epoch.0 as i64, seq.wrapping_sub(1) as i64].map(Value::Int)
        });
        let mut ops = Vec::with_capacity(4);
        ops.extend(fence.iter().map(|params| Op::Guard(&ADVANCE, params)));
        if plan.takes_turns() {
            session.flight(&ops, false).await?;
            ops.clear();
            session.query(TURN.text(S::DIALECT), &[], |row| row.int(0)).await?;
            self.put_jobs(session, &mut refused).await?;
        }

        let inserts = self.run_inserts();
        let updates = self.run_updates();
        let attempts = self.rare(&plan.attempts, false);
        let events = self.rare(&plan.events, false);
        let node_inserts = self.rare(&plan.node_inserts, false);
        let node_updates = self.rare(&plan.node_updates, true);
        let node_removals = self.rare(&plan.node_removals, false);
        let counters = self.rare(&plan.counters, false);
        let record_inserts = self.rare(&plan.record_inserts, false);
        let record_updates = self.rare(&plan.record_updates, true);
        let record_removals = self.rare(&plan.record_removals, false);
        // Nobody waits for the answer, but it must be there before the first run is.
        if !self.run_jobs.is_empty() {
            ops.push(Op::Batch { batch: &run_job::ENSURE, rows: &self.run_jobs, contested: false });
        }
        let new_runs = plan.run_inserts.iter().zip(&inserts);
        let new_runs = new_runs.map(|(wave, rows)| -> Group<'_> { (&run::INSERT, rows, wave) });
        let others: [Group<'_>; 11] = [
            (&run::UPDATE, &updates, &plan.run_updates),
            (&attempt::INSERT, &attempts, &plan.attempts),
            (&event::INSERT, &events, &plan.events),
            (&job::INSERT_VERSION, &self.versions, &plan.job_versions),
            (&node::INSERT, &node_inserts, &plan.node_inserts),
            (&node::UPDATE, &node_updates, &plan.node_updates),
            (&node::REMOVE, &node_removals, &plan.node_removals),
            (&counter::ADD, &counters, &plan.counters),
            (&record::INSERT, &record_inserts, &plan.record_inserts),
            (&record::UPDATE, &record_updates, &plan.record_updates),
            (&record::REMOVE, &record_removals, &plan.record_removals),
        ];
        let groups: Vec<Group<'_>> =
            new_runs.chain(others).filter(|(_, _, positions)| !positions.is_empty()).collect();

        let batches_from = ops.len();
        let keyed = inserts.iter().any(run::Inserts::have_keys);
        ops.extend(groups.iter().map(|(batch, rows, _)| {
            let contested = keyed && std::ptr::eq::<Batch>(*batch, &run::INSERT);
            Op::Batch { batch, rows: *rows, contested }
        }));
        let pause = self.pause.as_ref().zip(fence).map(|(pause, fence)| [pause.value(), fence[1]]);
        ops.extend(pause.iter().map(|params| Op::Execute(&PAUSE, params)));

        // A flight that commits by itself could not be undone.
        let answers = session.flight(&ops, !self.transaction.all_or_nothing).await?;
        for ((_, _, positions), applied) in groups.iter().zip(&answers[batches_from..]) {
            if let Applied::Some(rows) = applied {
                refused
                    .extend(positions.iter().zip(rows).filter(|(_, applied)| !**applied).map(|(at, _)| *at));
            }
        }
        if self.transaction.all_or_nothing && !refused.is_empty() {
            return Err(Fault::Conflicts(refused));
        }
        Ok(refused)
    }
}
