//! What people ask of a trigger.

use mainspring_model::{ErrorCode, Pause, Timestamp};

use super::row::TriggerKey;
use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerCommand {
    /// Fire no more, or, with none, go on: moments that passed go by the misfire policy.
    Pause(Option<Pause>),
    /// Count from this moment on: the time machine. Moments that made a run before make none again.
    Cursor(Timestamp),
    /// Fire now.
    Fire {
        /// Who.
        by: Box<str>,
    },
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
                entry.asked.get_or_insert_default().push((request, by));
                return self.arm_trigger(ix);
            }
            TriggerCommand::Pause(pause) => {
                if pause.is_none() {
                    entry.row.state.failures = 0;
                }
                entry.row.state.pause = pause.map(Box::new);
            }
            TriggerCommand::Cursor(_)
                if entry.row.state.follows.is_some() || entry.row.state.delay_us > 0 =>
            {
                let message =
                    "it follows the ends of runs, not the clock: there is nothing to move".to_owned();
                let answer = Answer::Refused { code: ErrorCode::InvalidRequest, message };
                return self.reply_now(request, answer);
            }
            TriggerCommand::Cursor(at) => {
                let state = &mut entry.row.state;
                state.cursor = at;
                // The next moment is found when it is looked at, which is now.
                (state.next, state.fires_at) = (Some(now), Some(now));
            }
        }
        self.mark_trigger(ix);
        self.arm_trigger(ix);
        self.outbox.after_commit(None, Message::Reply { request, answer: Answer::Done });
    }
}
