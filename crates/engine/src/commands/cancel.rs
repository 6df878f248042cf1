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
        let Some(ix) = self.resolve(now, request, run, |state| !state.is_terminal()) else { return };
        let state = self.runs.entries[ix].status.state;
        match state {
            RunState::Ready if self.is_unbegun_call(ix) => self.cancel_unbegun(now, ix, by, kill),
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
        self.after_commit(ix, Message::Reply { request, answer });
    }

    /// The wish is written, and the run ends when it begins: its line of the ledger goes with that, and it may yet turn out to be
    /// an earlier run.
    fn cancel_unbegun(&mut self, now: Timestamp, ix: usize, by: Box<str>, kill: bool) {
        let status = &mut self.runs.entries[ix].status;
        if status.cancel().is_none() {
            status.extra_mut().cancel = Some(CancelRequest { by: by.clone(), at: now, kill });
            self.tell(now, ix, RunEventKind::CancelRequested { by });
        }
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

    /// Finds a run in memory, or takes it in from the row that the caller read if its state is one that the
    /// caller can do something about.
    pub(crate) fn resolve(
        &mut self,
        now: Timestamp,
        request: RequestId,
        (run, row): (RunId, Option<Box<LoadedRun>>),
        fits: fn(RunState) -> bool,
    ) -> Option<usize> {
        let known = self.runs.find(run);
        let cell = match (known, &row) {
            (Some(ix), _) => self.runs.entries[ix].status.cell,
            (None, Some(row)) => row.run.status.cell,
            (None, None) => self.config.cell,
        };
        let (code, message) = match (known, row) {
            _ if cell != self.config.cell => (ErrorCode::NotOwner, format!("{run} was given to {cell}")),
            (Some(ix), _) => return Some(ix),
            (None, Some(row)) if row.run.head.id == run && fits(row.run.status.state) => {
                return Some(self.take_in(now, *row));
            }
            (None, Some(row)) => {
                (ErrorCode::IllegalState, format!("the run is {}", row.run.status.state.name()))
            }
            (None, None) => (ErrorCode::NotFound, format!("{run} is not in memory; send its row")),
        };
        self.reply_now(request, Answer::Refused { code, message });
        None
    }

    /// Takes a run into memory without letting it go on: the caller is about to change it.
    fn take_in(&mut self, now: Timestamp, row: LoadedRun) -> usize {
        let LoadedRun { run, spec, .. } = row;
        match spec {
            Some(spec) => self.enter(now, run.head, run.status, &spec),
            None => self.enter_unreadable(now, run),
        }
    }
}
