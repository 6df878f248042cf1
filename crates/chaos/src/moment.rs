//! Moments as microseconds since 1970 UTC, of this host's clock and of RFC 3339 text in UTC as the API writes it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970 UTC.
pub(crate) type MicrosSinceEpoch = i64;

pub(crate) const SECOND: MicrosSinceEpoch = 1_000_000;

/// This host's time. Every process of the cluster is on this host.
pub(crate) fn now() -> MicrosSinceEpoch {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Reads `2026-11-18T15:43:30.123456Z`, with any number of decimals.
pub(crate) fn parse(text: &str) -> Option<MicrosSinceEpoch> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let (time, decimals) = time.split_once('.').unwrap_or((time, ""));
    let mut time = time.splitn(3, ':').map(str::parse::<i64>);
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let micros: i64 = format!("{decimals:0<6}").get(..6)?.parse().ok()?;
    let seconds = ((days_since_epoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * SECOND + micros)
}

/// Days since 1970-01-01 of a date of the Gregorian calendar; years begin in March here, so that a leap day is the last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read() {
        let check = |text: &str, expected| assert_eq!(parse(text), expected, "{text}");
        check("1970-01-01T00:00:00Z", Some(0));
        check("1970-01-01T00:00:01.5Z", Some(1_500_000));
        check("2000-02-29T12:00:00.000001Z", Some(951_825_600_000_001));
        check("2026-11-18T15:43:30.123456789Z", Some(1_795_016_610_123_456));
        check("2026-11-18 15:43:30", None);
        check("yesterday", None);
    }
}
