//! What refused writes met. Asked after the commit, in a few reads for all of them; the answer tells what is
//! there now, which is what the caller acts on next.

use std::collections::HashMap;

use mainspring_model::RunId;
use mainspring_store::readback::RunMark;
use mainspring_store::{Conflict, Outcome, Transaction, Write};

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
        for (at, conflict) in refused.iter().zip(conflicts(backend, &writes).await?) {
            outcomes[*at as usize] = Outcome::Conflict(conflict);
        }
    }
    Ok(outcomes)
}

async fn conflicts<B: Backend>(backend: &B, writes: &[&Write]) -> Result<Vec<Conflict>> {
    let found = Found::read(backend, writes).await?;
    Ok(writes.iter().map(|write| found.conflict(write)).collect())
}

/// What there is under the ids and names of some writes.
struct Found {
    runs: HashMap<RunId, RunMark>,
    keys: HashMap<lookup::NameKey, RunId>,
    jobs: HashMap<[u8; 16], u64>,
    nodes: HashMap<[u8; 16], u64>,
}

impl Found {
    async fn read<B: Backend>(backend: &B, writes: &[&Write]) -> Result<Self> {
        let (mut runs, mut keys, mut jobs, mut nodes) = (vec![], vec![], vec![], vec![]);
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
                Write::PutNode(node) => nodes.push(*node.id.as_bytes()),
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
        })
    }

    fn conflict(&self, write: &Write) -> Conflict {
        match write {
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
            Write::PutJob(job) => put_conflict(job.revision, self.jobs.get(job.id.as_bytes()).copied()),
            Write::PutNode(node) => put_conflict(node.revision, self.nodes.get(node.id.as_bytes()).copied()),
            Write::InsertAttempt(_)
            | Write::InsertEvent(_)
            | Write::InsertJobVersion(_)
            | Write::AddCounts(_)
            | Write::PauseCell(_) => Conflict::Exists,
        }
    }
}

/// A put that the row did not refuse was refused by the name, even when a later write freed it again.
fn put_conflict(written: u64, found: Option<u64>) -> Conflict {
    match found {
        Some(_) if written == 1 => Conflict::Exists,
        Some(found) if found.wrapping_add(1) == written => Conflict::KeyTaken(None),
        Some(found) => Conflict::Version(found),
        None if written == 1 => Conflict::KeyTaken(None),
        None => Conflict::Missing,
    }
}
