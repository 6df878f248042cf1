//! How far tasks are, as the owner is told: the latest of each, a few times in a second and before its end. A task that says it
//! as fast as it can costs no more than another, and delays nobody's heartbeat.

use std::time::Duration;

use mainspring_model::{AttemptToken, Progress, Timestamp};

use super::attempt::{Held, Stage};
use super::{Core, Output, words};

/// How often it is told.
const EVERY: Duration = Duration::from_millis(200);

/// When it was told, and is to be.
#[derive(Debug, Default)]
pub(super) struct Pace {
    said_at: Option<Timestamp>,
    pub(super) due: Option<Timestamp>,
}

impl Core {
    pub(super) fn progressed(
        &mut self,
        now: Timestamp,
        token: AttemptToken,
        permille: Option<u16>,
        message: Box<str>,
    ) {
        let Some(held @ Held { stage: Stage::Executing { .. }, .. }) = self.held.get_mut(&token) else {
            return;
        };
        held.permille = permille.unwrap_or(held.permille);
        held.progress = Some(message);
        let due = self.progress.said_at.map_or(now, |said_at| said_at + EVERY);
        self.progress.due.get_or_insert(due);
        self.say_progress_if_due(now);
    }

    /// Tells what is untold, if it is time. Without a connection it waits for the next one.
    pub(super) fn say_progress_if_due(&mut self, now: Timestamp) {
        if self.progress.due.is_some_and(|due| due <= now) {
            self.say_progress(now);
        }
    }

    /// Tells what is untold.
    pub(super) fn say_progress(&mut self, now: Timestamp) {
        self.progress.due = None;
        let untold = self.held.iter().filter(|(_, held)| held.progress.is_some());
        let untold: Vec<AttemptToken> = untold.map(|(token, _)| *token).collect();
        if !untold.is_empty() {
            self.progress.said_at = Some(now);
        }
        for token in untold {
            self.say_progress_of(token);
        }
    }

    pub(super) fn say_progress_of(&mut self, token: AttemptToken) {
        let Some(session) = self.link.session() else { return };
        let Some(held) = self.held.get_mut(&token) else { return };
        let Some(message) = held.progress.take() else { return };
        let progress = Progress { permille: held.permille, message };
        let beat = self.lease.next_beat();
        self.out.push(Output::Say(words::progressed(session, beat, token, progress)));
    }
}
