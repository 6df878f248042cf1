//! Making a run more or less important after it was asked for.
//!
//! What was asked stays in the head; the status has the priority that counts. A run that waits gets a new turn among those of
//! its new priority, as if it began to wait now; since when it waits stays.

use mainspring_model::{ErrorCode, RunEventKind, RunId, RunState, Timestamp};

use crate::cell::Cell;
use crate::event::{LoadedRun, RequestId};
use crate::message::{Answer, Message};

impl Cell {
    pub(crate) fn prioritise(
        &mut self,
        now: Timestamp,
        request: RequestId,
        run: (RunId, Option<Box<LoadedRun>>),
        by: Box<str>,
        priority: u16,
    ) {
        let Some(ix) = self.resolve(now, request, run, |state| !state.is_terminal()) else { return };
        let entry = &self.runs.entries[ix];
        let (state, before) = (entry.status.state, entry.priority());
        let answer = if state.is_terminal() {
            let message = format!("the run has ended: {}", state.name());
            Answer::Refused { code: ErrorCode::IllegalState, message }
        } else {
            if before != priority {
                self.tell(now, ix, RunEventKind::Prioritised { by, from: before, to: priority });
                self.change_priority(now, ix, priority);
            }
            Answer::Done
        };
        self.after_commit(ix, Message::Reply { request, answer });
    }

    fn change_priority(&mut self, now: Timestamp, ix: usize, priority: u16) {
        // Its group is that of its old priority.
        self.leave_queue(ix);
        let status = &mut self.runs.entries[ix].status;
        status.extra_mut().priority = Some(priority);
        if status.state == RunState::Waiting {
            self.line_up(now, ix);
        }
    }
}
