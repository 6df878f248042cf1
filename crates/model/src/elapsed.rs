//! Elapsed time of one host: what leases, silence and timeouts are counted on.
//!
//! Read from `CLOCK_BOOTTIME`: it never jumps, and it goes on while the machine is suspended. It begins at an arbitrary
//! point, so a reading has no meaning on another host or after a restart and is never written to a row. Moments that rows
//! hold are [`crate::Timestamp`]; the two are different types, so they cannot be compared by mistake.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A reading of this host's elapsed clock, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Elapsed(i64);

impl Elapsed {
    /// The arbitrary beginning.
    pub const ZERO: Self = Self(0);
    /// Later than every reading that occurs.
    pub const MAX: Self = Self(i64::MAX);

    /// The reading `micros` after the beginning.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the beginning.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        if micros <= 0 { Duration::ZERO } else { Duration::from_micros(micros as u64) }
    }
}

impl Add<Duration> for Elapsed {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Elapsed {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Debug for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:.6}s", self.0 as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Elapsed::MAX + Duration::MAX, Elapsed::MAX);
        assert_eq!(Elapsed::ZERO.since(Elapsed::MAX), Duration::ZERO);
        assert_eq!((Elapsed::from_micros(5) - Duration::from_micros(7)).as_micros(), -2);
        assert_eq!(Elapsed::from_micros(7).since(Elapsed::from_micros(5)), Duration::from_micros(2));
    }
}
