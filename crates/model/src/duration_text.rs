//! Durations as people write them: `30s`, `1h30m`, `250ms`, `7d`.
//!
//! Whole numbers with a unit, largest unit first, each unit at most once. A bare number is refused,
//! because nobody can tell seconds from milliseconds; a fraction is refused, because `1.5h` has the exact
//! spelling `1h30m`. What is printed here is read back as the same duration, to the microsecond.
//!
//! The module is also a serde adaptor: `#[serde(with = "duration_text")]`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

use crate::limits::DURATION_MAX;

/// The units, largest first, in microseconds.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// The pattern of the text form, for the JSON Schema; empty text matches it too.
pub const PATTERN: &str = "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?([0-9]+us)?$";

/// Text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Nothing was written.
    #[error("expected a duration such as `30s` or `1h30m`, found empty text")]
    Empty,
    /// A number stands without a unit.
    #[error("`{0}` has no unit: write `{0}s`, `{0}m`, `{0}h` or `{0}d`")]
    NoUnit(String),
    /// A fraction.
    #[error("`{0}` has a fraction: write whole numbers, such as `1h30m` or `1500ms`")]
    Fraction(String),
    /// A unit that is not known.
    #[error("`{0}` is not a unit of time: use d, h, m, s, ms or us")]
    Unit(String),
    /// Units repeated or from small to large.
    #[error("`{0}` names a unit twice or a larger unit after a smaller one: write it as `1h30m`")]
    Order(String),
    /// Something else than numbers and units.
    #[error("`{0}` is not a duration such as `30s` or `1h30m`")]
    Shape(String),
    /// Longer than any duration may be.
    #[error("`{0}` is longer than the longest duration, {max}", max = format(DURATION_MAX))]
    TooLong(String),
}

/// Reads a duration.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    if text.contains('.') {
        return Err(DurationError::Fraction(text.into()));
    }
    let mut rest = text;
    let mut total_us: u64 = 0;
    let mut next_unit = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        if number.is_empty() {
            return Err(DurationError::Shape(text.into()));
        }
        let unit_len = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_len);
        if unit.is_empty() {
            return Err(DurationError::NoUnit(number.into()));
        }
        let index = UNITS
            .iter()
            .position(|(name, _)| *name == unit)
            .ok_or_else(|| DurationError::Unit(unit.into()))?;
        if index < next_unit {
            return Err(DurationError::Order(text.into()));
        }
        next_unit = index + 1;
        total_us = number
            .parse::<u64>()
            .ok()
            .and_then(|n| n.checked_mul(UNITS[index].1))
            .and_then(|us| total_us.checked_add(us))
            .ok_or_else(|| DurationError::TooLong(text.into()))?;
        rest = after;
    }
    let duration = Duration::from_micros(total_us);
    if duration > DURATION_MAX { Err(DurationError::TooLong(text.into())) } else { Ok(duration) }
}

/// Writes a duration in its one canonical form. Parts below a microsecond are dropped.
pub fn format(duration: Duration) -> String {
    DurationText(duration).to_string()
}

/// A duration that displays in the text form.
#[derive(Debug, Clone, Copy)]
pub struct DurationText(pub Duration);

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_micros();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (name, micros) in UNITS {
            let count = rest / u128::from(micros);
            rest %= u128::from(micros);
            if count > 0 {
                write!(f, "{count}{name}")?;
            }
        }
        Ok(())
    }
}

/// Serializes a duration as text.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&DurationText(*duration))
}

/// Deserializes a duration from text.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    parse(&Cow::<'de, str>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// The same for `Option<Duration>`; use with `skip_serializing_if` and `default`.
pub mod option {
    use super::*;

    /// Serializes a duration as text, and none as null.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Deserializes a duration from text, and none from null.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Option::<Cow<'de, str>>::deserialize(deserializer)?
            .map(|text| parse(&text).map_err(serde::de::Error::custom))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<u64, &str>) {
        match (parse(text), expected) {
            (Ok(duration), Ok(micros)) => {
                assert_eq!(duration, Duration::from_micros(micros), "{text}");
                assert_eq!(parse(&format(duration)), Ok(duration), "{text} printed as {}", format(duration));
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{text}: {error}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn reads_whole_numbers_with_units() {
        check("0s", Ok(0));
        check("30s", Ok(30_000_000));
        check("1h30m", Ok(5_400_000_000));
        check("90m", Ok(5_400_000_000));
        check("250ms", Ok(250_000));
        check("1m1ms", Ok(60_001_000));
        check("7d", Ok(604_800_000_000));
        check("1d2h3m4s5ms6us", Ok(93_784_005_006));
    }

    #[test]
    fn refuses_and_says_what_to_write() {
        check("", Err("empty text"));
        check("30", Err("write `30s`"));
        check("1h30", Err("`30` has no unit"));
        check("1.5h", Err("write whole numbers"));
        check("30 s", Err("not a unit"));
        check("30sec", Err("`sec` is not a unit"));
        check("s", Err("not a duration"));
        check("-1s", Err("not a duration"));
        check("30m1h", Err("a larger unit after a smaller one"));
        check("1s1s", Err("names a unit twice"));
        check("99999999999999999999s", Err("longer than"));
        check("999999d", Err("longer than"));
    }

    #[test]
    fn prints_the_shortest_canonical_form() {
        for (micros, text) in [(0, "0s"), (5_400_000_000, "1h30m"), (1_500_000, "1s500ms"), (1, "1us")] {
            assert_eq!(format(Duration::from_micros(micros)), text);
        }
    }
}
