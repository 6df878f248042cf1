//! Whether the sidecar answers. One that is there and does nothing would hold its tasks, and every order, for ever.
//!
//! It is asked now and then, and looked at often while an answer is outstanding. What is counted is looks, not time: a machine
//! that stood still is one look, however long it did. After a few of them the node takes no more work, after many the
//! sidecar is replaced: a new one finds the tasks in the journal. When the lease ends there is no time for that: a
//! sidecar that does not answer soon cannot be trusted to end its tasks.

use std::time::Duration;

use mainspring_model::Timestamp;

use super::{Core, Output};

/// How many looks without an answer until the node takes no more work.
const UNWELL_LOOKS: u32 = 2;
/// How many until the sidecar is replaced.
pub(crate) const REPLACE_LOOKS: u32 = 12;
/// When the lease has ended it is looked at so often, and as many times, before it is replaced: it may have many tasks to
/// end.
const LAST_LOOK_EVERY: Duration = Duration::from_secs(1);
const LAST_LOOKS: u32 = 3;

/// What is known of the sidecar's life.
#[derive(Debug)]
pub(super) struct Pulse {
    every: Duration,
    looked_at: Timestamp,
    /// How often it was looked at since it was asked, or lost; none when nothing is outstanding.
    waiting: Option<u32>,
    /// When it is looked at because the lease has ended, and how many looks are left.
    last_call: Option<(Timestamp, u32)>,
    unwell: bool,
}

impl Pulse {
    /// Replaces a sidecar that does not answer for about as long as `patience`.
    pub(super) fn new(patience: Duration) -> Self {
        let every = patience / REPLACE_LOOKS;
        Self { every, looked_at: Timestamp::ZERO, waiting: None, last_call: None, unwell: false }
    }

    /// Whether the node had better take no work.
    pub(super) fn is_unwell(&self) -> bool {
        self.unwell
    }

    /// When it is to be looked at.
    pub(super) fn due(&self) -> Timestamp {
        let next = self.looked_at + self.every;
        self.last_call.map_or(next, |(at, _)| at.min(next))
    }
}

impl Core {
    /// The sidecar answered, or is there again.
    pub(super) fn answered(&mut self) {
        self.pulse.waiting = None;
        self.pulse.last_call = None;
        if std::mem::take(&mut self.pulse.unwell) {
            self.reconnect(None);
        }
    }

    /// The sidecar shows that it lives, though it has not answered yet: it was found, or tells its journal.
    pub(super) fn stirred(&mut self) {
        self.pulse.waiting = self.pulse.waiting.map(|_| 0);
    }

    /// The connection to the sidecar is gone; it is looked for.
    pub(super) fn detached(&mut self, now: Timestamp) {
        self.attached = false;
        self.pulse.waiting = Some(0);
        self.pulse.last_call = None;
        self.pulse.looked_at = now;
    }

    /// The lease has ended, and tasks must.
    pub(super) fn last_call(&mut self, now: Timestamp) {
        let silent_before = self.pulse.waiting.is_some_and(|looks| looks > 0);
        if !self.attached {
            return; // Whoever is found next is told to end them.
        }
        if silent_before {
            self.replace_sidecar();
        } else {
            self.pulse.waiting.get_or_insert(0);
            self.pulse.last_call = Some((now + LAST_LOOK_EVERY, LAST_LOOKS));
            self.out.push(Output::Probe);
        }
    }

    pub(super) fn feel_pulse(&mut self, now: Timestamp) {
        if now < self.pulse.due() {
            return;
        }
        if let Some((_, looks)) = self.pulse.last_call.take_if(|(at, _)| *at <= now) {
            match looks {
                0 | 1 => self.replace_sidecar(),
                looks => self.pulse.last_call = Some((now + LAST_LOOK_EVERY, looks - 1)),
            }
            return;
        }
        self.pulse.looked_at = now;
        let Some(looks) = &mut self.pulse.waiting else {
            self.pulse.waiting = Some(0);
            self.out.push(Output::Probe);
            return;
        };
        *looks += 1;
        let looks = *looks;
        if looks >= UNWELL_LOOKS && !std::mem::replace(&mut self.pulse.unwell, true) {
            self.reconnect(None);
        }
        if looks.is_multiple_of(REPLACE_LOOKS) {
            self.replace_sidecar();
        }
    }

    /// What was asked of it is asked of the next one. One that cannot be ended is tried again later.
    fn replace_sidecar(&mut self) {
        self.pulse.waiting = Some(0);
        self.out.push(Output::ReplaceSidecar);
    }
}
