//! What people ask of a trigger.

use mainspring_model::{BackfillId, ErrorCode, Pause, Timestamp};

use super::backfill::Backfill;
use super::cursor::Move;
use super::row::TriggerKey;
use super::{HookCall, Wanted};
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
    pub(crate) fn command_trigger(
        &mut self,
        now: Timestamp,
        request: RequestId,
        key: &TriggerKey,
        command: TriggerCommand,
    ) {
        let Some(ix) = self.triggers.find(key.job, &key.name) else {
            let (code, message) = (ErrorCode::NotFound, format!("the job has no trigger `{}`", key.name));
            return self.reply_now(request, Answer::Refused { code, message });
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
        self.answer_when_written(ix, request);
    }
}
