//! Days and times that are left out: holidays, days of rest, blackouts. Calendars have names and are shared; which one a
//! schedule heeds is the schedule's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::error::Error;

const DAY_SECONDS: i64 = 86_400;
const DAY_MINUTES: i64 = 1_440;
/// A leap year has every day.
const YEAR_DAYS: usize = 366;

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

/// What of a calendar does not fit the rest of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where.
    pub part: Part,
    /// What is wrong.
    pub message: String,
}

/// A part of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The days of the week.
    Weekend,
    /// The days, by their place in what was given.
    Days(usize),
    /// The blackouts together.
    Blackouts,
}

impl Misfit {
    fn new(part: Part, message: impl Into<String>) -> Self {
        Self { part, message: message.into() }
    }
}

impl Calendar {
    /// The most days that a calendar may name, those of its spans counted.
    pub const DAYS_MAX: usize = 10_000;
    /// The most blackouts.
    pub const BLACKOUTS_MAX: usize = 100;

    /// A calendar. `weekend` are days of the week, 0 for Sunday.
    pub fn new(
        weekend: impl IntoIterator<Item = u8>,
        days: impl IntoIterator<Item = (Days, Holiday)>,
        blackouts: Vec<DailyWindow>,
    ) -> Result<Self, Misfit> {
        let mut calendar = Self { blackouts, ..Self::default() };
        for day in weekend {
            if day > 6 {
                return Err(Misfit::new(Part::Weekend, format!("`{day}` is not 0 (Sunday) to 6")));
            }
            calendar.weekend |= 1 << day;
        }
        let mut named = 0;
        for (at, (days, holiday)) in days.into_iter().enumerate() {
            let misfit = |what: String| Misfit::new(Part::Days(at), what);
            named += days.count();
            if named > Self::DAYS_MAX {
                return Err(misfit(format!("a calendar names at most {} days", Self::DAYS_MAX)));
            }
            calendar.add(days, holiday).map_err(misfit)?;
        }
        if calendar.blackouts.len() > Self::BLACKOUTS_MAX {
            let max = Self::BLACKOUTS_MAX;
            return Err(Misfit::new(Part::Blackouts, format!("a calendar has at most {max} blackouts")));
        }
        if (0..DAY_MINUTES).all(|minute| calendar.blackout_end(minute).is_some()) {
            return Err(Misfit::new(Part::Blackouts, "they leave nothing of a day"));
        }
        Ok(calendar)
    }

    fn add(&mut self, days: Days, holiday: Holiday) -> Result<(), String> {
        let (first, last) = match (days, holiday) {
            (Days::Span(first, last), _) => (first, last),
            (Days::Yearly(month, day), Holiday::Off) => {
                self.yearly.insert((month, day));
                return Ok(());
            }
            (Days::Yearly(..), Holiday::Working) => {
                return Err(format!("`{days}` is a day of every year; name the days with their year"));
            }
        };
        for date in first.series(jiff::Span::new().days(1)).take_while(|date| *date <= last) {
            if self.days.insert(date, holiday).is_some_and(|known| known != holiday) {
                return Err(format!("{date} is said to be off and to be worked"));
            }
        }
        Ok(())
    }

    /// If nothing is to happen at a local second, the first later one of which this calendar does not say so by the same day or
    /// blackout; the end of time when there is none.
    pub(crate) fn leaves_out_until(&self, local: i64) -> Option<i64> {
        let at = Offset::UTC.to_datetime(jiff::Timestamp::from_second(local).ok()?);
        let midnight = local - local.rem_euclid(DAY_SECONDS);
        if !self.is_working_day(at.date()) {
            let days = self.working_day_after(at.date());
            return Some(days.map_or(i64::MAX, |days| midnight + days * DAY_SECONDS));
        }
        let end = self.blackout_end((local - midnight) / 60)?;
        Some(midnight + end * 60)
    }

    /// The minute of the day, or of the next one, at which the blackouts of a minute end.
    fn blackout_end(&self, minute: i64) -> Option<i64> {
        let ends = self.blackouts.iter().filter_map(|window| window.end_after(minute));
        ends.max()
    }

    /// How many days after this one the next is for work.
    fn working_day_after(&self, date: Date) -> Option<i64> {
        let is_work_rare = self.weekend == 0b111_1111 || self.yearly.len() == YEAR_DAYS;
        if is_work_rare {
            let mut later = self.days.range(date.tomorrow().ok()?..);
            let (worked, _) = later.find(|(_, holiday)| **holiday == Holiday::Working)?;
            return Some(i64::from(date.until(*worked).ok()?.get_days()));
        }
        // What is named is bounded, and so are the days in a row without work.
        let days = date.series(jiff::Span::new().days(1)).skip(1).take(Self::DAYS_MAX + 10 * YEAR_DAYS);
        let found = days.into_iter().position(|day| self.is_working_day(day))?;
        Some(found as i64 + 1)
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

impl Days {
    fn count(&self) -> usize {
        match self {
            Self::Span(first, last) => {
                let days = first.until(*last).map_or(0, |span| span.get_days());
                usize::try_from(days).unwrap_or(usize::MAX).saturating_add(1)
            }
            Self::Yearly(..) => 1,
        }
    }
}

impl DailyWindow {
    /// If it holds at a minute of the day, the one at which it ends: of this day, or of the next.
    fn end_after(&self, minute: i64) -> Option<i64> {
        let minute_of = |time: Time| i64::from(time.hour()) * 60 + i64::from(time.minute());
        let (from, until) = (minute_of(self.from), minute_of(self.until));
        match from <= until {
            true => (from <= minute && minute < until).then_some(until),
            false if minute >= from => Some(until + DAY_MINUTES),
            false => (minute < until).then_some(until),
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

    fn leaves_out(calendar: &Calendar, local: i64) -> bool {
        calendar.leaves_out_until(local).is_some()
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
        assert!(leaves_out(&calendar, local("2026-10-01T09:00:00Z")));
        assert!(leaves_out(&calendar, local("2026-10-02T09:00:00Z")));
        assert!(leaves_out(&calendar, local("2026-10-03T09:00:00Z")));
        assert!(
            leaves_out(&calendar, local("2026-12-25T09:00:00Z"))
                && leaves_out(&calendar, local("2029-12-25T09:00:00Z"))
        );
        assert!(!leaves_out(&calendar, local("2028-12-25T09:00:00Z")), "one year is an exception");
        assert!(!leaves_out(&calendar, local("2026-10-10T09:00:00Z")));
        assert!(!leaves_out(&calendar, local("2026-10-12T09:00:00Z")));
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
            assert_eq!(leaves_out(&calendar, local(&format!("2026-10-03T{time}Z"))), left_out, "{time}");
        }
        for wrong in ["22:00", "22-23", "22:00-22:00", "25:00-26:00", "a-b"] {
            assert!(wrong.parse::<DailyWindow>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_left_out_has_an_end() {
        let until = |calendar: &Calendar, text: &str| calendar.leaves_out_until(local(text));
        let days = [(days("2026-10-05"), Holiday::Off), (days("2030-01-01"), Holiday::Working)];
        let calendar = Calendar::new([0, 6], days, vec!["22:00-06:00".parse().unwrap()]).unwrap();
        assert_eq!(until(&calendar, "2026-10-03T12:00:00Z"), Some(local("2026-10-06T00:00:00Z")));
        assert_eq!(until(&calendar, "2026-10-06T00:00:00Z"), Some(local("2026-10-06T06:00:00Z")));
        assert_eq!(until(&calendar, "2026-10-06T23:59:59Z"), Some(local("2026-10-07T06:00:00Z")));
        assert_eq!(until(&calendar, "2026-10-06T21:59:59Z"), None);
        let never = Calendar::new(0..=6, days, vec![]).unwrap();
        assert_eq!(until(&never, "2026-10-03T12:00:00Z"), Some(local("2030-01-01T00:00:00Z")));
        assert_eq!(until(&never, "2030-01-02T12:00:00Z"), Some(i64::MAX));
        let whole: Vec<DailyWindow> = vec!["00:00-12:00".parse().unwrap(), "12:00-00:00".parse().unwrap()];
        assert!(Calendar::new([], [], whole).is_err());
        let again = std::iter::repeat_n((super::Days::Span(date(2000), date(2020)), Holiday::Off), 9);
        assert!(Calendar::new([], again, vec![]).is_err(), "spans that lie over each other count each");
    }

    fn date(year: i16) -> Date {
        Date::constant(year, 1, 1)
    }
}
