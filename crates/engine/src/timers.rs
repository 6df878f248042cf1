//! One ordered structure for every deadline: begin times, back-offs, timeouts, silence, polls.
//!
//! Each subject has at most one deadline. A subject that only moves its deadline later may leave the
//! earlier one in place: when it fires, the subject looks again and arms the next. That makes the
//! frequent case (a heartbeat arrived) free.

use std::collections::BTreeSet;

use mainspring_model::Timestamp;

/// What a deadline is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Something that waits in the store may have to be given up.
    Overdue,
    /// A trigger is due, or soon is.
    Trigger(usize),
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
    deadlines: BTreeSet<(Timestamp, Packed)>,
}

/// A subject as one number: quick to compare, because every placement sets a deadline.
type Packed = u64;

const KIND_SHIFT: u32 = 56;

impl Subject {
    const fn pack(self) -> Packed {
        let (kind, ix) = match self {
            Self::Run(ix) => (0, ix),
            Self::Node(ix) => (1, ix),
            Self::Group(ix) => (2, ix),
            Self::Class(ix) => (3, ix),
            Self::Poll => (4, 0),
            Self::Horizon => (5, 0),
            Self::Overdue => (6, 0),
            Self::Trigger(ix) => (7, ix),
        };
        kind << KIND_SHIFT | ix as u64
    }

    const fn unpack(packed: Packed) -> Self {
        let ix = (packed & ((1 << KIND_SHIFT) - 1)) as usize;
        match packed >> KIND_SHIFT {
            0 => Self::Run(ix),
            1 => Self::Node(ix),
            2 => Self::Group(ix),
            3 => Self::Class(ix),
            4 => Self::Poll,
            5 => Self::Horizon,
            6 => Self::Overdue,
            _ => Self::Trigger(ix),
        }
    }
}

impl Timers {
    /// Makes sure that `subject` fires no later than `at`.
    pub(crate) fn arm(&mut self, armed: &mut Armed, at: Option<Timestamp>, subject: Subject) {
        let Some(at) = at.filter(|at| *at < armed.0) else { return };
        self.disarm(armed, subject);
        *armed = Armed(at);
        self.deadlines.insert((at, subject.pack()));
    }

    /// Removes the deadline of a subject that goes away.
    pub(crate) fn disarm(&mut self, armed: &mut Armed, subject: Subject) {
        let Armed(old) = std::mem::take(armed);
        if old < Timestamp::MAX {
            self.deadlines.remove(&(old, subject.pack()));
        }
    }

    /// The next subject that is due.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<Subject> {
        let (at, _) = self.deadlines.first()?;
        if *at > now {
            return None;
        }
        self.deadlines.pop_first().map(|(_, packed)| Subject::unpack(packed))
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    #[test]
    fn fires_in_order_and_each_subject_once() {
        let mut timers = Timers::default();
        let subjects = [
            Subject::Run(7),
            Subject::Node(7),
            Subject::Group(0),
            Subject::Class(usize::from(u16::MAX)),
            Subject::Poll,
            Subject::Horizon,
        ];
        let mut armed = [Armed::NOT; 6];
        for (n, subject) in subjects.into_iter().enumerate() {
            timers.arm(&mut armed[n], Some(at(100 - n as i64)), subject);
            timers.arm(&mut armed[n], Some(at(200)), subject); // later: the earlier one stays
            timers.arm(&mut armed[n], None, subject);
        }
        timers.arm(&mut armed[5], Some(at(1)), subjects[5]); // earlier: it moves
        timers.disarm(&mut armed[1], subjects[1]);
        assert_eq!(timers.next(), Some(at(1)));
        let fired: Vec<Subject> = std::iter::from_fn(|| timers.pop_due(at(99))).collect();
        assert_eq!(fired, [subjects[5], subjects[4], subjects[3], subjects[2]]);
        assert_eq!(timers.pop_due(at(100)), Some(subjects[0]));
        assert_eq!(timers.next(), None);
    }
}
