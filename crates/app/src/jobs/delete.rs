//! Removing a job. Its versions and runs stay: history can still be explained, and what runs ends under its version.

use mainspring_model::{ErrorCode, Namespace};
use mainspring_store::{Outcome, Write};

use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::triggers::Merging;

impl App {
    /// Removes a job.
    pub async fn delete_job(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        condition: Precondition,
    ) -> Result<()> {
        self.allow(caller, Operation::JobDelete, Some(namespace)).await?;
        let entry = Entry {
            target: Some(job.into()),
            ..caller.entry(self.now(), Operation::JobDelete, Some(namespace))
        };
        let found = match self.find_job(namespace, job).await {
            Ok(found) => found,
            Err(error) => return self.refused(entry, error).await,
        };
        if let Err(error) = condition.check(Some(found.revision)) {
            return self.refused(entry, error).await;
        }
        let removal = Write::RemoveJob { id: found.id, expected: found.revision };
        let merged = Merging { namespace, job: found.id, version: 0, spec: None };
        let (outcomes, has_triggers) = self.commit_with_triggers(vec![removal], merged, entry).await?;
        self.jobs.forget(namespace, &found.name);
        if outcomes.iter().any(|outcome| *outcome != Outcome::Applied) {
            return Err(Error::new(ErrorCode::Conflict, "the job changed meanwhile"));
        }
        self.announce_job(namespace, found.id, &found.name).await;
        if has_triggers { self.confirmed(namespace, found.id).await } else { Ok(()) }
    }
}
