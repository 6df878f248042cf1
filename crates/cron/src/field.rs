//! The sets that the fields of an expression are read into, and which days of a month they mean.

use jiff::civil::Date;

/// A field of an expression: its name, its values, and the words for them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) min: u8,
    pub(crate) max: u8,
    /// Words for the values from `min` on.
    pub(crate) words: &'static [&'static str],
    /// The last value that a hash chooses: every month has it.
    pub(crate) hash_max: u8,
    /// What the hash of this field is drawn from beside the job: no two fields share it.
    pub(crate) place: u8,
}

pub(crate) const SECOND: Field =
    Field { name: "second", min: 0, max: 59, words: &[], hash_max: 59, place: 0 };
pub(crate) const MINUTE: Field =
    Field { name: "minute", min: 0, max: 59, words: &[], hash_max: 59, place: 1 };
pub(crate) const HOUR: Field = Field { name: "hour", min: 0, max: 23, words: &[], hash_max: 23, place: 2 };
pub(crate) const DAY: Field =
    Field { name: "day of month", min: 1, max: 31, words: &[], hash_max: 28, place: 3 };
pub(crate) const MONTH: Field =
    Field { name: "month", min: 1, max: 12, words: &MONTHS, hash_max: 12, place: 4 };
/// 7 is Sunday, too.
pub(crate) const WEEKDAY: Field =
    Field { name: "day of week", min: 0, max: 7, words: &WEEKDAYS, hash_max: 6, place: 5 };

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// The first and the last year that an expression may name.
pub(crate) const YEAR_MIN: i16 = 1970;
pub(crate) const YEAR_MAX: i16 = 2199;

/// The days of the month of an expression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Days {
    /// Whether the field says nothing.
    pub(crate) any: bool,
    /// Bit `n`: day n.
    pub(crate) days: u32,
    /// Bit `n`: n days before the last.
    pub(crate) before_last: u32,
    /// Bit `n`: the weekday nearest to day n.
    pub(crate) nearest: u32,
    /// Bit `n`: the weekday nearest to n days before the last.
    pub(crate) nearest_before_last: u32,
}

/// The days of the week of an expression; bit 0 is Sunday.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Weekdays {
    /// Whether the field says nothing.
    pub(crate) any: bool,
    pub(crate) days: u8,
    /// The last of the month.
    pub(crate) last: u8,
    /// The first to the fifth of the month.
    pub(crate) nth: [u8; 5],
}

/// A month: how long it is, and on which day of the week it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Month {
    length: u8,
    /// 0 is Sunday.
    first: u8,
}

impl Month {
    pub(crate) fn of(year: i16, month: i8) -> Option<Self> {
        let date = Date::new(year, month, 1).ok()?;
        let first = date.weekday().to_sunday_zero_offset();
        Some(Self { length: date.days_in_month().unsigned_abs(), first: first.unsigned_abs() })
    }

    /// All of its days; bit `n` is day n.
    pub(crate) fn all(self) -> u32 {
        (u32::MAX >> (31 - self.length)) & !1
    }

    fn weekday(self, day: u8) -> u8 {
        (self.first + day - 1) % 7
    }

    /// The weekday from Monday to Friday nearest to a day, in the same month.
    fn nearest(self, day: u8) -> u8 {
        match self.weekday(day) {
            6 if day == 1 => 3,
            6 => day - 1,
            0 if day == self.length => day - 2,
            0 => day + 1,
            _ => day,
        }
    }
}

impl Days {
    /// Which days of a month it means.
    pub(crate) fn of(&self, month: Month) -> u32 {
        let mut found = self.days & month.all();
        for back in bits(self.before_last.into()) {
            found |= 1 << month.length.saturating_sub(back);
        }
        for day in bits((self.nearest & month.all()).into()) {
            found |= 1 << month.nearest(day);
        }
        for back in bits(self.nearest_before_last.into()) {
            if back < month.length {
                found |= 1 << month.nearest(month.length - back);
            }
        }
        found & month.all()
    }
}

impl Weekdays {
    /// Which days of a month it means.
    pub(crate) fn of(&self, month: Month) -> u32 {
        let mut found = 0;
        for day in 1..=month.length {
            let bit = 1u8 << month.weekday(day);
            let nth = self.nth[usize::from((day - 1) / 7)];
            let last = if day + 7 > month.length { self.last } else { 0 };
            if (self.days | nth | last) & bit != 0 {
                found |= 1 << day;
            }
        }
        found
    }
}

/// The numbers of the bits that are set, the lowest first.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.checked_sub(1)?;
        Some(lowest as u8)
    })
}

/// The lowest bit that is set, from bit `from` on.
pub(crate) fn first_from(set: u64, from: u32) -> Option<u32> {
    let rest = if from < 64 { set >> from << from } else { 0 };
    (rest != 0).then(|| rest.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days_of(set: u32) -> Vec<u8> {
        bits(set.into()).collect()
    }

    #[test]
    fn days_are_counted_from_both_ends() {
        let february = Month::of(2024, 2).unwrap();
        let days = Days { days: 1 << 31 | 1 << 5, before_last: 1 | 1 << 28 | 1 << 30, ..Days::default() };
        assert_eq!(days_of(days.of(february)), [1, 5, 29]);
        assert_eq!(days_of(february.all()).len(), 29);
    }

    #[test]
    fn the_nearest_weekday_stays_in_its_month() {
        // August 2026 begins on a Saturday; May 2026 ends on a Sunday.
        let (august, may) = (Month::of(2026, 8).unwrap(), Month::of(2026, 5).unwrap());
        let near = |day: u32| Days { nearest: 1 << day, ..Days::default() };
        assert_eq!(days_of(near(1).of(august)), [3]);
        assert_eq!(days_of(near(15).of(august)), [14]);
        assert_eq!(days_of(near(16).of(august)), [17]);
        assert_eq!(days_of(near(31).of(may)), [29]);
        let last = Days { nearest_before_last: 1, ..Days::default() };
        assert_eq!(days_of(last.of(may)), [29]);
        assert_eq!(days_of(near(31).of(Month::of(2026, 6).unwrap())), [0u8; 0]);
    }

    #[test]
    fn weekdays_are_counted_in_the_month() {
        let november = Month::of(2026, 11).unwrap(); // begins on a Sunday
        let weekdays = |days, last, third| Weekdays { any: false, days, last, nth: [0, 0, third, 0, 0] };
        assert_eq!(days_of(weekdays(1, 0, 0).of(november)), [1, 8, 15, 22, 29]);
        assert_eq!(days_of(weekdays(0, 1 << 5, 0).of(november)), [27]);
        assert_eq!(days_of(weekdays(0, 0, 1 << 5).of(november)), [20]);
    }

    #[test]
    fn sets_are_walked_from_the_lowest() {
        assert_eq!(bits(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(bits(0).next(), None);
        assert_eq!((first_from(0b1010, 2), first_from(0b1010, 4), first_from(1, 64)), (Some(3), None, None));
    }
}
