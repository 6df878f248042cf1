//! What refused writes met. Asked after the commit, in a few reads for all of them; the answer tells what is
//! there now, which is what the caller acts on next.

use std::collections::HashMap;

use mainspring_model::RunId;
use mainspring_store::readback::{self, RunMark};
use mainspring_store::{Conflict, Outcome, RecordKey, RecordKind, Transaction, Write};

use super::lookup;
use crate::session::{Backend, Result};

/// Every write applied but those at `refused`, which are explained.
pub(crate) async fn outcomes<B: Backend>(
    backend: &B,
    transaction: &Transaction,
    refused: Vec<u32>,
) -> Result<Vec<Outcome>> {
    let mut outcomes = vec![Outcome::Applied; transaction.writes.len()];
    if !refused.is_empty() {
        let writes: Vec<&Write> = refused.iter().map(|at| &transaction.writes[*at as usize]).collect();
        let found = Found::read(backend, &writes).await?;
        for (at, write) in refused.iter().zip(writes) {
            outcomes[*at as usize] = found.outcome(write);
        }
    }
    Ok(outcomes)
}

/// Every write undone but those at `refused`, which are explained.
pub(crate) async fn undone<B: Backend>(
    backend: &B,
    transaction: &Transaction,
    refused: Vec<u32>,
) -> Result<Vec<Outcome>> {
    let mut outcomes = outcomes(backend, transaction, refused).await?;
    for at in 0..outcomes.len() {
        match &outcomes[at] {
            Outcome::Applied => outcomes[at] = Outcome::Undone,
            Outcome::Conflict(Conflict::KeyTaken(None)) => {
                // A run whose key nobody has met one of its own batch, which is undone now.
                if let Some(holder) =
                    holder_within(&transaction.writes[..at], &outcomes, &transaction.writes[at])
                {
                    outcomes[at] = Outcome::Conflict(Conflict::KeyTaken(Some(holder)));
                }
            }
            Outcome::Conflict(_) | Outcome::Undone => {}
        }
    }
    Ok(outcomes)
}

/// The run among the `earlier` writes that had the key of `refused` for as long as the batch lasted.
fn holder_within(earlier: &[Write], outcomes: &[Outcome], refused: &Write) -> Option<RunId> {
    let Write::InsertRun(refused) = refused else { return None };
    earlier.iter().zip(outcomes).find_map(|(write, outcome)| match write {
        Write::InsertRun(run)
            if *outcome == Outcome::Undone
                && run.head.namespace == refused.head.namespace
                && run.head.idempotency_key == refused.head.idempotency_key =>
        {
            Some(run.head.id)
        }
        _ => None,
    })
}

/// What there is under the ids and names of some writes.
struct Found {
    runs: HashMap<RunId, RunMark>,
    keys: HashMap<lookup::NameKey, RunId>,
    jobs: HashMap<[u8; 16], u64>,
    nodes: HashMap<[u8; 16], u64>,
    records: HashMap<(RecordKind, RecordKey), u64>,
}

impl Found {
    async fn read<B: Backend>(backend: &B, writes: &[&Write]) -> Result<Self> {
        let (mut runs, mut keys, mut jobs, mut nodes) = (vec![], vec![], vec![], vec![]);
        let mut records = vec![];
        for write in writes {
            match write {
                Write::InsertRun(run) => {
                    runs.push(*run.head.id.as_bytes());
                    keys.extend(
                        run.head.idempotency_key.as_ref().map(|key| (run.head.namespace.as_str(), &**key)),
                    );
                }
                Write::UpdateRun(update) => runs.push(*update.id.as_bytes()),
                Write::PutJob(job) => jobs.push(*job.id.as_bytes()),
                Write::RemoveJob { id, .. } => jobs.push(*id.as_bytes()),
                Write::PutRecord(record) => records.push((record.kind, &record.key)),
                Write::RemoveRecord { kind, key, .. } => records.push((*kind, key)),
                Write::PutNode(node) => nodes.push(*node.id.as_bytes()),
                Write::RemoveNode { id, .. } => nodes.push(*id.as_bytes()),
                Write::InsertAttempt(_)
                | Write::InsertEvent(_)
                | Write::InsertJobVersion(_)
                | Write::AddCounts(_)
                | Write::PauseCell(_) => {}
            }
        }
        Ok(Self {
            runs: lookup::run_marks(backend, &runs).await?,
            keys: lookup::key_holders(backend, &keys).await?,
            jobs: lookup::revisions(backend, "SELECT id, revision FROM jobs", &jobs).await?,
            nodes: lookup::revisions(backend, "SELECT id, revision FROM nodes", &nodes).await?,
            records: lookup::record_revisions(backend, &records).await?,
        })
    }

    fn outcome(&self, write: &Write) -> Outcome {
        let removed = |expected: u64, found: Option<u64>| {
            // One that fits now did not when it was tried.
            let otherwise = found.map_or(Conflict::Missing, Conflict::Version);
            Conflict::of_removal(expected, found).unwrap_or(otherwise)
        };
        let record = |kind: RecordKind, key: &RecordKey| self.records.get(&(kind, key.clone())).copied();
        Outcome::Conflict(match write {
            Write::InsertRun(run) => match &run.head.idempotency_key {
                Some(key) if !self.runs.contains_key(&run.head.id) => {
                    let key = lookup::name_key(run.head.namespace.as_str(), key);
                    Conflict::KeyTaken(self.keys.get(&key).copied())
                }
                _ => Conflict::Exists,
            },
            Write::UpdateRun(update) => {
                self.runs.get(&update.id).map_or(Conflict::Missing, |mark| Conflict::Version(mark.version))
            }
            Write::PutJob(job) => {
                // One that the row did not refuse was refused by the name, even when a later write freed it again.
                return readback::refused(job.revision, self.jobs.get(job.id.as_bytes()).copied(), true);
            }
            Write::PutNode(node) => {
                return readback::refused(node.revision, self.nodes.get(node.id.as_bytes()).copied(), false);
            }
            Write::PutRecord(put) => {
                return readback::refused(put.revision, record(put.kind, &put.key), false);
            }
            Write::RemoveJob { id, expected } => removed(*expected, self.jobs.get(id.as_bytes()).copied()),
            Write::RemoveNode { id, expected } => removed(*expected, self.nodes.get(id.as_bytes()).copied()),
            Write::RemoveRecord { kind, key, expected } => removed(*expected, record(*kind, key)),
            Write::InsertAttempt(_)
            | Write::InsertEvent(_)
            | Write::InsertJobVersion(_)
            | Write::AddCounts(_)
            | Write::PauseCell(_) => Conflict::Exists,
        })
    }
}
