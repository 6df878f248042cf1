//! Back-off: how long a run waits before its next retry.
//!
//! A pure function of the retry's number and of a number that the caller derives from the run's id, so
//! every replay waits the same. It saturates: no number of retries overflows it.

use std::time::Duration;

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::duration_text;
use crate::spec::schema;

/// How long a run waits before its next retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Backoff {
    /// How the wait grows.
    #[serde(flatten)]
    pub curve: Curve,
    /// The longest wait.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text", skip_serializing_if = "is_default_cap")]
    pub cap: Duration,
    /// The part of each wait that chance may take away, so that runs that failed together spread out.
    #[schema(value_type = f64, minimum = 0, maximum = 1)]
    #[serde(skip_serializing_if = "Jitter::is_default")]
    pub jitter: Jitter,
}

/// How the wait grows from retry to retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Curve {
    /// No wait.
    None,
    /// The same wait each time.
    Fixed {
        /// The first wait.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        base: Duration,
    },
    /// A wait that grows by the same step each time.
    Linear {
        /// The first wait.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        base: Duration,
        /// What each further wait adds.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        step: Duration,
    },
    /// A wait that doubles each time.
    Exponential {
        /// The first wait.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        base: Duration,
    },
    /// A wait that grows by the Fibonacci numbers: 1, 1, 2, 3, 5, 8 times the base.
    Fibonacci {
        /// The first wait.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        base: Duration,
    },
}

/// A fraction from 0 to 1 in whole thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Jitter(u16);

impl Backoff {
    /// The first wait of a job that names none.
    pub const BASE_DEFAULT: Duration = Duration::from_secs(2);
    /// The longest wait of a job that names none.
    pub const CAP_DEFAULT: Duration = Duration::from_secs(5 * 60);

    /// A back-off of this shape with the default cap and jitter.
    pub const fn new(curve: Curve) -> Self {
        Self { curve, cap: Self::CAP_DEFAULT, jitter: Jitter::DEFAULT }
    }

    /// The wait before retry `retry_number`, where 1 is the first retry. `unit_random` stands for a number
    /// between 0 and 1: derive it from the run and the retry, so that a replay gets the same.
    pub fn delay(&self, retry_number: u32, unit_random: u64) -> Duration {
        let steps = u64::from(retry_number.saturating_sub(1));
        let wait_us = match &self.curve {
            Curve::None => 0,
            Curve::Fixed { base } => micros(*base),
            Curve::Linear { base, step } => micros(*base).saturating_add(micros(*step).saturating_mul(steps)),
            Curve::Exponential { base } => {
                let factor = 1u64.checked_shl(u32::try_from(steps).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
                micros(*base).saturating_mul(factor)
            }
            Curve::Fibonacci { base } => micros(*base).saturating_mul(fibonacci(steps)),
        };
        let capped_us = wait_us.min(micros(self.cap));
        Duration::from_micros(capped_us - self.jitter.part_of(capped_us, unit_random))
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new(Curve::Exponential { base: Self::BASE_DEFAULT })
    }
}

impl Curve {
    /// The shape's word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fixed { .. } => "fixed",
            Self::Linear { .. } => "linear",
            Self::Exponential { .. } => "exponential",
            Self::Fibonacci { .. } => "fibonacci",
        }
    }
}

impl Jitter {
    /// The jitter of a job that names none.
    pub const DEFAULT: Self = Self(100);
    /// No jitter.
    pub const NONE: Self = Self(0);

    /// A jitter of so many thousandths, at most 1000.
    pub const fn from_milli(milli: u16) -> Option<Self> {
        if milli <= 1000 { Some(Self(milli)) } else { None }
    }

    /// The fraction in thousandths.
    pub const fn as_milli(self) -> u16 {
        self.0
    }

    /// What chance takes away from `whole`.
    fn part_of(self, whole: u64, unit_random: u64) -> u64 {
        let most = u128::from(whole) * u128::from(self.0) / 1000;
        ((most * u128::from(unit_random)) >> 64) as u64
    }

    fn is_default(&self) -> bool {
        *self == Self::DEFAULT
    }
}

impl Serialize for Jitter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn fibonacci(steps: u64) -> u64 {
    let (mut this, mut next) = (1u64, 1u64);
    // 93 steps reach the largest Fibonacci number of 64 bits.
    for _ in 0..steps.min(93) {
        (this, next) = (next, this.saturating_add(next));
    }
    this
}

fn is_default_cap(cap: &Duration) -> bool {
    *cap == Backoff::CAP_DEFAULT
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn check(curve: Curve, cap_seconds: u64, expected_seconds: &[u64]) {
        let backoff = Backoff { curve, cap: Duration::from_secs(cap_seconds), jitter: Jitter::NONE };
        let delays: Vec<u64> =
            (1..=expected_seconds.len() as u32).map(|n| backoff.delay(n, u64::MAX).as_secs()).collect();
        assert_eq!(delays, expected_seconds, "{backoff:?}");
        assert!(backoff.delay(u32::MAX, 7) <= backoff.cap);
        assert_eq!(backoff.delay(0, 0), backoff.delay(1, 0));
    }

    #[test]
    fn grows_by_its_shape_up_to_the_cap() {
        check(Curve::None, 60, &[0, 0, 0]);
        check(Curve::Fixed { base: 5 * SECOND }, 60, &[5, 5, 5]);
        check(Curve::Linear { base: 5 * SECOND, step: 10 * SECOND }, 30, &[5, 15, 25, 30, 30]);
        check(Curve::Exponential { base: 2 * SECOND }, 20, &[2, 4, 8, 16, 20, 20]);
        check(Curve::Exponential { base: Duration::ZERO }, 20, &[0, 0]);
        check(Curve::Fibonacci { base: SECOND }, 10, &[1, 1, 2, 3, 5, 8, 10, 10]);
    }

    #[test]
    fn saturates() {
        for curve in [
            Curve::Linear { base: Duration::MAX, step: Duration::MAX },
            Curve::Exponential { base: SECOND },
            Curve::Fibonacci { base: SECOND },
        ] {
            let backoff = Backoff { curve, cap: Duration::MAX, jitter: Jitter::NONE };
            for retry in [1, 63, 64, 65, 94, 1000, u32::MAX] {
                assert!(backoff.delay(retry, 0) >= SECOND);
            }
        }
    }

    #[test]
    fn jitter_only_shortens() {
        let jitter = Jitter::from_milli(200).unwrap();
        let backoff = Backoff { curve: Curve::Fixed { base: 10 * SECOND }, cap: 60 * SECOND, jitter };
        assert_eq!(backoff.delay(1, 0), 10 * SECOND);
        assert_eq!(backoff.delay(1, u64::MAX / 2), Duration::from_micros(9_000_001));
        assert_eq!(backoff.delay(1, u64::MAX), Duration::from_micros(8_000_001));
        assert_eq!(Jitter::from_milli(1001), None);
    }
}
