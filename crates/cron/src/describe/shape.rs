//! The shape of a set of numbers: all, every so many, one, a range, or a list.

use std::time::Duration;

use crate::cron::Cron;
use crate::field::{YEAR_MIN, bits};

/// What a set looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    All,
    /// From the first value on.
    Every(u8),
    One(u8),
    Range(u8, u8),
    List(Vec<u8>),
}

/// The shape of a set of the values `min` to `max`.
pub(super) fn shape(set: u64, min: u8, max: u8) -> Shape {
    let values: Vec<u8> = bits(set).collect();
    let gap = values.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(0);
    let is_even = values.windows(2).all(|pair| pair[1] - pair[0] == gap);
    match values.as_slice() {
        [] => Shape::List(Vec::new()),
        [only] => Shape::One(*only),
        [first, .., last] if is_even && gap == 1 && (*first, *last) == (min, max) => Shape::All,
        [first, .., last] if is_even && gap == 1 => Shape::Range(*first, *last),
        [first, _, .., last]
            if is_even && gap > 1 && *first == min && u16::from(*last) + u16::from(gap) > u16::from(max) =>
        {
            Shape::Every(gap)
        }
        _ => Shape::List(values),
    }
}

/// The times of day, if they are few.
pub(super) fn times(cron: &Cron) -> Option<Vec<String>> {
    const TIMES_MAX: u32 = 6;
    let count = cron.hours.count_ones() * cron.minutes.count_ones() * cron.seconds.count_ones();
    if count > TIMES_MAX {
        return None;
    }
    let mut times = Vec::new();
    for hour in bits(cron.hours.into()) {
        for minute in bits(cron.minutes) {
            for second in bits(cron.seconds) {
                times.push(match cron.seconds {
                    1 => format!("{hour:02}:{minute:02}"),
                    _ => format!("{hour:02}:{minute:02}:{second:02}"),
                });
            }
        }
    }
    Some(times)
}

/// The years, as ranges.
pub(super) fn years(cron: &Cron) -> Option<Vec<(i16, i16)>> {
    let words = cron.years.as_ref()?;
    let mut ranges: Vec<(i16, i16)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for bit in bits(*word) {
            let year = YEAR_MIN + (at as i16) * 64 + i16::from(bit);
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == year => *last = year,
                _ => ranges.push((year, year)),
            }
        }
    }
    Some(ranges)
}

/// A span of whole seconds as people write it: `1h30m`.
pub(super) fn span(span: Duration) -> String {
    let mut rest = span.as_secs();
    let mut text = String::new();
    for (unit, seconds) in [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)] {
        if rest >= seconds {
            text.push_str(&format!("{}{unit}", rest / seconds));
            rest %= seconds;
        }
    }
    text
}
