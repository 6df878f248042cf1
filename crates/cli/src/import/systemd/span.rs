//! Spans of time as systemd writes them: `5min 20s`, `1.5h`, `90`, `infinity`.

use std::time::Duration;

/// Units in microseconds. A month is a twelfth of a year of 365.25 days.
const UNITS: &[(&[&str], u64)] = &[
    (&["usec", "us", "µs", "μs"], 1),
    (&["msec", "ms"], 1_000),
    (&["seconds", "second", "sec", "s", ""], 1_000_000),
    (&["minutes", "minute", "min", "m"], 60_000_000),
    (&["hours", "hour", "hr", "h"], 3_600_000_000),
    (&["days", "day", "d"], 86_400_000_000),
    (&["weeks", "week", "w"], 604_800_000_000),
    (&["months", "month", "M"], 2_629_800_000_000),
    (&["years", "year", "y"], 31_557_600_000_000),
];

/// Reads a span; none is for ever.
pub(super) fn parse(text: &str) -> Result<Option<Duration>, String> {
    if text == "infinity" {
        return Ok(None);
    }
    let wrong = || format!("`{text}` is not a span of time");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    let mut total = 0u64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        let unit = UNITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, unit)| *unit);
        let part = unit.and_then(|unit| micros(number, unit));
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        rest = after.trim_start();
    }
    Ok(Some(Duration::from_micros(total)))
}

/// A number with decimals, times a unit.
fn micros(number: &str, unit: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()?.checked_mul(unit)? };
    let mut part = 0u64;
    let mut unit = unit;
    for digit in decimals.chars() {
        unit /= 10;
        part = part.checked_add(unit.checked_mul(u64::from(digit.to_digit(10)?))?)?;
    }
    whole.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_systemd_does() {
        for (text, millis) in [
            ("90", Some(90_000)),
            ("5min 20s", Some(320_000)),
            ("1h30min", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("2 hours", Some(7_200_000)),
            ("250ms", Some(250)),
            ("1w", Some(604_800_000)),
            ("1M", Some(2_629_800_000)),
            ("1y", Some(31_557_600_000)),
            ("0", Some(0)),
            (".5s", Some(500)),
        ] {
            assert_eq!(parse(text), Ok(millis.map(Duration::from_millis)), "{text}");
        }
        assert_eq!(parse("infinity"), Ok(None));
        for text in ["", "x", "5 parsecs", "1..2s", "-1s", "99999999999999999999s", "s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
