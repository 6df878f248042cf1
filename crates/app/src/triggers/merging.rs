//! A job and its triggers are written together: no version of a job stands without the triggers that it says.

use mainspring_engine::{Merged, TriggerRow, merge, news_key};
use mainspring_model::{JobId, JobSpec, Namespace};
use mainspring_store::{Outcome, Write};

use crate::app::App;
use crate::audit::Entry;
use crate::error::Result;
use crate::ports::Command;

/// A trigger that fires at the same moment moves its row: then everything is read and written once more.
const TRIES: usize = 5;

/// The triggers that a job has from now on.
#[derive(Clone, Copy)]
pub(crate) struct Merging<'a> {
    pub(crate) namespace: &'a Namespace,
    pub(crate) job: JobId,
    pub(crate) version: u32,
    /// None when the job goes.
    pub(crate) spec: Option<&'a JobSpec>,
}

impl App {
    /// Writes a job and its triggers, and tells the owner of the cell. Answers for the writes that were given.
    pub(crate) async fn commit_with_triggers(
        &self,
        writes: Vec<Write>,
        merging: Merging<'_>,
        entry: Entry,
    ) -> Result<Vec<Outcome>> {
        let given = writes.len();
        for tries in 1.. {
            let rows = self.trigger_writes(merging).await?;
            let changed = !rows.is_empty();
            let all = writes.iter().cloned().chain(rows).collect();
            let mut outcomes = self.journal.commit(all, entry.clone()).await?;
            let moved = outcomes[given..].iter().any(|outcome| outcome.conflict().is_some());
            if moved && tries < TRIES {
                continue;
            }
            if changed && !moved {
                let cell = self.cells.cell_of(merging.namespace);
                // An owner elsewhere finds out by itself.
                let _ =
                    self.cells.command(cell, Command::TriggersChanged { job: merging.job }, Vec::new()).await;
            }
            if !moved {
                outcomes.truncate(given);
            }
            return Ok(outcomes);
        }
        Ok(Vec::new())
    }

    async fn trigger_writes(&self, merging: Merging<'_>) -> Result<Vec<Write>> {
        let Merging { namespace, job, version, spec } = merging;
        let cell = self.cells.cell_of(namespace);
        let old = self.triggers_of(cell, job).await?;
        let news = match old.is_empty() && spec.is_none_or(|spec| spec.triggers.is_empty()) {
            true => return Ok(Vec::new()),
            false => {
                let (kind, key) = news_key(cell, job);
                self.store.record(kind, &key).await?.map(|record| record.revision)
            }
        };
        let now = self.now();
        Ok(merge(&old, Merged { cell, namespace, job, version, spec, now, news }))
    }

    /// Where the triggers of a job stand.
    pub(super) async fn triggers_of(
        &self,
        cell: mainspring_model::CellId,
        job: JobId,
    ) -> Result<Vec<TriggerRow>> {
        let page = self.store.records(TriggerRow::of_job(cell, job)).await?;
        Ok(page.rows.iter().filter_map(TriggerRow::read).collect())
    }
}
