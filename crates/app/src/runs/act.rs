//! Ending a run, and not waiting for its back-off. The owner of its cell does it.

use mainspring_model::{ErrorCode, Run, RunId, RunState};
use mainspring_wire::api::{self, PriorityRequest};

use super::head::priority_from;
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::Command;
use crate::precondition::Precondition;
use crate::principal::Caller;

impl App {
    /// Ends a run; without grace when `kill`.
    pub async fn cancel(
        &self,
        caller: &Caller,
        run: RunId,
        kill: bool,
        condition: Precondition,
    ) -> Result<api::Run> {
        let row = self.find_run(caller, Operation::RunCancel, run).await?;
        self.act(caller, Operation::RunCancel, row, condition, |by| Command::Cancel { run, by, kill }).await
    }

    /// Lets a failed run not wait for its back-off.
    pub async fn retry(&self, caller: &Caller, run: RunId, condition: Precondition) -> Result<api::Run> {
        let row = self.find_run(caller, Operation::RunRetry, run).await?;
        if row.status.state.is_terminal() {
            let message = format!("the run is over ({}); `rerun` makes a new one", row.status.state.name());
            let entry = run_entry(self, caller, Operation::RunRetry, &row);
            return self.refused(entry, Error::new(ErrorCode::IllegalState, message)).await;
        }
        self.act(caller, Operation::RunRetry, row, condition, |by| Command::RetryNow { run, by }).await
    }

    /// Makes a run more or less important.
    pub async fn prioritise(
        &self,
        caller: &Caller,
        run: RunId,
        request: &PriorityRequest,
        condition: Precondition,
    ) -> Result<api::Run> {
        let row = self.find_run(caller, Operation::RunPrioritise, run).await?;
        let priority = match priority_from(&request.priority, "") {
            Ok(priority) => priority,
            Err(error) => {
                return self.refused(run_entry(self, caller, Operation::RunPrioritise, &row), error).await;
            }
        };
        let command = |by| Command::Prioritise { run, by, priority };
        self.act(caller, Operation::RunPrioritise, row, condition, command).await
    }

    async fn act(
        &self,
        caller: &Caller,
        operation: Operation,
        row: Run,
        condition: Precondition,
        command: impl FnOnce(Box<str>) -> Command,
    ) -> Result<api::Run> {
        let entry = run_entry(self, caller, operation, &row);
        if let Err(error) = condition.check(Some(row.status.version)) {
            return self.refused(entry, error).await;
        }
        let command = condition.bind(row.status.version, command(caller.subject().into()));
        self.command(row.status.cell, command, entry).await?;
        let row = self.store.runs_by_id(&[row.head.id]).await?.pop().unwrap_or(row);
        let row = match self.live(&row).await {
            Some(live) => live.run,
            None => row,
        };
        let spec = self.spec_of(&row).await.ok();
        Ok(self.describe(&row, spec.as_deref()).await)
    }
}

/// An entry about a run.
pub(super) fn run_entry(app: &App, caller: &Caller, operation: Operation, row: &Run) -> Entry {
    Entry {
        target: Some(row.head.id.to_string().into()),
        ..caller.entry(app.now(), operation, Some(&row.head.namespace))
    }
}

/// Whether an action makes sense for a run in this state.
pub(super) fn applies(action: api::BulkAction, state: RunState) -> bool {
    match action {
        api::BulkAction::Cancel | api::BulkAction::Kill | api::BulkAction::Prioritise => !state.is_terminal(),
        api::BulkAction::Retry => state == RunState::Failed,
        api::BulkAction::Rerun => state.is_terminal(),
    }
}
