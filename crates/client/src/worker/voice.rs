//! What a function has said about its attempt: shared between the function and the loop, so that a burst of words is one
//! wake-up, and what nobody can hear yet is kept within bounds.
//!
//! Invariant: the last checkpoint and the last progress stay until the attempt is acknowledged. Nobody answers for them, so
//! they are said again on every connection.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mainspring_model::{AttemptToken, Timestamp};
use mainspring_wire::agent::{Progress, report};
use tokio::sync::mpsc;

use super::output::LogBuffer;
use super::words;

/// The voice of one attempt.
#[derive(Debug)]
pub(super) struct Voice {
    token: AttemptToken,
    spoken: Mutex<Spoken>,
    /// One word for each time that something new lies there: no more than attempts are held.
    wake: mpsc::UnboundedSender<AttemptToken>,
}

/// What was said.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) log: LogBuffer,
    progress: Option<Progress>,
    checkpoint: Option<Bytes>,
    /// Which of the two was not said to this owner.
    progress_unsaid: bool,
    checkpoint_unsaid: bool,
    /// Whether the loop was told and has not listened yet.
    woken: bool,
}

impl Voice {
    pub(super) fn new(token: AttemptToken, wake: mpsc::UnboundedSender<AttemptToken>) -> Self {
        Self { token, spoken: Mutex::default(), wake }
    }

    pub(super) fn log(&self, at: Timestamp, text: &str) {
        self.speak(|spoken| spoken.log.push(at, text));
    }

    pub(super) fn progress(&self, progress: Progress) {
        self.speak(|spoken| (spoken.progress, spoken.progress_unsaid) = (Some(progress), true));
    }

    pub(super) fn checkpoint(&self, bytes: Bytes) {
        self.speak(|spoken| (spoken.checkpoint, spoken.checkpoint_unsaid) = (Some(bytes), true));
    }

    fn speak(&self, say: impl FnOnce(&mut Spoken)) {
        let mut spoken = self.spoken();
        say(&mut spoken);
        if !std::mem::replace(&mut spoken.woken, true) {
            // Nobody listens when the worker itself is ending.
            let _ = self.wake.send(self.token);
        }
    }

    pub(super) fn spoken(&self) -> MutexGuard<'_, Spoken> {
        // Nothing in here panics half way.
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spoken {
    /// The loop listens: the next word wakes it again.
    pub(super) fn heard(&mut self) {
        self.woken = false;
    }

    /// What is to be said beside the log, once on each connection.
    pub(super) fn news(&mut self) -> Option<report::News> {
        let progress = self.progress.clone().filter(|_| std::mem::take(&mut self.progress_unsaid));
        let checkpoint = self.checkpoint.clone().filter(|_| std::mem::take(&mut self.checkpoint_unsaid));
        (progress.is_some() || checkpoint.is_some()).then(|| words::progressed(progress, checkpoint))
    }

    /// How large that is.
    pub(super) fn news_bytes(&self) -> usize {
        let message = self.progress.as_ref().map_or(0, |progress| progress.message.len());
        message + self.checkpoint.as_ref().map_or(0, Bytes::len)
    }

    /// Another connection: its owner may have heard nothing.
    pub(super) fn restart(&mut self) {
        self.progress_unsaid = self.progress.is_some();
        self.checkpoint_unsaid = self.checkpoint.is_some();
        self.log.restart();
    }

    /// The attempt is acknowledged: only its log is still of interest.
    pub(super) fn settle(&mut self) {
        (self.progress, self.checkpoint) = (None, None);
    }
}
