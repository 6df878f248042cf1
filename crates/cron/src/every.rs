//! An interval that is counted from 1970: the same moments on every machine and after every restart.

use std::time::Duration;

use crate::Micros;
use crate::error::Error;

/// Every so often, from 1970 on, so much later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    period: Duration,
    offset: Duration,
}

impl Every {
    /// The shortest period.
    pub const PERIOD_MIN: Duration = Duration::from_secs(1);
    /// The longest.
    pub const PERIOD_MAX: Duration = Duration::from_secs(366 * 86_400 * 10);

    /// Every `period`, `offset` later.
    pub fn new(period: Duration, offset: Duration) -> Result<Self, Error> {
        if !(Self::PERIOD_MIN..=Self::PERIOD_MAX).contains(&period) {
            return Err(Error::new("an interval is at least 1s and at most ten years"));
        }
        if period.subsec_micros() != 0 || offset.subsec_micros() != 0 {
            return Err(Error::new("an interval and its offset are whole seconds"));
        }
        if offset >= period {
            return Err(Error::new("the offset of an interval is shorter than the interval"));
        }
        Ok(Self { period, offset })
    }

    /// How often.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// How much later than counted from 1970.
    pub fn offset(&self) -> Duration {
        self.offset
    }

    /// The first moment later than `after`; none beyond the end of time.
    pub fn next(&self, after: Micros) -> Option<Micros> {
        let micros = |span: Duration| i64::try_from(span.as_micros()).ok();
        let (period, offset) = (micros(self.period)?, micros(self.offset)?);
        let passed = after.checked_sub(offset)?.div_euclid(period);
        passed.checked_add(1)?.checked_mul(period)?.checked_add(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MICROS;

    fn every(period: u64, offset: u64) -> Result<Every, Error> {
        Every::new(Duration::from_secs(period), Duration::from_secs(offset))
    }

    fn check(period: u64, offset: u64, after: i64, next: i64) {
        let found = every(period, offset).unwrap().next(after * MICROS);
        assert_eq!(found, Some(next * MICROS), "{period}/{offset} after {after}");
    }

    #[test]
    fn moments_are_counted_from_1970() {
        check(90, 0, 0, 90);
        check(90, 0, 89, 90);
        check(90, 0, 90, 180);
        check(90, 0, -1, 0);
        check(21_600, 3_600, 0, 3_600);
        check(21_600, 3_600, 3_600, 7 * 3_600);
        check(1, 0, 1_774_746_000, 1_774_746_001);
        assert_eq!(every(1, 0).unwrap().next(Micros::MAX), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(every(0, 0).is_err() && every(60, 60).is_err() && every(20 * 366 * 86_400, 0).is_err());
        assert!(Every::new(Duration::from_millis(1_500), Duration::ZERO).is_err());
    }
}
