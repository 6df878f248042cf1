//! Days and times that are left out: holidays, days of rest, blackouts. Calendars have names and are shared; which one a
//! schedule heeds is the schedule's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::error::Error;

/// What a day is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holiday {
    /// No work, whatever the day of the week.
    Off,
    /// Work, whatever the day of the week.
    Working,
}

/// One day, several in a row, or one day of every year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Days {
    /// From one day through another.
    Span(Date, Date),
    /// A month and a day of it, every year.
    Yearly(i8, i8),
}

/// A time of every day, from one minute to before another; it may go over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyWindow {
    from: Time,
    until: Time,
}

/// Which days are for work, and when on any day nothing is to happen. Everything is read on the wall clock of the schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calendar {
    /// Days of the week without work; bit 0 is Sunday.
    weekend: u8,
    days: BTreeMap<Date, Holiday>,
    /// Months and days that are off every year, unless `days` says otherwise.
    yearly: BTreeSet<(i8, i8)>,
    blackouts: Vec<DailyWindow>,
}

impl Calendar {
    /// The most days that a calendar may name.
    pub const DAYS_MAX: usize = 10_000;
    /// The most blackouts.
    pub const BLACKOUTS_MAX: usize = 100;

    /// A calendar. `weekend` are days of the week, 0 for Sunday.
    pub fn new(
        weekend: impl IntoIterator<Item = u8>,
        days: impl IntoIterator<Item = (Days, Holiday)>,
        blackouts: Vec<DailyWindow>,
    ) -> Result<Self, Error> {
        let mut calendar = Self { blackouts, ..Self::default() };
        for day in weekend {
            if day > 6 {
                return Err(Error::new(format!("weekend: `{day}` is not 0 (Sunday) to 6")));
            }
            calendar.weekend |= 1 << day;
        }
        for (days, holiday) in days {
            calendar.add(days, holiday)?;
        }
        if calendar.blackouts.len() > Self::BLACKOUTS_MAX {
            let max = Self::BLACKOUTS_MAX;
            return Err(Error::new(format!("a calendar has at most {max} blackouts")));
        }
        Ok(calendar)
    }

    fn add(&mut self, days: Days, holiday: Holiday) -> Result<(), Error> {
        let (first, last) = match (days, holiday) {
            (Days::Span(first, last), _) => (first, last),
            (Days::Yearly(month, day), Holiday::Off) => {
                self.yearly.insert((month, day));
                return Ok(());
            }
            (Days::Yearly(..), Holiday::Working) => {
                return Err(Error::new(format!(
                    "`{days}` is a day of every year; name the days with their year"
                )));
            }
        };
        for date in first.series(jiff::Span::new().days(1)).take_while(|date| *date <= last) {
            if self.days.insert(date, holiday).is_some_and(|known| known != holiday) {
                return Err(Error::new(format!("{date} is said to be off and to be worked")));
            }
            if self.days.len() > Self::DAYS_MAX {
                return Err(Error::new(format!("a calendar names at most {} days", Self::DAYS_MAX)));
            }
        }
        Ok(())
    }

    /// Whether nothing is to happen at a local second.
    pub(crate) fn leaves_out(&self, local: i64) -> bool {
        let Ok(at) = jiff::Timestamp::from_second(local) else { return false };
        let at = Offset::UTC.to_datetime(at);
        !self.is_working_day(at.date()) || self.blackouts.iter().any(|window| window.holds(at.time()))
    }

    /// Whether a day is for work.
    pub fn is_working_day(&self, date: Date) -> bool {
        match self.days.get(&date) {
            Some(Holiday::Off) => false,
            Some(Holiday::Working) => true,
            None if self.yearly.contains(&(date.month(), date.day())) => false,
            None => self.weekend >> date.weekday().to_sunday_zero_offset() & 1 == 0,
        }
    }
}

impl FromStr for Days {
    type Err = Error;

    /// `2026-12-25`, `2026-12-24..2027-01-01`, `12-25`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::new(format!(
                "`{text}` is not a day; write `2026-12-25`, `2026-12-24..2027-01-01` or `12-25`"
            ))
        };
        let date = |text: &str| match text.len() {
            10 => text.parse::<Date>().map_err(|_| wrong()),
            _ => Err(wrong()),
        };
        if let Some((first, last)) = text.split_once("..") {
            let (first, last) = (date(first)?, date(last)?);
            return match first <= last {
                true => Ok(Self::Span(first, last)),
                false => Err(Error::new(format!("`{text}` ends before it begins"))),
            };
        }
        if text.len() == 5 {
            // A leap year has every day.
            let date = date(&format!("2000-{text}"))?;
            return Ok(Self::Yearly(date.month(), date.day()));
        }
        date(text).map(|date| Self::Span(date, date))
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(first, last) if first == last => write!(f, "{first}"),
            Self::Span(first, last) => write!(f, "{first}..{last}"),
            Self::Yearly(month, day) => write!(f, "{month:02}-{day:02}"),
        }
    }
}

impl DailyWindow {
    fn holds(&self, time: Time) -> bool {
        match self.from <= self.until {
            true => self.from <= time && time < self.until,
            false => self.from <= time || time < self.until,
        }
    }
}

impl FromStr for DailyWindow {
    type Err = Error;

    /// `22:00-06:00`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::new(format!("`{text}` is not a time of day; write `22:00-06:00`"));
        let (from, until) = text.split_once('-').ok_or_else(wrong)?;
        let time = |text: &str| match text.trim() {
            text if text.len() == 5 => text.parse::<Time>().map_err(|_| wrong()),
            _ => Err(wrong()),
        };
        let window = Self { from: time(from)?, until: time(until)? };
        if [window.from, window.until].iter().any(|time| time.second() != 0 || time.subsec_nanosecond() != 0)
        {
            return Err(wrong());
        }
        if window.from == window.until {
            return Err(Error::new(format!("`{text}` has no length; for whole days name the days")));
        }
        Ok(window)
    }
}

impl fmt::Display for DailyWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, until } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from.hour(), from.minute(), until.hour(), until.minute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> i64 {
        text.parse::<jiff::Timestamp>().unwrap().as_second()
    }

    fn days(text: &str) -> Days {
        text.parse().unwrap()
    }

    #[test]
    fn weekends_holidays_and_days_worked_instead() {
        let days = [
            (days("2026-10-01..2026-10-02"), Holiday::Off),
            // A Saturday that is worked instead.
            (days("2026-10-10"), Holiday::Working),
            (days("12-25"), Holiday::Off),
            (days("2028-12-25"), Holiday::Working),
        ];
        let calendar = Calendar::new([0, 6], days, vec![]).unwrap();
        assert!(calendar.leaves_out(local("2026-10-01T09:00:00Z")));
        assert!(calendar.leaves_out(local("2026-10-02T09:00:00Z")));
        assert!(calendar.leaves_out(local("2026-10-03T09:00:00Z")));
        assert!(
            calendar.leaves_out(local("2026-12-25T09:00:00Z"))
                && calendar.leaves_out(local("2029-12-25T09:00:00Z"))
        );
        assert!(!calendar.leaves_out(local("2028-12-25T09:00:00Z")), "one year is an exception");
        assert!(!calendar.leaves_out(local("2026-10-10T09:00:00Z")));
        assert!(!calendar.leaves_out(local("2026-10-12T09:00:00Z")));
        assert!(Calendar::new([7], [], vec![]).is_err());
    }

    #[test]
    fn days_are_read_and_shown_alike_or_refused() {
        for text in ["2026-12-25", "2026-12-24..2027-01-01", "12-25", "02-29"] {
            assert_eq!(days(text).to_string(), text);
        }
        for wrong in
            ["", "2026-13-01", "02-30", "2026-1-1", "2027-01-01..2026-12-24", "25.12.2026", "12-25..12-26"]
        {
            assert!(wrong.parse::<Days>().is_err(), "{wrong}");
        }
        let both = [(days("2026-10-01..2026-10-03"), Holiday::Off), (days("2026-10-02"), Holiday::Working)];
        assert!(Calendar::new([], both, vec![]).is_err());
        assert!(Calendar::new([], [(days("12-25"), Holiday::Working)], vec![]).is_err());
        assert!(Calendar::new([], [(days("1000-01-01..9000-01-01"), Holiday::Off)], vec![]).is_err());
    }

    #[test]
    fn blackouts_go_over_midnight() {
        let calendar = Calendar::new([], [], vec!["22:00-06:00".parse().unwrap()]).unwrap();
        for (time, left_out) in
            [("21:59:59", false), ("22:00:00", true), ("05:59:59", true), ("06:00:00", false)]
        {
            assert_eq!(calendar.leaves_out(local(&format!("2026-10-03T{time}Z"))), left_out, "{time}");
        }
        for wrong in ["22:00", "22-23", "22:00-22:00", "25:00-26:00", "a-b"] {
            assert!(wrong.parse::<DailyWindow>().is_err(), "{wrong}");
        }
    }
}
