//! Not waiting for the back-off, or for somebody who lets a quarantined job go on.

use mainspring_model::{ErrorCode, RunEventKind, RunId, RunState, Timestamp};

use crate::cell::Cell;
use crate::event::{LoadedRun, RequestId};
use crate::message::{Answer, Message};

impl Cell {
    pub(crate) fn retry_now(
        &mut self,
        now: Timestamp,
        request: RequestId,
        run: (RunId, Option<Box<LoadedRun>>),
        by: Box<str>,
    ) {
        let Some(ix) = self.resolve(now, request, run, |state| state == RunState::Failed) else { return };
        let entry = &self.runs.entries[ix];
        let (state, job) = (entry.status.state, self.shapes.of(entry).job);
        let answer = match state {
            RunState::Failed => {
                self.tell(now, ix, RunEventKind::RetriedNow { by });
                self.enqueue(now, ix);
                Answer::Done
            }
            // The only way out where there is no job to resume: of a run with a specification of its own, or of a job that
            // was deleted.
            RunState::Waiting if self.is_quarantined(job) => {
                self.tell(now, ix, RunEventKind::RetriedNow { by });
                self.acquit(now, job);
                Answer::Done
            }
            _ => {
                let message = format!(
                    "only a failed run that waits for its back-off, or one of a quarantined job, can be retried now; this \
                     one is {}",
                    state.name()
                );
                Answer::Refused { code: ErrorCode::IllegalState, message }
            }
        };
        self.after_commit(ix, Message::Reply { request, answer });
    }
}
