//! The same again, as a new run: with what the old one pinned, or with the job's current version.

use mainspring_model::{ErrorCode, JobSpec, Run, RunHead, RunId};
use mainspring_wire::api::{RerunRequest, Submitted};
use serde_json::{Map, Value};

use super::act::run_entry;
use super::head::{Pinned, check_key, overlap_rule, params_of};
use super::submit::Said;
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::NewRun;
use crate::principal::Caller;

impl App {
    /// Submits what a run was, again.
    pub async fn rerun(&self, caller: &Caller, run: RunId, request: RerunRequest) -> Result<Submitted> {
        let row = self.find_run(caller, Operation::RunRerun, run).await?;
        let entry = run_entry(self, caller, Operation::RunRerun, &row);
        let state = row.status.state;
        if !state.is_terminal() {
            let message = format!("only a run that has ended can be run again; this one is {}", state.name());
            return self.refused(entry, Error::new(ErrorCode::IllegalState, message)).await;
        }
        let said = Said::again(&request);
        match self.run_again(caller, &row, request).await {
            Ok(again) => {
                let detail = Some(format!("again {run}").into());
                self.submit_one(again, said, Entry { detail, ..entry }).await
            }
            Err(error) => self.refused(entry, error).await,
        }
    }

    /// The new run.
    pub(super) async fn run_again(
        &self,
        caller: &Caller,
        row: &Run,
        request: RerunRequest,
    ) -> Result<NewRun> {
        let head = &row.head;
        check_key(request.idempotency_key.as_deref(), "")?;
        let pinned = self.pin_again(row, request.latest).await?;
        self.check_artifacts(&head.namespace, &pinned.spec, "").await?;
        let given = request.params.or_else(|| known_params(&pinned.spec, head));
        let params = params_of(&pinned.spec, given, "")?;
        let now = self.now();
        let again = RunHead {
            id: self.random.run_id(now),
            job: pinned.job,
            job_version: pinned.version,
            inline_spec: pinned.inline,
            idempotency_key: request.idempotency_key.map(Into::into),
            created_at: now,
            not_before: None,
            deadline: None,
            params,
            keys: None,
            submitted_by: caller.principal.subject.clone(),
            fired: None,
            overlap: overlap_rule(request.force),
            ..RunHead::clone(head)
        };
        Ok(NewRun { head: again, spec: pinned.spec, pause: pinned.pause })
    }

    async fn pin_again(&self, row: &Run, latest: bool) -> Result<Pinned> {
        let head = &row.head;
        if head.inline_spec.is_some() {
            let spec = self.spec_of(row).await?;
            let inline = head.inline_spec.clone();
            return Ok(Pinned { job: head.job, version: head.job_version, spec, inline, pause: None });
        }
        match self.store.job(head.job).await? {
            Some(job) => self.pin(&job, if latest { job.current_version } else { head.job_version }).await,
            // The job was removed; what the run pinned is still there.
            None => {
                let spec = self.find_version(head.job, head.job_version).await?;
                Ok(Pinned { job: head.job, version: head.job_version, spec, inline: None, pause: None })
            }
        }
    }
}

/// The values of the old run that the specification still knows.
fn known_params(spec: &JobSpec, head: &RunHead) -> Option<Map<String, Value>> {
    let mut values: Map<String, Value> = serde_json::from_slice(&head.params).ok()?;
    values.retain(|name, _| spec.parameters.0.contains_key(name.as_str()));
    Some(values)
}
