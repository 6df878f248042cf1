//! Not waiting for the back-off.

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
        let state = self.runs.entries[ix].status.state;
        let answer = if state == RunState::Failed {
            self.tell(now, ix, RunEventKind::RetriedNow { by });
            self.enqueue(now, ix);
            Answer::Done
        } else {
            let message = format!(
                "only a failed run that waits for its back-off can be retried now; this one is {}",
                state.name()
            );
            Answer::Refused { code: ErrorCode::IllegalState, message }
        };
        self.after_commit(ix, Message::Reply { request, answer });
    }
}
