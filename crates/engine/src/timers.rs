//! One ordered structure for every deadline: begin times, back-offs, timeouts, silence, polls.
//!
//! Each subject has at most one deadline. A subject that only moves its deadline later may leave the
//! earlier one in place: when it fires, the subject looks again and arms the next. That makes the
//! frequent case (a heartbeat arrived) free.

use std::collections::BTreeSet;

use mainspring_model::Timestamp;

/// What a deadline is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Run(usize),
    Node(usize),
    /// A rate limit opens again for a group.
    Group(usize),
    /// A class that no node can take is handed over.
    Class(usize),
    /// Look for arrivals.
    Poll,
    /// Read in what becomes due.
    Horizon,
}

/// A subject's own memory of its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Armed(Timestamp);

impl Armed {
    pub(crate) const NOT: Self = Self(Timestamp::MAX);
}

impl Default for Armed {
    fn default() -> Self {
        Self::NOT
    }
}

#[derive(Debug, Default)]
pub(crate) struct Timers {
    deadlines: BTreeSet<(Timestamp, Subject)>,
}

impl Timers {
    /// Makes sure that `subject` fires no later than `at`.
    pub(crate) fn arm(&mut self, armed: &mut Armed, at: Option<Timestamp>, subject: Subject) {
        let Some(at) = at.filter(|at| *at < armed.0) else { return };
        self.disarm(armed, subject);
        *armed = Armed(at);
        self.deadlines.insert((at, subject));
    }

    /// Removes the deadline of a subject that goes away.
    pub(crate) fn disarm(&mut self, armed: &mut Armed, subject: Subject) {
        let Armed(old) = std::mem::take(armed);
        if old < Timestamp::MAX {
            self.deadlines.remove(&(old, subject));
        }
    }

    /// The next subject that is due.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<Subject> {
        let (at, _) = self.deadlines.first()?;
        if *at > now {
            return None;
        }
        self.deadlines.pop_first().map(|(_, subject)| subject)
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|(at, _)| *at)
    }
}
