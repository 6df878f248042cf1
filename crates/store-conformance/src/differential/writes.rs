//! Random writes: mostly such as an owner would make of the rows that are there, now and then late ones.

use std::sync::Arc;

use mainspring_model::{Epoch, RunStatus};
use mainspring_store::{RunUpdate, Store, Write};

use super::rows::{self, JOBS, NODES, RUNS};
use super::seeded::Seeded;
use crate::fixture::{job_id, node_id, read_run, run_id};

/// One write under `epoch`. The oracle is asked which versions are there, so that many writes fit.
pub(super) async fn write(random: &mut Seeded, oracle: &Arc<dyn Store>, epoch: Epoch, fenced: bool) -> Write {
    let epoch = if random.percent(90) { epoch } else { Epoch(random.below(4)) };
    match random.below(100) {
        0..24 => Write::InsertRun(rows::run(random, epoch)),
        24..48 => update(random, oracle, epoch).await,
        48..57 => put_record(random, oracle).await,
        57..60 if !fenced => remove_record(random, oracle).await,
        57..60 => put_record(random, oracle).await,
        60..66 => Write::InsertAttempt(Box::new(rows::attempt_row(random))),
        66..72 => Write::InsertEvent(Box::new(rows::event_row(random))),
        72..82 => {
            let n = random.below(JOBS);
            let found = oracle.job(job_id(n)).await.unwrap().map(|job| job.revision);
            if !fenced && random.percent(25) {
                let expected = if random.percent(80) { found.unwrap_or(1) } else { random.below(4) };
                return Write::RemoveJob { id: job_id(n), expected };
            }
            let revision = revision(random, found);
            Write::PutJob(Box::new(rows::job_row(random, n, revision)))
        }
        82..86 => Write::InsertJobVersion(Box::new(rows::version_row(random))),
        86..93 => {
            let n = random.below(NODES);
            let found = oracle.node(node_id(n)).await.unwrap().map(|node| node.revision);
            if !fenced && random.percent(25) {
                let expected = if random.percent(80) { found.unwrap_or(1) } else { random.below(4) };
                return Write::RemoveNode { id: node_id(n), expected };
            }
            let revision = revision(random, found);
            Write::PutNode(Box::new(rows::node_row(random, n, revision)))
        }
        _ if !fenced => Write::InsertRun(rows::run(random, Epoch(0))),
        93..98 => Write::AddCounts(Box::new(rows::counts(random))),
        _ => Write::PauseCell(random.maybe(60, |_| Box::new(crate::fixture::pause("p")))),
    }
}

async fn update(random: &mut Seeded, oracle: &Arc<dyn Store>, epoch: Epoch) -> Write {
    let id = run_id(random.below(RUNS));
    let found = read_run(oracle, id).await.map_or(1, |run| run.status.version);
    let expected = if random.percent(80) { found } else { random.below(4) };
    let status: RunStatus = rows::status(random, expected + 1, epoch);
    Write::UpdateRun(RunUpdate { id, expected, status })
}

async fn put_record(random: &mut Seeded, oracle: &Arc<dyn Store>) -> Write {
    let (kind, key) = (rows::record_kind(random), rows::record_key(random));
    let found = oracle.record(kind, &key).await.unwrap().map(|record| record.revision);
    let revision = revision(random, found);
    Write::PutRecord(Box::new(rows::record_row(random, kind, key, revision)))
}

async fn remove_record(random: &mut Seeded, oracle: &Arc<dyn Store>) -> Write {
    let (kind, key) = (rows::record_kind(random), rows::record_key(random));
    let found = oracle.record(kind, &key).await.unwrap().map(|record| record.revision);
    let expected = if random.percent(80) { found.unwrap_or(1) } else { random.below(4) };
    Write::RemoveRecord { kind, key, expected }
}

fn revision(random: &mut Seeded, found: Option<u64>) -> u64 {
    if random.percent(80) { found.unwrap_or(0) + 1 } else { 1 + random.below(4) }
}
