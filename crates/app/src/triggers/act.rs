//! What is done to a trigger. The owner of its cell does it, because it decides what fires.

use mainspring_engine::{Answer, TriggerCommand, TriggerRow};
use mainspring_model::{ErrorCode, Namespace, Pause};
use mainspring_wire::api::{self, CursorRequest};

use crate::app::{App, note_answer};
use crate::audit::Entry;
use crate::error::{Error, Result, done};
use crate::jobs::check_note;
use crate::operation::Operation;
use crate::ports::Command;
use crate::precondition::Precondition;
use crate::principal::Caller;

/// A trigger, as a request names it.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Where its job lives.
    pub namespace: &'a Namespace,
    /// Its job, by name or id.
    pub job: &'a str,
    /// Its name.
    pub trigger: &'a str,
}

impl App {
    /// Lets a trigger fire no more.
    pub async fn pause_trigger(
        &self,
        caller: &Caller,
        named: Named<'_>,
        note: String,
        condition: Precondition,
    ) -> Result<api::Trigger> {
        check_note(&note)?;
        let pause = Pause { by: caller.subject().into(), note: note.as_str().into(), at: self.now() };
        let command = TriggerCommand::Pause(Some(pause));
        self.act_on_trigger(caller, Operation::TriggerPause, named, command, note, condition).await
    }

    /// Lets a paused trigger go on.
    pub async fn resume_trigger(
        &self,
        caller: &Caller,
        named: Named<'_>,
        note: String,
        condition: Precondition,
    ) -> Result<api::Trigger> {
        check_note(&note)?;
        self.act_on_trigger(
            caller,
            Operation::TriggerResume,
            named,
            TriggerCommand::Pause(None),
            note,
            condition,
        )
        .await
    }

    /// Has a trigger go on from another moment.
    pub async fn move_trigger(
        &self,
        caller: &Caller,
        named: Named<'_>,
        CursorRequest { cursor }: CursorRequest,
        condition: Precondition,
    ) -> Result<api::Trigger> {
        let (command, detail) =
            (TriggerCommand::Cursor { at: cursor.0, by: caller.subject().into() }, format!("to {cursor}"));
        self.act_on_trigger(caller, Operation::TriggerCursor, named, command, detail, condition).await
    }

    async fn act_on_trigger(
        &self,
        caller: &Caller,
        operation: Operation,
        named: Named<'_>,
        command: TriggerCommand,
        detail: String,
        condition: Precondition,
    ) -> Result<api::Trigger> {
        let (job, row, entry) = self.named(caller, operation, named, detail, condition).await?;
        let command = condition.bind(row.revision, Command::Trigger { key: row.key, command });
        self.command(self.cells.cell_of(named.namespace), command, entry).await?;
        let row = self.find_trigger(&job, named.trigger).await?;
        self.trigger_view(&job, &row).await
    }

    /// Fires a trigger now, whatever the clock says.
    pub async fn fire_trigger(&self, caller: &Caller, named: Named<'_>) -> Result<api::Submitted> {
        let (job, TriggerRow { key, .. }, entry) =
            self.named(caller, Operation::TriggerFire, named, String::new(), Precondition::None).await?;
        let command = TriggerCommand::Fire { by: caller.subject().into() };
        let cell = self.cells.cell_of(named.namespace);
        let answer = self.cells.command(cell, Command::Trigger { key, command }, vec![entry]).await;
        note_answer(&answer);
        match answer? {
            Answer::Submitted { run, duplicate } => Ok(api::Submitted {
                id: run,
                namespace: job.namespace,
                job: job.id,
                job_version: job.current_version,
                duplicate,
            }),
            answer => {
                done(answer)?;
                Err(Error::new(ErrorCode::Internal, "the trigger made no run"))
            }
        }
    }

    pub(super) async fn named(
        &self,
        caller: &Caller,
        operation: Operation,
        Named { namespace, job, trigger }: Named<'_>,
        detail: String,
        condition: Precondition,
    ) -> Result<(mainspring_model::Job, TriggerRow, Entry)> {
        self.allow(caller, operation, Some(namespace)).await?;
        let entry = Entry {
            target: Some(format!("{job}/{trigger}").into()),
            detail: (!detail.is_empty()).then(|| detail.into()),
            ..caller.entry(self.now(), operation, Some(namespace))
        };
        let found = async {
            let found = self.find_job(namespace, job).await?;
            let row = self.find_trigger(&found, trigger).await?;
            condition.check(Some(row.revision))?;
            Ok((found, row))
        };
        match found.await {
            Ok((found, row)) => Ok((found, row, entry)),
            Err(error) => self.refused(entry, error).await,
        }
    }
}
