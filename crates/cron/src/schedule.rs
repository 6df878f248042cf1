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

/// How often in a row a day or a blackout may be passed over before the search ends: several calendars that leave nothing
/// together.
const LEFT_OUT_MAX: usize = 20_000;

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
            match self.left_out_until(next) {
                None => return Some(next),
                // What lies in between is left out by the same day or blackout.
                Some(until) => after = next.max(until.checked_sub(1)?),
            }
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

    /// If a calendar leaves a moment out, when it may not any more.
    fn left_out_until(&self, at: Micros) -> Option<Micros> {
        if self.without.is_empty() {
            return None;
        }
        let second = at.div_euclid(MICROS);
        let offset = self.zone.offset(second);
        let local = second + offset;
        let until = self.without.iter().filter_map(|calendar| calendar.leaves_out_until(local)).max()?;
        if until == i64::MAX {
            return Some(Micros::MAX);
        }
        // Clocks may be turned in between.
        let turned = self.zone.offset(second + (until - local)) - offset;
        Some((second + (until - local) - turned) * MICROS)
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

    #[test]
    fn long_rests_are_passed_over_and_clocks_may_be_turned_in_them() {
        let mut busy = cron("* * * * * *");
        let monday = [("2026-03-30".parse().unwrap(), crate::Holiday::Off)];
        busy.without = vec![Arc::new(Calendar::new([0, 6], monday, vec![]).unwrap())];
        busy.zone = "Europe/Berlin".parse().unwrap();
        // Clocks are turned forward on this Sunday: Tuesday begins at 22:00 UTC.
        assert_eq!(busy.next(at("2026-03-27T22:59:59Z")), Some(at("2026-03-30T22:00:00Z")));
        // And back on this one.
        assert_eq!(busy.next(at("2026-10-23T21:59:59Z")), Some(at("2026-10-25T23:00:00Z")));
        let weekdays = Calendar::new(1..=5, [], vec![]).unwrap();
        let weekend = Calendar::new([0, 6], [], vec![]).unwrap();
        busy.without = vec![Arc::new(weekdays), Arc::new(weekend)];
        assert_eq!(busy.next(0), None, "together they leave nothing");
    }
}
