//! Moments in integer microseconds since 1970 UTC, as every store and message keeps them.
//!
//! Nothing here reads a clock. The store's clock is the authority; shells follow it and pass `now` in.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
///
/// Kept with its sign bit turned, so that it sorts as it is and zero is free for a moment that is absent: there are millions
/// of those in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct Timestamp(NonZeroU64);

const _: () = assert!(size_of::<Option<Timestamp>>() == 8);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const ZERO: Self = Self::from_micros(0);
    /// Later than every moment that occurs.
    pub const MAX: Self = Self::from_micros(i64::MAX);

    const SIGN: u64 = 1 << 63;

    /// The moment `micros` after 1970 UTC. The earliest that there is stands for the one before it.
    pub const fn from_micros(micros: i64) -> Self {
        match NonZeroU64::new(micros as u64 ^ Self::SIGN) {
            Some(turned) => Self(turned),
            None => Self(NonZeroU64::MIN),
        }
    }
    /// Microseconds since 1970 UTC.
    pub const fn as_micros(self) -> i64 {
        (self.0.get() ^ Self::SIGN) as i64
    }
    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        let micros = self.as_micros().saturating_sub(earlier.as_micros());
        if micros <= 0 { Duration::ZERO } else { Duration::from_micros(micros as u64) }
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<i64> for Timestamp {
    fn from(micros: i64) -> Self {
        Self::from_micros(micros)
    }
}

impl From<Timestamp> for i64 {
    fn from(at: Timestamp) -> Self {
        at.as_micros()
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self::from_micros(
            self.as_micros().saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self::from_micros(
            self.as_micros().saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.as_micros()) {
            Ok(at) => write!(f, "{at:.6}"),
            Err(_) => write!(f, "{} µs", self.as_micros()),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Moments as text for people's files: RFC 3339, such as `2027-01-01T00:00:00Z`.
pub mod text {
    use serde::Serializer;

    use super::Timestamp;

    /// Reads a moment; a text without an offset is refused.
    pub fn parse(text: &str) -> Result<Timestamp, String> {
        let parsed: Result<jiff::Timestamp, _> = text.parse();
        parsed.map(|at| Timestamp::from_micros(at.as_microsecond())).map_err(|_| {
            "write a moment with its offset, such as `2027-01-01T08:00:00+01:00` or `2027-01-01T07:00:00Z`"
                .to_owned()
        })
    }

    /// Writes a moment, without a fraction that is zero.
    pub fn format(at: Timestamp) -> String {
        jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(|_| at.to_string(), |at| at.to_string())
    }

    /// For serde.
    pub fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format(*at))
    }

    /// For moments that may be absent.
    pub mod option {
        use serde::Serializer;

        use super::Timestamp;

        /// For serde.
        pub fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
            match at {
                Some(at) => super::serialize(at, serializer),
                None => serializer.serialize_none(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Timestamp::MAX + Duration::MAX, Timestamp::MAX);
        assert_eq!(Timestamp::ZERO.since(Timestamp::MAX), Duration::ZERO);
        assert_eq!((Timestamp::from_micros(5) + Duration::from_micros(7)).as_micros(), 12);
        assert_eq!((Timestamp::from_micros(5) - Duration::from_micros(7)).as_micros(), -2);
    }

    #[test]
    fn moments_sort_and_survive_their_form() {
        let micros = [i64::MIN + 1, -5, -1, 0, 1, 1_700_000_000_000_000, i64::MAX];
        let moments = micros.map(Timestamp::from_micros);
        assert!(moments.is_sorted());
        assert_eq!(moments.map(Timestamp::as_micros), micros);
        let json = serde_json::to_string(&moments).unwrap();
        assert_eq!(json, serde_json::to_string(&micros).unwrap());
        assert_eq!(serde_json::from_str::<[Timestamp; 7]>(&json).unwrap(), moments);
        assert_eq!(Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MIN + 1));
        assert_eq!(Timestamp::default(), Timestamp::ZERO);
    }

    #[test]
    fn prints_for_people() {
        assert_eq!(Timestamp::from_micros(1_700_000_000_123_456).to_string(), "2023-11-14T22:13:20.123456Z");
        assert_eq!(Timestamp::MAX.to_string(), format!("{} µs", i64::MAX));
    }
}
