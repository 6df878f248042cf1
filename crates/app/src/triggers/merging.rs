//! A job and its triggers are written together: no version of a job stands without the triggers that it says.

use mainspring_engine::{Merged, TriggerKey, TriggerRow, merge, news_key};
use mainspring_model::spec::When;
use mainspring_model::{Calendars, JobId, JobSpec, Namespace};
use mainspring_store::{Outcome, Write};

use crate::app::App;
use crate::audit::Entry;
use crate::calendars::CalendarShelf;
use crate::error::Result;

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
    /// Writes a job and its triggers. Answers for the writes that were given, and whether triggers were among what changed: then
    /// the owner of the cell has to confirm it ([`App::confirmed`]).
    pub(crate) async fn commit_with_triggers(
        &self,
        writes: Vec<Write>,
        merging: Merging<'_>,
        entry: Entry,
    ) -> Result<(Vec<Outcome>, bool)> {
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
            if !moved {
                outcomes.truncate(given);
            }
            return Ok((outcomes, changed));
        }
        Ok((Vec::new(), false))
    }

    async fn trigger_writes(&self, merging: Merging<'_>) -> Result<Vec<Write>> {
        let Merging { namespace, job, spec, .. } = merging;
        let page = self.store.records(TriggerRow::of_job(self.cells.cell_of(namespace), job)).await?;
        let old: Vec<TriggerRow> = page.rows.iter().filter_map(TriggerRow::read).collect();
        let gone: Vec<_> = page.rows.iter().filter_map(TriggerRow::read_gone).collect();
        let mut writes = self.row_writes(merging, &old, &gone).await?;
        // A token goes with its webhook: one of the same name later is another.
        for row in old.iter().filter(|row| row.state.is_called && !is_called(spec, &row.key.name)) {
            writes.extend(self.hook_removals(&row.key).await?);
        }
        Ok(writes)
    }

    /// What becomes of the rows of a job's triggers.
    async fn row_writes(
        &self,
        merging: Merging<'_>,
        old: &[TriggerRow],
        gone: &[(TriggerKey, u64)],
    ) -> Result<Vec<Write>> {
        let Merging { namespace, job, version, spec } = merging;
        if old.is_empty() && spec.is_none_or(|spec| spec.triggers.is_empty()) {
            return Ok(Vec::new());
        }
        let cell = self.cells.cell_of(namespace);
        let (kind, key) = news_key(cell, job);
        let news = self.store.record(kind, &key).await?.map(|record| record.revision);
        let now = self.now();
        let calendars = match spec {
            Some(spec) => CalendarShelf::default().of_job(&*self.store, namespace, spec).await?,
            None => Calendars::default(),
        };
        Ok(merge(old, Merged { cell, namespace, job, version, spec, now, calendars: &calendars, news, gone }))
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

/// Whether a job has a webhook of this name.
fn is_called(spec: Option<&JobSpec>, name: &str) -> bool {
    let mut triggers = spec.into_iter().flat_map(|spec| &spec.triggers);
    triggers.any(|trigger| trigger.name.as_str() == name && matches!(trigger.when, When::Webhook { .. }))
}
