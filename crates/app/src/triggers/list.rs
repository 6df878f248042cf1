//! Reading triggers.

use mainspring_engine::TriggerRow;
use mainspring_model::spec::Trigger;
use mainspring_model::{ErrorCode, Job, JobSpec, Namespace};
use mainspring_wire::api;

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
        for row in page.items {
            match self.find_version(row.key.job, row.state.version).await {
                Ok(spec) => items.extend(view(&row, &spec)),
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
        Ok(api::Page::whole(rows.iter().filter_map(|row| view(row, &spec)).collect()))
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
        view(row, &spec).ok_or_else(|| missing(job, &row.key.name))
    }

    pub(crate) async fn find_trigger(&self, job: &Job, name: &str) -> Result<TriggerRow> {
        let rows = self.triggers_of(self.cells.cell_of(&job.namespace), job.id).await?;
        rows.into_iter().find(|row| *row.key.name == *name).ok_or_else(|| missing(job, name))
    }
}

fn missing(job: &Job, name: &str) -> Error {
    Error::not_found(format!("trigger `{name}` of `{}`", job.name))
}

/// As the API shows it; none when its job says nothing of it any more.
fn view(row: &TriggerRow, spec: &JobSpec) -> Option<api::Trigger> {
    let trigger = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *row.key.name)?;
    let state = &row.state;
    let seed = Trigger::seed(&state.namespace, spec.name.as_str());
    Some(api::Trigger {
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
        last_run: state.last,
    })
}
