//! The answer to a fenced batch that was committed before: read from its rows, decided by the contract's
//! [`mainspring_store::readback`].

use std::collections::{HashMap, HashSet};

use mainspring_model::{Epoch, Job, JobId, Node, NodeId, RunId};
use mainspring_store::readback::{self, RunMark};
use mainspring_store::{Conflict, Outcome, Record, RecordKey, RecordKind, Transaction, Write};

use super::lookup::{self, NameKey};
use super::statement::Query;
use crate::rows::{job, node, record};
use crate::session::{Backend, Result};
use crate::value::{Damage, Param, Row};

/// The outcomes of a batch that is here already.
pub(crate) async fn outcomes<B: Backend>(
    backend: &B,
    transaction: &Transaction,
    epoch: Epoch,
) -> Result<Vec<Outcome>> {
    let there = There::read(backend, &transaction.writes).await?;
    Ok(transaction.writes.iter().map(|write| there.outcome(write, epoch)).collect())
}

/// The rows that the batch names.
struct There {
    runs: HashMap<RunId, RunMark>,
    keys: HashMap<NameKey, RunId>,
    attempts: HashSet<([u8; 16], i64)>,
    events: HashSet<([u8; 16], i64, i64)>,
    jobs: HashMap<JobId, Job>,
    names: HashMap<NameKey, JobId>,
    versions: HashSet<([u8; 16], i64)>,
    nodes: HashMap<NodeId, Node>,
    records: HashMap<(RecordKind, RecordKey), Record>,
}

/// What to ask for.
#[derive(Default)]
struct Asked<'a> {
    runs: Vec<[u8; 16]>,
    keys: Vec<(&'a str, &'a str)>,
    attempts: Vec<(Param, Param)>,
    events: Vec<[u8; 16]>,
    jobs: Vec<[u8; 16]>,
    names: Vec<(&'a str, &'a str)>,
    versions: Vec<(Param, Param)>,
    nodes: Vec<[u8; 16]>,
    records: Vec<(RecordKind, &'a RecordKey)>,
}

impl<'a> Asked<'a> {
    fn of(writes: &'a [Write]) -> Self {
        let mut asked = Self::default();
        for write in writes {
            match write {
                Write::InsertRun(run) => {
                    asked.runs.push(*run.head.id.as_bytes());
                    let key = run.head.idempotency_key.as_ref();
                    asked.keys.extend(key.map(|key| (run.head.namespace.as_str(), &**key)));
                }
                Write::UpdateRun(update) => asked.runs.push(*update.id.as_bytes()),
                Write::InsertAttempt(attempt) => {
                    let number = i64::from(attempt.token.number);
                    asked.attempts.push((attempt.token.run.as_bytes().into(), number.into()));
                }
                Write::InsertEvent(event) => asked.events.push(*event.run.as_bytes()),
                Write::PutJob(job) => {
                    asked.jobs.push(*job.id.as_bytes());
                    asked.names.push((job.namespace.as_str(), &job.name));
                }
                Write::InsertJobVersion(version) => {
                    asked.versions.push((version.job.as_bytes().into(), i64::from(version.version).into()));
                }
                Write::PutNode(node) => asked.nodes.push(*node.id.as_bytes()),
                Write::PutRecord(record) => asked.records.push((record.kind, &record.key)),
                Write::AddCounts(_)
                | Write::PauseCell(_)
                | Write::RemoveJob { .. }
                | Write::RemoveNode { .. }
                | Write::RemoveRecord { .. } => {}
            }
        }
        asked
    }
}

impl There {
    async fn read<B: Backend>(backend: &B, writes: &[Write]) -> Result<Self> {
        fn pair(row: &dyn Row) -> Result<([u8; 16], i64), Damage> {
            Ok((row.id(0)?, row.int(1)?))
        }
        fn triple(row: &dyn Row) -> Result<([u8; 16], i64, i64), Damage> {
            Ok((row.id(0)?, row.int(1)?, row.int(2)?))
        }
        let asked = Asked::of(writes);
        let attempts =
            lookup::by_pair("SELECT run, attempt FROM attempts", ("run", "attempt"), &asked.attempts);
        let events = lookup::by_id("SELECT run, version, ordinal FROM run_events", "run", &asked.events);
        let versions =
            lookup::by_pair("SELECT job, version FROM job_versions", ("job", "version"), &asked.versions);
        let pairs = lookup::record_pairs(&asked.records);
        let records = lookup::by_pair(record::SELECT, ("kind", "record_key"), &pairs);
        Ok(Self {
            runs: lookup::run_marks(backend, &asked.runs).await?,
            keys: lookup::key_holders(backend, &asked.keys).await?,
            attempts: lookup::sound(backend, attempts, pair).await?.into_iter().collect(),
            events: lookup::sound(backend, events, triple).await?.into_iter().collect(),
            jobs: keyed(backend, lookup::by_id(job::SELECT, "id", &asked.jobs), job::decode, |job| job.id)
                .await?,
            names: lookup::name_holders(backend, &asked.names).await?,
            versions: lookup::sound(backend, versions, pair).await?.into_iter().collect(),
            nodes: keyed(backend, lookup::by_id(node::SELECT, "id", &asked.nodes), node::decode, |node| {
                node.id
            })
            .await?,
            records: keyed(backend, records, record::decode, |row| (row.kind, row.key.clone())).await?,
        })
    }

    fn outcome(&self, write: &Write, epoch: Epoch) -> Outcome {
        match write {
            Write::InsertRun(run) => {
                let key = run.head.idempotency_key.as_ref();
                let holder =
                    key.and_then(|key| self.keys.get(&lookup::name_key(run.head.namespace.as_str(), key)));
                readback::insert_run(run, epoch, self.runs.get(&run.head.id).copied(), holder.copied())
            }
            Write::UpdateRun(update) => {
                readback::update_run(update, epoch, self.runs.get(&update.id).copied())
            }
            Write::InsertAttempt(attempt) => {
                let key = (*attempt.token.run.as_bytes(), i64::from(attempt.token.number));
                readback::insert(self.attempts.contains(&key))
            }
            Write::InsertEvent(event) => {
                let key = (*event.run.as_bytes(), event.version as i64, i64::from(event.ordinal));
                readback::insert(self.events.contains(&key))
            }
            Write::PutJob(job) => {
                let name = lookup::name_key(job.namespace.as_str(), &job.name);
                let taken = self.names.get(&name).is_some_and(|holder| *holder != job.id);
                readback::put_job(job, self.jobs.get(&job.id), taken)
            }
            Write::InsertJobVersion(version) => {
                let key = (*version.job.as_bytes(), i64::from(version.version));
                readback::insert(self.versions.contains(&key))
            }
            Write::PutNode(node) => readback::put_node(node, self.nodes.get(&node.id)),
            Write::PutRecord(record) => {
                readback::put_record(record, self.records.get(&(record.kind, record.key.clone())))
            }
            // No fenced batch has removals.
            Write::RemoveJob { .. } | Write::RemoveNode { .. } | Write::RemoveRecord { .. } => {
                Outcome::Conflict(Conflict::Missing)
            }
            Write::AddCounts(_) | Write::PauseCell(_) => Outcome::Applied,
        }
    }
}

async fn keyed<B: Backend, K: std::hash::Hash + Eq, T: Send + 'static>(
    backend: &B,
    queries: impl Iterator<Item = Query> + Send,
    decode: crate::value::Decode<T>,
    key: impl Fn(&T) -> K + Send,
) -> Result<HashMap<K, T>> {
    Ok(lookup::sound(backend, queries, decode).await?.into_iter().map(|row| (key(&row), row)).collect())
}
