//! Reading triggers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mainspring_engine::TriggerRow;
use mainspring_model::spec::Trigger;
use mainspring_model::{ErrorCode, Job, JobSpec, Namespace, Pause};
use mainspring_wire::api;

use super::missing::KnownJobs;
use super::preview::description;
use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::{PageRequest, visible};
use crate::principal::Caller;

impl App {
    /// Triggers of a namespace and all below; without one, all that the caller may see.
    pub async fn list_triggers(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: &PageRequest,
    ) -> Result<api::Page<api::Trigger>> {
        self.places(caller, Operation::TriggerList, namespace).await?;
        let query = request.records(TriggerRow::KIND, &[])?;
        let see = |record: &mainspring_store::Record| {
            let is_within = |row: &TriggerRow| {
                namespace.is_none_or(|namespace| row.state.namespace.is_within(namespace))
                    && caller.principal.may(Operation::TriggerList, Some(&row.state.namespace))
            };
            Ok(TriggerRow::read(record).filter(is_within))
        };
        let page = visible(&*self.store, query, see).await?;
        let mut items = Vec::with_capacity(page.items.len());
        let (mut known, mut pauses) = (KnownJobs::default(), BTreeMap::new());
        for row in page.items {
            let pause = match pauses.entry(row.key.job) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    unknown.insert(self.store.job(row.key.job).await?.and_then(|job| job.pause))
                }
            };
            match self.find_version(row.key.job, row.state.version).await {
                Ok(spec) => items.extend(self.view(&row, &spec, pause.as_ref(), &mut known).await?),
                // A job that went this moment has no triggers any more.
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(api::Page { items, next_cursor: page.next_cursor })
    }

    /// The triggers of a job.
    pub async fn list_job_triggers(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
    ) -> Result<api::Page<api::Trigger>> {
        self.allow(caller, Operation::JobTriggers, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let spec = self.find_version(found.id, found.current_version).await?;
        let rows = self.triggers_of(self.cells.cell_of(namespace), found.id).await?;
        let (mut known, mut items) = (KnownJobs::default(), Vec::new());
        for row in &rows {
            items.extend(self.view(row, &spec, found.pause.as_ref(), &mut known).await?);
        }
        Ok(api::Page::whole(items))
    }

    /// A trigger.
    pub async fn trigger(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        name: &str,
    ) -> Result<api::Trigger> {
        self.allow(caller, Operation::TriggerGet, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let row = self.find_trigger(&found, name).await?;
        self.trigger_view(&found, &row).await
    }

    pub(super) async fn trigger_view(&self, job: &Job, row: &TriggerRow) -> Result<api::Trigger> {
        let spec = self.find_version(job.id, row.state.version).await?;
        let view = self.view(row, &spec, job.pause.as_ref(), &mut KnownJobs::default()).await?;
        view.ok_or_else(|| missing(job, &row.key.name))
    }

    /// As the API shows it; none when its job says nothing of it any more.
    async fn view(
        &self,
        row: &TriggerRow,
        spec: &JobSpec,
        pause: Option<&Pause>,
        known: &mut KnownJobs,
    ) -> Result<Option<api::Trigger>> {
        let written = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *row.key.name);
        let Some(trigger) = written else { return Ok(None) };
        let missing = known.missing(&*self.store, &row.state.namespace, trigger).await?;
        let mut missing_jobs: Vec<String> = missing.into_iter().map(|(_, job)| job.to_owned()).collect();
        missing_jobs.dedup();
        let job_pause = pause.map(Into::into);
        Ok(Some(api::Trigger { job_pause, missing_jobs, ..view(row, spec, trigger) }))
    }

    pub(crate) async fn find_trigger(&self, job: &Job, name: &str) -> Result<TriggerRow> {
        let rows = self.triggers_of(self.cells.cell_of(&job.namespace), job.id).await?;
        rows.into_iter().find(|row| *row.key.name == *name).ok_or_else(|| missing(job, name))
    }
}

fn missing(job: &Job, name: &str) -> Error {
    Error::not_found(format!("trigger `{name}` of `{}`", job.name))
}

/// What its row and its job's file say.
fn view(row: &TriggerRow, spec: &JobSpec, trigger: &Trigger) -> api::Trigger {
    let state = &row.state;
    let seed = Trigger::seed(&state.namespace, spec.name.as_str());
    api::Trigger {
        job: row.key.job,
        job_name: spec.name.to_string(),
        namespace: state.namespace.clone(),
        name: row.key.name.to_string(),
        version: state.version,
        revision: row.revision,
        description: description(trigger, seed),
        spec: serde_json::to_value(trigger).unwrap_or_default(),
        cursor: state.cursor.into(),
        next: state.next.map(Into::into),
        fires_at: state.fires_at.filter(|_| state.waits_for().is_none()).map(Into::into),
        waits_for: state.waits_for().map(|job| job.to_string()),
        fired: state.fired,
        failures: state.failures,
        pause: state.pause.as_deref().map(Into::into),
        job_pause: None,
        missing_jobs: Vec::new(),
        last_run: state.last,
    }
}
