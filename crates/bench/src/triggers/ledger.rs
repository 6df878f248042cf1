//! What the store says afterwards: the lines of the ledger, and the runs.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use mainspring_engine::{Occurrence, TriggerKey};
use mainspring_model::{JobId, Run, RunId, Timestamp};
use mainspring_store::{RecordQuery, RunQuery, Store};
use tokio::time::sleep;

use super::jobs;

const PAGE_ROWS: usize = 5_000;

/// Every line of the ledger, with the job that it is of.
pub(super) async fn read(store: &dyn Store) -> Result<Vec<(JobId, Occurrence)>> {
    let kind = jobs::trigger(0).occurrences(None, 1).kind;
    let mut query = RecordQuery::all(kind, PAGE_ROWS);
    let mut lines = Vec::new();
    loop {
        let page = store.records(query.clone()).await?;
        for record in &page.rows {
            let job = record.key.as_bytes().first_chunk::<16>().map(|job| JobId::from_bytes(*job));
            lines.extend(job.zip(Occurrence::read(record)));
        }
        query.after = page.rows.last().map(|record| record.key.clone());
        if !page.more {
            return Ok(lines);
        }
    }
}

/// Every run that was fired, with its planned moment.
pub(super) async fn runs(store: &dyn Store) -> Result<Vec<(RunId, Timestamp)>> {
    let mut query = RunQuery { limit: PAGE_ROWS, ..RunQuery::default() };
    let mut runs = Vec::new();
    loop {
        let page = store.runs(query.clone()).await?;
        let fired = |run: &Run| run.head.fired.as_ref().map(|fired| (run.head.id, fired.planned));
        runs.extend(page.rows.iter().filter_map(fired));
        query.after = page.rows.last().map(|run| run.head.id);
        if !page.more {
            return Ok(runs);
        }
    }
}

/// The last line of one trigger, as soon as there is one.
pub(super) async fn until_line(
    store: &dyn Store,
    key: &TriggerKey,
    patience: Duration,
) -> Result<Occurrence> {
    let began = Instant::now();
    loop {
        let page = store.records(key.occurrences(None, 1)).await?;
        if let Some(line) = page.rows.first().and_then(Occurrence::read) {
            return Ok(line);
        }
        ensure!(began.elapsed() < patience, "a trigger has not fired within {patience:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Whether what was planned happened once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Balance {
    /// Planned moments without a line, or without the run that their line names.
    pub(super) lost: usize,
    /// Runs beyond one for a line.
    pub(super) doubled: usize,
}

impl Balance {
    /// Of so many moments, whose lines and runs these are.
    pub(super) fn of(planned: usize, lines: &[(JobId, Occurrence)], runs: &[(RunId, Timestamp)]) -> Self {
        let made: HashSet<RunId> = runs.iter().map(|(run, _)| *run).collect();
        let mut moments: HashMap<_, usize> = HashMap::new();
        for (job, line) in lines.iter().filter(|(_, line)| line.run.is_some_and(|run| made.contains(&run))) {
            *moments.entry((*job, line.planned)).or_default() += 1;
        }
        let distinct: HashSet<_> = lines.iter().filter_map(|(_, line)| line.run).collect();
        Self {
            lost: planned.saturating_sub(moments.len()),
            doubled: runs.len().saturating_sub(distinct.len())
                + moments.values().map(|lines| lines - 1).sum::<usize>(),
        }
    }
}
