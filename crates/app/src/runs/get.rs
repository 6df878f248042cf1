//! Looking at one run: its row, what its owner knows better, its attempts, why it is where it is.

use std::sync::Arc;

use mainspring_model::{JobSpec, Run, RunId, RunState};
use mainspring_wire::api;
use serde_json::Value;

use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::LiveRun;
use crate::principal::Caller;

impl App {
    /// A run with its parameters and its result.
    pub async fn run(&self, caller: &Caller, run: RunId) -> Result<api::Run> {
        let row = self.find_run(caller, Operation::RunGet, run).await?;
        let (row, reason) = match self.live(&row).await {
            Some(LiveRun { run, reason }) => (run, reason),
            None => (row, None),
        };
        let spec = self.spec_of(&row).await.ok();
        let mut seen = describe(&row, spec.as_deref());
        if let Some(reason) = &reason {
            seen.reason = Some(reason.into());
        }
        seen.params = Some(payload(&row.head.params));
        let result = row.status.extra.as_ref().and_then(|extra| extra.result.as_ref());
        seen.result = result.map(|bytes| payload(bytes));
        Ok(seen)
    }

    /// The specification that a run pins.
    pub async fn run_spec(&self, caller: &Caller, run: RunId) -> Result<Value> {
        let row = self.find_run(caller, Operation::RunSpec, run).await?;
        let spec = self.spec_of(&row).await?;
        Ok(serde_json::to_value(&*spec).unwrap_or_default())
    }

    /// The attempts of a run, the first first.
    pub async fn attempts(&self, caller: &Caller, run: RunId) -> Result<Vec<api::Attempt>> {
        let row = self.find_run(caller, Operation::RunAttempts, run).await?;
        self.attempts_of(&row).await
    }

    /// Earlier attempts are rows; the last is in the run's.
    pub(super) async fn attempts_of(&self, row: &Run) -> Result<Vec<api::Attempt>> {
        let attempts_max = self.spec_of(row).await.ok().map(|spec| spec.retries_max() + 1);
        let status = &row.status;
        let mut attempts: Vec<api::Attempt> =
            self.store.attempts(row.head.id).await?.iter().map(Into::into).collect();
        attempts.retain(|attempt| attempt.number < status.attempt);
        if status.attempt > 0 {
            let is_over = status.state != RunState::Running;
            attempts.push(api::Attempt {
                number: status.attempt,
                attempts_max: None,
                node: status.node,
                placed_at: status.placed_at.map(Into::into),
                started_at: status.started_at.map(Into::into),
                finished_at: status.finished_at.filter(|_| is_over).map(Into::into),
                cause: status.cause.as_ref().filter(|_| is_over).map(Into::into),
                usage: status.extra.as_ref().map(|extra| (&extra.usage).into()),
            });
        }
        for attempt in &mut attempts {
            attempt.attempts_max = attempts_max;
        }
        Ok(attempts)
    }

    /// Why a run is where it is, from its owner if it answers.
    pub async fn why(&self, caller: &Caller, run: RunId) -> Result<api::Why> {
        let row = self.find_run(caller, Operation::RunWhy, run).await?;
        let live = self.live(&row).await;
        let is_live = live.is_some();
        let (row, reason) = match live {
            Some(LiveRun { run, reason }) => (run, reason),
            None => (row, None),
        };
        let status = &row.status;
        let waits = !status.state.is_terminal() && status.state != RunState::Running;
        let reason = reason.or_else(|| status.reason.as_deref().filter(|_| waits).cloned());
        let summary = match (&reason, &status.cause) {
            (Some(reason), _) => format!("{}: {reason}; {}", status.state.name(), reason.remedy()),
            (None, Some(cause)) if status.state != RunState::Running => {
                format!("{}: {cause}", status.state.name())
            }
            _ if waits && !is_live => {
                format!("{}: its cell's owner has not looked at it yet", status.state.name())
            }
            _ => status.state.name().to_owned(),
        };
        Ok(api::Why {
            id: row.head.id,
            state: status.state,
            summary,
            reason: reason.as_ref().map(Into::into),
            cause: status.cause.as_ref().map(Into::into),
            live: is_live,
        })
    }

    /// The row of a run that the caller may look at, and may do this to. What they may not see does not exist.
    pub(crate) async fn find_run(&self, caller: &Caller, operation: Operation, run: RunId) -> Result<Run> {
        let missing = || Error::not_found(run);
        let row = self.store.runs_by_id(&[run]).await?.pop().ok_or_else(missing)?;
        let namespace = &row.head.namespace;
        if !caller.principal.may(Operation::RunGet, Some(namespace)) {
            self.deny(caller, operation, Some(namespace), Some(run.to_string())).await;
            return Err(missing());
        }
        self.allow(caller, operation, Some(namespace)).await?;
        Ok(row)
    }

    /// A run as its owner has it, unless it is over or its owner is not here.
    pub(super) async fn live(&self, row: &Run) -> Option<LiveRun> {
        if row.status.state.is_terminal() {
            return None;
        }
        let answer = self.cells.live(row.status.cell, &[row.head.id]).await;
        answer.ok()?.into_iter().find(|live| live.run.head.id == row.head.id)
    }
}

/// A run with what its specification adds.
pub(super) fn describe(row: &Run, spec: Option<&JobSpec>) -> api::Run {
    let mut seen = api::Run::from(row);
    if let Some(spec) = spec {
        seen.job_name = Some(spec.name.to_string());
        seen.attempts_max = Some(spec.retries_max() + 1);
        seen.labels = spec.labels.clone();
    }
    seen
}

/// Runs for a list.
pub(super) fn describe_all(rows: &[Run], specs: &[Option<Arc<JobSpec>>]) -> Vec<api::Run> {
    rows.iter().zip(specs).map(|(row, spec)| describe(row, spec.as_deref())).collect()
}

/// JSON as it is; other bytes as text.
fn payload(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}
