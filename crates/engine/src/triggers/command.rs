//! What people ask of a trigger.

use mainspring_model::{BackfillId, ErrorCode, JobId, Pause, Timestamp};

use super::backfill::Backfill;
use super::cursor::Move;
use super::row::TriggerKey;
use super::{HookCall, Owed, Wanted};
use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::Answer;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerCommand {
    /// Fire no more, or, with none, go on: moments that passed go by the misfire policy.
    Pause(Option<Pause>),
    /// Count from this moment on: the time machine. Moments that made a run before make none again.
    Cursor {
        /// From where.
        at: Timestamp,
        /// Who.
        by: Box<str>,
    },
    /// Make up for moments of the past.
    Backfill(Box<Backfill>),
    /// Make no more runs of a backfill.
    StopBackfill {
        /// Which.
        id: BackfillId,
        /// Who.
        by: Box<str>,
    },
    /// Fire now.
    Fire {
        /// Who.
        by: Box<str>,
    },
    /// Its webhook was called: fire, if it takes calls now and the delivery is new.
    Call(Box<HookCall>),
}

impl Cell {
    /// The triggers of a job were read: what was wanted of those that were not known is done now.
    pub(super) fn command_unknown(&mut self, now: Timestamp, job: JobId) {
        for (request, key, command) in self.triggers.unknown.remove(&job).unwrap_or_default() {
            if self.triggers.find(job, &key.name).is_some() {
                self.command_trigger(now, request, &key, command);
                continue;
            }
            let (code, message) = (ErrorCode::NotFound, format!("the job has no trigger `{}`", key.name));
            self.reply_now(request, Answer::Refused { code, message });
        }
    }

    pub(crate) fn command_trigger(
        &mut self,
        now: Timestamp,
        request: RequestId,
        key: &TriggerKey,
        command: TriggerCommand,
    ) {
        let Some(ix) = self.triggers.find(key.job, &key.name) else {
            // Whoever sent it may know of a version that nobody has told this owner of.
            let waiting = self.triggers.unknown.entry(key.job).or_default();
            waiting.push((request, key.clone(), command));
            return self.triggers_changed(key.job);
        };
        let entry = &mut self.triggers.entries[ix];
        match command {
            TriggerCommand::Fire { by } => {
                entry.asked.get_or_insert_default().push((request, Wanted::ByHand(by)));
                return self.arm_trigger(ix);
            }
            TriggerCommand::Call(call) => {
                let is_behind = entry.row.state.version < call.version;
                entry.asked.get_or_insert_default().push((request, Wanted::Call(call)));
                if is_behind {
                    // Whoever sent it has seen a newer version than this owner: it waits for that.
                    entry.stale = true;
                    return self.triggers_changed(key.job);
                }
                return self.arm_trigger(ix);
            }
            TriggerCommand::Backfill(new) => {
                if let Err((code, message)) = self.start_backfill(now, ix, *new) {
                    return self.reply_now(request, Answer::Refused { code, message });
                }
            }
            TriggerCommand::StopBackfill { id, by } => {
                if let Err((code, message)) = self.stop_backfill(now, ix, id, &by) {
                    return self.reply_now(request, Answer::Refused { code, message });
                }
            }
            TriggerCommand::Pause(pause) => {
                if pause.is_none() {
                    entry.row.state.failures = 0;
                }
                entry.row.state.pause = pause.map(Box::new);
            }
            TriggerCommand::Cursor { at, by } => return self.want_move(ix, Move { request, to: at, by }),
        }
        self.mark_trigger(ix);
        self.arm_trigger(ix);
        self.answer_when_written(ix, Owed::done(request));
    }
}
