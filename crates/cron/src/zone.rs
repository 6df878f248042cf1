//! Where wall clocks are read. The zones come with the program: what is due does not depend on the machine.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::error::Error;

/// A zone of the world.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A stretch of time in which the clocks of a zone are not turned, in seconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first second; none if it has always been so.
    pub(crate) begin: Option<i64>,
    /// The second after its last; none if it stays so.
    pub(crate) end: Option<i64>,
    /// What the wall clock is ahead of UTC.
    pub(crate) offset: i64,
    /// What it was ahead before.
    pub(crate) offset_before: i64,
}

fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// Every name of a zone.
    pub fn names() -> impl Iterator<Item = String> {
        database().available().map(|name| name.to_string())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// What the wall clock is ahead of UTC at this second, in seconds.
    pub fn offset(&self, second: i64) -> i64 {
        self.0.to_offset(timestamp(second)).seconds().into()
    }

    /// What the wall clock shows at this second, in words: `2026-03-29T03:00:00+02:00`.
    pub fn wall_clock(&self, second: i64) -> String {
        let zoned = timestamp(second).to_zoned(self.0.clone());
        format!("{}{}", zoned.datetime(), zoned.offset())
    }

    /// A moment on the wall clock.
    pub fn zoned(&self, at: crate::Micros) -> jiff::Zoned {
        let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
        let at = at.clamp(first.as_microsecond(), last.as_microsecond());
        jiff::Timestamp::from_microsecond(at).unwrap_or(last).to_zoned(self.0.clone())
    }

    /// The stretch that a second is in.
    pub(crate) fn stretch(&self, second: i64) -> Stretch {
        let mut begin = self.turn_before(second);
        let end = self.turn_after(second);
        // Just after the last turn that the zone's table names, the library looks back by the rule for what follows the table
        // and may name an earlier one, or one that never was (America/Ciudad_Juarez, 2022-11-30). Looking ahead it does not.
        while let Some(later) =
            begin.and_then(|begin| self.turn_after(begin)).filter(|later| *later <= second)
        {
            begin = Some(later);
        }
        let offset = self.offset(second);
        let offset_before = begin.map_or(offset, |begin| self.offset(begin - 1));
        Stretch { begin, end, offset, offset_before }
    }

    fn turn_before(&self, second: i64) -> Option<i64> {
        // `preceding` looks before its argument, and the turn may be at this very second.
        let last = self.0.preceding(timestamp(second.saturating_add(1))).next();
        last.map(|turn| turn.timestamp().as_second())
    }

    fn turn_after(&self, second: i64) -> Option<i64> {
        self.0.following(timestamp(second)).next().map(|turn| turn.timestamp().as_second())
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl FromStr for Zone {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if name == "UTC" {
            return Ok(Self::UTC);
        }
        let zone = database().get(name).map_err(|_| {
            Error::new(format!(
                "`{name}` is not a zone; write one such as Europe/Berlin, Asia/Shanghai or UTC"
            ))
        })?;
        Ok(Self(zone))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The library's moment. What it cannot hold is its end.
fn timestamp(second: i64) -> jiff::Timestamp {
    let (first, last) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    jiff::Timestamp::from_second(second.clamp(first + 1, last - 1)).unwrap_or(jiff::Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_by_name_whatever_the_machine_has() {
        assert_eq!("europe/berlin".parse::<Zone>().unwrap().name(), "Europe/Berlin");
        assert_eq!("UTC".parse::<Zone>().unwrap(), Zone::UTC);
        assert!("Mars/Olympus".parse::<Zone>().unwrap_err().to_string().contains("Europe/Berlin"));
        assert!(Zone::names().count() > 400);
    }

    #[test]
    fn clocks_are_turned_at_the_ends_of_a_stretch() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        // 2026-03-29 01:00 UTC.
        let turned = 1_774_746_000;
        let before = berlin.stretch(turned - 1);
        assert_eq!((before.offset, before.end), (3_600, Some(turned)));
        let after = berlin.stretch(turned);
        assert_eq!((after.begin, after.offset, after.offset_before), (Some(turned), 7_200, 3_600));
        assert_eq!(berlin.wall_clock(turned), "2026-03-29T03:00:00+02");
        // The last turn of a table, after which a rule holds that would have turned the clocks three weeks before.
        let juarez: Zone = "America/Ciudad_Juarez".parse().unwrap();
        let turned = 1_669_788_000;
        let after = juarez.stretch(turned + 60);
        assert_eq!((after.begin, after.offset_before, after.offset), (Some(turned), -21_600, -25_200));
        let utc = Zone::UTC.stretch(turned);
        assert_eq!((utc.begin, utc.end, utc.offset), (None, None, 0));
    }
}
