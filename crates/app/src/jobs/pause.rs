//! Stopping and letting go a job. The owner of its cell does it, because it decides what starts.

use mainspring_model::{ErrorCode, Namespace, Pause, limits};
use mainspring_wire::api;

use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::Command;
use crate::precondition::Precondition;
use crate::principal::Caller;

impl App {
    /// Lets a job start no further attempts.
    pub async fn pause_job(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        note: String,
        condition: Precondition,
    ) -> Result<api::Job> {
        self.set_pause(caller, Operation::JobPause, (namespace, job), note, condition).await
    }

    /// Lets a paused job go on.
    pub async fn resume_job(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        note: String,
        condition: Precondition,
    ) -> Result<api::Job> {
        self.set_pause(caller, Operation::JobResume, (namespace, job), note, condition).await
    }

    async fn set_pause(
        &self,
        caller: &Caller,
        operation: Operation,
        (namespace, name): (&Namespace, &str),
        note: String,
        condition: Precondition,
    ) -> Result<api::Job> {
        self.allow(caller, operation, Some(namespace)).await?;
        check_note(&note)?;
        let now = self.now();
        let entry = Entry {
            target: Some(name.into()),
            detail: (!note.is_empty()).then(|| note.as_str().into()),
            ..caller.entry(now, operation, Some(namespace))
        };
        let job = match self.find_job(namespace, name).await {
            Ok(job) => job,
            Err(error) => return self.refused(entry, error).await,
        };
        if let Err(error) = condition.check(Some(job.revision)) {
            return self.refused(entry, error).await;
        }
        let pause = (operation == Operation::JobPause).then(|| Pause {
            by: caller.subject().into(),
            note: note.into(),
            at: now,
        });
        let (id, name) = (job.id, job.name.clone());
        let cell = self.cells.cell_of(namespace);
        let command = Command::PauseJob { job: Box::new(job), pause };
        self.command(cell, command, entry).await?;
        self.jobs.forget(namespace, &name);
        let job = self.store.job(id).await?.ok_or_else(|| Error::not_found(format!("job `{name}`")))?;
        Ok((&job).into())
    }
}

/// Notes have a limit.
pub(crate) fn check_note(note: &str) -> Result<()> {
    if note.len() <= limits::MESSAGE_BYTES_MAX {
        return Ok(());
    }
    let message = format!("at most {} bytes", limits::MESSAGE_BYTES_MAX);
    Err(Error::field(ErrorCode::TooLarge, "note", message))
}
