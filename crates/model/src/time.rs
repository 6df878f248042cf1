//! Moments in integer microseconds since 1970 UTC, as every store and message keeps them.
//!
//! Nothing here reads a clock. The store's clock is the authority; shells follow it and pass `now` in.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const ZERO: Self = Self(0);
    /// Later than every moment that occurs.
    pub const MAX: Self = Self(i64::MAX);

    /// The moment `micros` after 1970 UTC.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }
    /// Microseconds since 1970 UTC.
    pub const fn as_micros(self) -> i64 {
        self.0
    }
    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        if micros <= 0 { Duration::ZERO } else { Duration::from_micros(micros as u64) }
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(at) => write!(f, "{at:.6}"),
            Err(_) => write!(f, "{} µs", self.0),
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
    fn prints_for_people() {
        assert_eq!(Timestamp::from_micros(1_700_000_000_123_456).to_string(), "2023-11-14T22:13:20.123456Z");
        assert_eq!(Timestamp::MAX.to_string(), format!("{} µs", i64::MAX));
    }
}
