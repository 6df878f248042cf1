//! One ordered structure for the deadlines on one clock: the store's time (begin times, back-offs, deadlines, triggers) or
//! elapsed time (timeouts of attempts, silence, polls).
//!
//! Each subject has at most one deadline. A subject that only moves its deadline later may leave the
//! earlier one in place: when it fires, the subject looks again and arms the next. That makes the
//! frequent case (a heartbeat arrived) free.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use mainspring_model::{Elapsed, Timestamp};

/// What a deadline in the store's time is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A run's begin time, back-off, deadline, or the end of its wait.
    Run(usize),
    /// The patience with a node that is being drained ends.
    Drain(usize),
    /// A rate limit opens again for a group.
    Group(usize),
    /// A class that no node can take is handed over.
    Class(usize),
    /// Read in what becomes due.
    Horizon,
    /// Something that waits in the store may have to be given up.
    Overdue,
    /// A trigger is due, or soon is.
    Trigger(usize),
}

/// What a deadline in elapsed time is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The timeouts and repeated orders of a run's attempt.
    Attempt(usize),
    /// The silence of a node.
    Silence(usize),
    /// Look for arrivals.
    Poll,
    /// The rest after a look for what is overdue is over.
    Rest,
}

/// A reading of a clock that deadlines are kept on.
pub(crate) trait Reading: Copy + Ord {
    const MAX: Self;
}

impl Reading for Timestamp {
    const MAX: Self = Self::MAX;
}

impl Reading for Elapsed {
    const MAX: Self = Self::MAX;
}

/// A subject's own memory of its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Armed<T = Timestamp>(T);

impl<T: Reading> Armed<T> {
    pub(crate) const NOT: Self = Self(T::MAX);
}

impl<T: Reading> Default for Armed<T> {
    fn default() -> Self {
        Self::NOT
    }
}

/// Deadlines on one clock.
#[derive(Debug)]
pub(crate) struct Timers<T = Timestamp, S = Subject> {
    deadlines: BTreeSet<(T, Packed)>,
    subjects: PhantomData<S>,
}

/// Deadlines in elapsed time.
pub(crate) type Waits = Timers<Elapsed, Wait>;

impl<T, S> Default for Timers<T, S> {
    fn default() -> Self {
        Self { deadlines: BTreeSet::new(), subjects: PhantomData }
    }
}

/// A subject as one number: quick to compare, because every placement sets a deadline.
type Packed = u64;

const KIND_SHIFT: u32 = 56;

const fn packed(kind: u64, ix: usize) -> Packed {
    kind << KIND_SHIFT | ix as u64
}

const fn unpacked(packed: Packed) -> (u64, usize) {
    (packed >> KIND_SHIFT, (packed & ((1 << KIND_SHIFT) - 1)) as usize)
}

/// What can be packed into one number and back.
pub(crate) trait Pack: Copy {
    fn pack(self) -> Packed;
    fn unpack(packed: Packed) -> Self;
}

impl Pack for Subject {
    fn pack(self) -> Packed {
        match self {
            Self::Run(ix) => packed(0, ix),
            Self::Drain(ix) => packed(1, ix),
            Self::Group(ix) => packed(2, ix),
            Self::Class(ix) => packed(3, ix),
            Self::Horizon => packed(4, 0),
            Self::Overdue => packed(5, 0),
            Self::Trigger(ix) => packed(6, ix),
        }
    }

    fn unpack(packed: Packed) -> Self {
        match unpacked(packed) {
            (0, ix) => Self::Run(ix),
            (1, ix) => Self::Drain(ix),
            (2, ix) => Self::Group(ix),
            (3, ix) => Self::Class(ix),
            (4, _) => Self::Horizon,
            (5, _) => Self::Overdue,
            (_, ix) => Self::Trigger(ix),
        }
    }
}

impl Pack for Wait {
    fn pack(self) -> Packed {
        match self {
            Self::Attempt(ix) => packed(0, ix),
            Self::Silence(ix) => packed(1, ix),
            Self::Poll => packed(2, 0),
            Self::Rest => packed(3, 0),
        }
    }

    fn unpack(packed: Packed) -> Self {
        match unpacked(packed) {
            (0, ix) => Self::Attempt(ix),
            (1, ix) => Self::Silence(ix),
            (2, _) => Self::Poll,
            _ => Self::Rest,
        }
    }
}

impl<T: Reading, S: Pack> Timers<T, S> {
    /// Makes sure that `subject` fires no later than `at`.
    pub(crate) fn arm(&mut self, armed: &mut Armed<T>, at: Option<T>, subject: S) {
        let Some(at) = at.filter(|at| *at < armed.0) else { return };
        self.disarm(armed, subject);
        *armed = Armed(at);
        self.deadlines.insert((at, subject.pack()));
    }

    /// Removes the deadline of a subject that goes away.
    pub(crate) fn disarm(&mut self, armed: &mut Armed<T>, subject: S) {
        let Armed(old) = std::mem::take(armed);
        if old < T::MAX {
            self.deadlines.remove(&(old, subject.pack()));
        }
    }

    /// The next subject that is due.
    pub(crate) fn pop_due(&mut self, now: T) -> Option<S> {
        let (at, _) = self.deadlines.first()?;
        if *at > now {
            return None;
        }
        self.deadlines.pop_first().map(|(_, packed)| S::unpack(packed))
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<T> {
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
            Subject::Drain(7),
            Subject::Group(0),
            Subject::Class(usize::from(u16::MAX)),
            Subject::Overdue,
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
