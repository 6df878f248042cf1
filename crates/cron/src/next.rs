//! The next moment of an expression in a zone.
//!
//! An expression speaks of wall clocks. Between two turns of the clocks of a zone, wall clock and time run alike, so the search
//! goes from stretch to stretch: within one the next fitting wall-clock time is the next moment. Two things remain at the
//! beginning of a stretch: times that were left out (a gap), and times that come a second time (an overlap).
//!
//! All is counted in whole seconds; a "local second" is what the wall clock shows, counted as if it were UTC.

use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::cron::{Cron, DayRule};
use crate::field::{Month, YEAR_MIN, first_from};
use crate::zone::{Stretch, Zone};
use crate::{MICROS, Micros};

/// A time that is left out because clocks are turned forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Fires at the first moment after it, once however many times were left out.
    #[default]
    Once,
    /// Does not fire.
    Skip,
}

/// A time that comes twice because clocks are turned back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Fires the first time.
    #[default]
    First,
    /// Fires both times.
    Both,
}

/// What happens when clocks are turned. It does not concern expressions that follow elapsed time
/// ([`Cron::follows_elapsed_time`]): those fire whenever the clock shows a time that fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dst {
    /// What is left out.
    pub gap: Gap,
    /// What comes twice.
    pub overlap: Overlap,
}

/// After this year nothing is due.
const LAST_YEAR: i16 = 2400;
const DAY_SECONDS: i64 = 86_400;

impl Cron {
    /// The first moment later than `after`; none when there is none before the year 2400.
    pub fn next(&self, after: Micros, zone: &Zone, dst: Dst) -> Option<Micros> {
        let from = after.div_euclid(MICROS).checked_add(1)?;
        let second = self.next_second(from, zone, dst)?;
        second.checked_mul(MICROS)
    }

    fn next_second(&self, from: i64, zone: &Zone, dst: Dst) -> Option<i64> {
        let (begin, mut from) = (from, from);
        loop {
            let stretch = zone.stretch(from);
            if stretch.begin == Some(from) && self.makes_up(&stretch, dst) {
                return Some(from);
            }
            let mut local = from.checked_add(stretch.offset)?;
            if !self.elapsed && dst.overlap == Overlap::First {
                // What the clock showed before it was turned back has had its turn.
                local = local.max(stretch.begin.map_or(i64::MIN, |begin| begin + stretch.offset_before));
            }
            let second = self.next_local(local).map(|found| found - stretch.offset);
            match (second, stretch.end) {
                (Some(second), None) => return Some(second),
                (Some(second), Some(end)) if second < end => return Some(second),
                // Clocks that are turned back may show times again that had passed when the search began, the last ones too.
                (_, Some(end)) if end - begin < 3 * DAY_SECONDS => from = end,
                // No earlier time fits; the stretches until near it are of no interest.
                (Some(second), Some(end)) => from = end.max(second - 2 * DAY_SECONDS),
                (None, _) => return None,
            }
        }
    }

    /// Whether something that was left out at the beginning of the stretch is to be made up for.
    fn makes_up(&self, stretch: &Stretch, dst: Dst) -> bool {
        let (Some(begin), false, Gap::Once) = (stretch.begin, self.elapsed, dst.gap) else { return false };
        let (left_out, resumed) = (begin + stretch.offset_before, begin + stretch.offset);
        left_out < resumed && self.next_local(left_out).is_some_and(|found| found < resumed)
    }

    /// The first local second, from `from` on, that fits.
    fn next_local(&self, from: i64) -> Option<i64> {
        let begin = civil(from)?;
        let (mut year, mut month) = (begin.year(), begin.month());
        let (mut day, mut time) = (begin.day(), from.rem_euclid(DAY_SECONDS));
        loop {
            if !self.has_year(year) {
                (year, month, day, time) = (year.checked_add(1)?.max(YEAR_MIN), 1, 1, 0);
                if year > LAST_YEAR {
                    return None;
                }
                continue;
            }
            let Some(next_month) = first_from(self.months.into(), month.unsigned_abs().into()) else {
                (year, month, day, time) = (year + 1, 1, 1, 0);
                if year > LAST_YEAR {
                    return None;
                }
                continue;
            };
            if next_month != u32::from(month.unsigned_abs()) {
                (month, day, time) = (next_month as i8, 1, 0);
            }
            let days = u64::from(self.days_of(Month::of(year, month)?));
            let mut candidate = first_from(days, day.unsigned_abs().into());
            if candidate == Some(day.unsigned_abs().into()) {
                match self.next_time(time) {
                    Some(time) => return local(year, month, day, time),
                    None => candidate = first_from(days, u32::from(day.unsigned_abs()) + 1),
                }
            }
            match candidate {
                Some(found) => return local(year, month, found as i8, self.next_time(0)?),
                None if month == 12 => {
                    (year, month, day, time) = (year + 1, 1, 1, 0);
                    if year > LAST_YEAR {
                        return None;
                    }
                }
                None => (month, day, time) = (month + 1, 1, 0),
            }
        }
    }

    fn days_of(&self, month: Month) -> u32 {
        match (self.days.any, self.weekdays.any, self.rule) {
            (true, true, _) => month.all(),
            (true, false, _) => self.weekdays.of(month),
            (false, true, _) => self.days.of(month),
            (false, false, DayRule::Or) => self.days.of(month) | self.weekdays.of(month),
            (false, false, DayRule::And) => self.days.of(month) & self.weekdays.of(month),
        }
    }

    /// The first second of a day, from `from` on, that fits.
    fn next_time(&self, from: i64) -> Option<i64> {
        let from = u32::try_from(from).ok()?;
        let (hour, minute, second) = (from / 3_600, from / 60 % 60, from % 60);
        let first = |set: u64| first_from(set, 0);
        let time = |hour: u32, minute: u32, second: u32| Some(i64::from(hour * 3_600 + minute * 60 + second));
        let hours = u64::from(self.hours);
        if first_from(hours, hour) == Some(hour) {
            if first_from(self.minutes, minute) == Some(minute)
                && let Some(second) = first_from(self.seconds, second)
            {
                return time(hour, minute, second);
            }
            if let Some(minute) = first_from(self.minutes, minute + 1) {
                return time(hour, minute, first(self.seconds)?);
            }
        }
        time(first_from(hours, hour + 1)?, first(self.minutes)?, first(self.seconds)?)
    }

    /// Whether it fires at all: the days of the calendar repeat after 400 years.
    pub(crate) fn fires_ever(&self) -> bool {
        let begin = local(YEAR_MIN, 1, 1, 0);
        begin.and_then(|begin| self.next_local(begin)).is_some()
    }
}

/// What a local second is on paper.
fn civil(local: i64) -> Option<DateTime> {
    let at = jiff::Timestamp::from_second(local).ok()?;
    Some(Offset::UTC.to_datetime(at))
}

fn local(year: i16, month: i8, day: i8, time: i64) -> Option<i64> {
    let midnight = DateTime::new(year, month, day, 0, 0, 0, 0).ok()?;
    Some(Offset::UTC.to_timestamp(midnight).ok()?.as_second() + time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What follows `after`, as the wall clock of the zone shows it.
    fn check(text: &str, zone: &str, dst: Dst, after: &str, expected: &[&str]) {
        check_rule(text, DayRule::Or, zone, dst, after, expected);
    }

    fn check_rule(text: &str, rule: DayRule, zone: &str, dst: Dst, after: &str, expected: &[&str]) {
        let cron = Cron::parse(text, rule, 0).unwrap();
        let zone: Zone = zone.parse().unwrap();
        let mut at = after.parse::<jiff::Timestamp>().unwrap().as_microsecond();
        let found: Vec<String> = expected
            .iter()
            .map(|_| {
                let next = cron.next(at, &zone, dst).unwrap();
                assert!(next > at, "{text}: strictly later");
                at = next;
                zone.wall_clock(next / MICROS)
            })
            .collect();
        assert_eq!(found, expected, "{text} in {zone:?}");
    }

    const ONCE: Dst = Dst { gap: Gap::Once, overlap: Overlap::First };
    const SKIP: Dst = Dst { gap: Gap::Skip, overlap: Overlap::First };
    const BOTH: Dst = Dst { gap: Gap::Once, overlap: Overlap::Both };
    const YORK: &str = "America/New_York";

    #[test]
    fn ordinary_days() {
        let utc = |text, after, expected: &[&str]| check(text, "UTC", ONCE, after, expected);
        utc("30 9 * * MON-FRI", "2026-11-13T09:30:00Z", &["2026-11-16T09:30:00+00"]);
        utc("0 0 29 2 *", "2026-01-01T00:00:00Z", &["2028-02-29T00:00:00+00", "2032-02-29T00:00:00+00"]);
        utc(
            "*/20 59 23 31 12 * 2026",
            "2026-12-31T23:59:19.5Z",
            &["2026-12-31T23:59:20+00", "2026-12-31T23:59:40+00"],
        );
        utc("0 12 13 * FRI", "2026-11-12T00:00:00Z", &["2026-11-13T12:00:00+00", "2026-11-20T12:00:00+00"]);
        utc("0 0 L-3 2 *", "2026-01-01T00:00:00Z", &["2026-02-25T00:00:00+00"]);
        let and = ["2026-11-13T12:00:00+00", "2027-08-13T12:00:00+00"];
        check_rule("0 12 13 * FRI", DayRule::And, "UTC", ONCE, "2026-11-12T00:00:00Z", &and);
    }

    #[test]
    fn a_time_that_is_left_out() {
        // In New York 2026-03-08 goes from 01:59:59 to 03:00:00.
        let after = "2026-03-07T12:00:00Z";
        check("30 2 * * *", YORK, ONCE, after, &["2026-03-08T03:00:00-04", "2026-03-09T02:30:00-04"]);
        check("30 2 * * *", YORK, SKIP, after, &["2026-03-09T02:30:00-04"]);
        check(
            "0,30 2,14 * * *",
            YORK,
            ONCE,
            after,
            &[
                "2026-03-07T14:00:00-05",
                "2026-03-07T14:30:00-05",
                "2026-03-08T03:00:00-04",
                "2026-03-08T14:00:00-04",
            ],
        );
        check("0 2,3 * * *", YORK, ONCE, after, &["2026-03-08T03:00:00-04", "2026-03-09T02:00:00-04"]);
        check(
            "*/30 * * * *",
            YORK,
            ONCE,
            "2026-03-08T06:29:00Z",
            &["2026-03-08T01:30:00-05", "2026-03-08T03:00:00-04"],
        );
        check("*/30 2 * * *", YORK, ONCE, after, &["2026-03-09T02:00:00-04"]);
    }

    #[test]
    fn a_time_that_comes_twice() {
        // In New York 2026-11-01 goes from 01:59:59 back to 01:00:00.
        let after = "2026-10-31T12:00:00Z";
        check("30 1 * * *", YORK, ONCE, after, &["2026-11-01T01:30:00-04", "2026-11-02T01:30:00-05"]);
        check(
            "30 1 * * *",
            YORK,
            BOTH,
            after,
            &["2026-11-01T01:30:00-04", "2026-11-01T01:30:00-05", "2026-11-02T01:30:00-05"],
        );
        check(
            "0 * * * *",
            YORK,
            ONCE,
            "2026-11-01T04:30:00Z",
            &["2026-11-01T01:00:00-04", "2026-11-01T01:00:00-05", "2026-11-01T02:00:00-05"],
        );
        // Clocks that are turned back into the day and the month before.
        check(
            "*/43 23 * 5 *",
            "Asia/Bahrain",
            ONCE,
            "1972-05-31T19:43:00Z",
            &["1972-05-31T23:00:00+03", "1972-05-31T23:43:00+03", "1973-05-01T23:00:00+03"],
        );
        // The last time of its years comes twice, too.
        let last = ["2026-11-01T01:30:00-04", "2026-11-01T01:30:00-05"];
        check("0 30 1 1 11 * 2026", YORK, BOTH, after, &last);
        let cron = Cron::parse("0 30 1 1 11 * 2026", DayRule::Or, 0).unwrap();
        let york = YORK.parse().unwrap();
        let between = "2026-11-01T05:59:00Z".parse::<jiff::Timestamp>().unwrap().as_microsecond();
        assert!(cron.next(between, &york, BOTH).is_some() && cron.next(between, &york, ONCE).is_none());
        // Asked in the middle of the second time.
        check("30 1 * * *", YORK, ONCE, "2026-11-01T06:10:00Z", &["2026-11-02T01:30:00-05"]);
    }

    #[test]
    fn odd_zones() {
        // Midnight is left out in São Paulo, half an hour at Lord Howe, and a whole day in Apia.
        check("0 0 * * *", "America/Sao_Paulo", ONCE, "2018-11-03T12:00:00Z", &["2018-11-04T01:00:00-02"]);
        check("15 2 * * *", "Australia/Lord_Howe", ONCE, "2026-10-03T00:00:00Z", &["2026-10-04T02:30:00+11"]);
        check(
            "0 12 * * *",
            "Pacific/Apia",
            ONCE,
            "2011-12-29T00:00:00Z",
            &["2011-12-29T12:00:00-10", "2011-12-31T00:00:00+14", "2011-12-31T12:00:00+14"],
        );
    }

    #[test]
    fn nothing_is_due_after_its_years() {
        let cron = Cron::parse("0 0 0 1 1 * 2026", DayRule::Or, 0).unwrap();
        let after = 1_800_000_000 * MICROS;
        assert_eq!(cron.next(after, &Zone::UTC, ONCE), None);
        assert_eq!(cron.next(Micros::MAX, &Zone::UTC, ONCE), None);
    }
}
