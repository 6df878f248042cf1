//! Ending a run early. The wish is durable before anything acts on it, so it survives the owner; a run that
//! ends well before the wish reaches it has ended well.

use mainspring_model::{CancelRequest, Cause, Command, ErrorCode, RunEventKind, RunId, RunState, Timestamp};

use crate::cell::Cell;
use crate::event::{LoadedRun, RequestId};
use crate::message::{Answer, Message};

impl Cell {
    pub(crate) fn cancel(
        &mut self,
        now: Timestamp,
        request: RequestId,
        run: (RunId, Option<Box<LoadedRun>>),
        by: Box<str>,
        kill: bool,
    ) {
        let Some(ix) = self.resolve(now, request, run) else { return };
        let state = self.runs.entries[ix].status.state;
        match state {
            RunState::Ready | RunState::Waiting | RunState::Failed => {
                self.tell(now, ix, RunEventKind::CancelRequested { by: by.clone() });
                self.end_with(now, ix, Command::Cancel, Cause::Cancelled { by });
            }
            RunState::Running => self.cancel_running(now, ix, by, kill),
            RunState::Success | RunState::FinalFailed | RunState::Cancelled | RunState::Skipped => {}
        }
        let answer = match state {
            RunState::Ready
            | RunState::Waiting
            | RunState::Running
            | RunState::Failed
            | RunState::Cancelled => Answer::Done,
            RunState::Success | RunState::FinalFailed | RunState::Skipped => Answer::Refused {
                code: ErrorCode::IllegalState,
                message: format!("the run has ended: {}", state.name()),
            },
        };
        self.outbox.after_commit(Some(self.runs.entries[ix].head.id), Message::Reply { request, answer });
    }

    fn cancel_running(&mut self, now: Timestamp, ix: usize, by: Box<str>, kill: bool) {
        let extra = self.runs.entries[ix].status.extra_mut();
        match &mut extra.cancel {
            Some(earlier) if earlier.kill || !kill => return,
            Some(earlier) => earlier.kill = true,
            None => extra.cancel = Some(CancelRequest { by: by.clone(), at: now, kill }),
        }
        self.tell(now, ix, RunEventKind::CancelRequested { by: by.clone() });
        self.stop(now, ix, Cause::Cancelled { by });
    }

    /// Finds a run in memory, or takes it in from the row that the caller read.
    pub(crate) fn resolve(
        &mut self,
        now: Timestamp,
        request: RequestId,
        (run, row): (RunId, Option<Box<LoadedRun>>),
    ) -> Option<usize> {
        if let Some(ix) = self.runs.find(run) {
            return Some(ix);
        }
        if let Some(row) = row {
            let state = row.run.status.state;
            if row.run.status.cell == self.config.cell && !state.is_terminal() && row.run.head.id == run {
                return self.take_in(now, *row);
            }
            let message = format!("the run has ended: {}", state.name());
            self.reply_now(request, Answer::Refused { code: ErrorCode::IllegalState, message });
            return None;
        }
        let message = format!("{run} is not in memory; send its row");
        self.reply_now(request, Answer::Refused { code: ErrorCode::NotFound, message });
        None
    }

    /// Takes a run into memory without letting it go on: the caller is about to change it.
    fn take_in(&mut self, now: Timestamp, row: LoadedRun) -> Option<usize> {
        let spec = row.spec.clone()?;
        Some(self.enter(now, row.run.head, row.run.status, &spec))
    }
}
