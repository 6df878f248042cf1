//! A schedule: a rhythm, where it is read, between which moments, and what is left out.

use std::sync::Arc;

use crate::calendar::Calendar;
use crate::cron::Cron;
use crate::every::Every;
use crate::next::Dst;
use crate::zone::Zone;
use crate::{MICROS, Micros};

/// What repeats, or happens once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rhythm {
    /// By the wall clock of a zone.
    Cron {
        /// The expression.
        cron: Box<Cron>,
        /// What happens when clocks are turned.
        dst: Dst,
    },
    /// By an interval.
    Every(Every),
    /// Once.
    At(Micros),
}

/// Between which moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Not before this.
    pub from: Option<Micros>,
    /// Before this.
    pub until: Option<Micros>,
}

/// When something is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// What repeats.
    pub rhythm: Rhythm,
    /// Where wall clocks are read: by expressions and by calendars.
    pub zone: Zone,
    /// Between which moments.
    pub bounds: Bounds,
    /// What is left out.
    pub without: Vec<Arc<Calendar>>,
}

/// How many moments in a row may be left out before the search ends: a schedule that its calendars leave nothing of.
const LEFT_OUT_MAX: usize = 200_000;

impl Schedule {
    /// A rhythm without bounds, in UTC.
    pub fn new(rhythm: Rhythm) -> Self {
        Self { rhythm, zone: Zone::UTC, bounds: Bounds::default(), without: Vec::new() }
    }

    /// The first moment later than `after` that is due; none when there is none.
    pub fn next(&self, after: Micros) -> Option<Micros> {
        let Bounds { from, until } = self.bounds;
        let mut after = from.map_or(after, |from| after.max(from.saturating_sub(1)));
        for _ in 0..LEFT_OUT_MAX {
            let next = self.rhythm_next(after)?;
            if until.is_some_and(|until| next >= until) {
                return None;
            }
            if !self.leaves_out(next) {
                return Some(next);
            }
            after = next;
        }
        None
    }

    fn rhythm_next(&self, after: Micros) -> Option<Micros> {
        match &self.rhythm {
            Rhythm::Cron { cron, dst } => cron.next(after, &self.zone, *dst),
            Rhythm::Every(every) => every.next(after),
            Rhythm::At(at) => Some(*at).filter(|at| *at > after),
        }
    }

    /// Whether a calendar leaves a moment out.
    pub fn leaves_out(&self, at: Micros) -> bool {
        if self.without.is_empty() {
            return false;
        }
        let second = at.div_euclid(MICROS);
        let local = second + self.zone.offset(second);
        self.without.iter().any(|calendar| calendar.leaves_out(local))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cron::DayRule;

    fn at(text: &str) -> Micros {
        text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
    }

    fn cron(text: &str) -> Schedule {
        let cron = Box::new(Cron::parse(text, DayRule::Or, 0).unwrap());
        Schedule::new(Rhythm::Cron { cron, dst: Dst::default() })
    }

    #[test]
    fn bounds_hold_their_beginning_and_not_their_end() {
        let mut daily = cron("0 6 * * *");
        daily.bounds =
            Bounds { from: Some(at("2026-05-02T06:00:00Z")), until: Some(at("2026-05-04T06:00:00Z")) };
        assert_eq!(daily.next(at("2026-01-01T00:00:00Z")), Some(at("2026-05-02T06:00:00Z")));
        assert_eq!(daily.next(at("2026-05-02T06:00:00Z")), Some(at("2026-05-03T06:00:00Z")));
        assert_eq!(daily.next(at("2026-05-03T06:00:00Z")), None);
    }

    #[test]
    fn a_moment_comes_once() {
        let once = Schedule::new(Rhythm::At(at("2027-01-01T00:00:00Z")));
        assert_eq!(once.next(0), Some(at("2027-01-01T00:00:00Z")));
        assert_eq!(once.next(at("2027-01-01T00:00:00Z")), None);
    }

    #[test]
    fn calendars_are_read_in_the_zone() {
        let mut nightly = cron("30 0 * * *");
        nightly.zone = "Asia/Shanghai".parse().unwrap();
        nightly.without = vec![Arc::new(Calendar::new([0, 6], [], vec![]).unwrap())];
        // In Shanghai it is Monday already when Sunday is not over in London.
        assert_eq!(nightly.next(at("2026-11-13T00:00:00Z")), Some(at("2026-11-15T16:30:00Z")));
        nightly.without = vec![Arc::new(Calendar::new(0..=6, [], vec![]).unwrap())];
        nightly.bounds.until = Some(at("2030-01-01T00:00:00Z"));
        assert_eq!(nightly.next(0), None, "nothing is left");
    }
}
