//! An interval that is counted from 1970: the same moments on every machine and after every restart.

use std::time::Duration;

use mainspring_model::{Timestamp, duration_text};

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

    /// `90s`, or `6h/1h` for an hour later.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let read = |part: &str| {
            let part = part.trim();
            duration_text::parse(part)
                .map_err(|error| Error::new(format!("`{part}`: {error}; write `90s` or `6h/1h`")))
        };
        match text.split_once('/') {
            Some((period, offset)) => Self::new(read(period)?, read(offset)?),
            None => Self::new(read(text)?, Duration::ZERO),
        }
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
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let micros = |span: Duration| i64::try_from(span.as_micros()).ok();
        let (period, offset) = (micros(self.period)?, micros(self.offset)?);
        let passed = after.as_micros().checked_sub(offset)?.div_euclid(period);
        let next = passed.checked_add(1)?.checked_mul(period)?.checked_add(offset)?;
        Some(Timestamp::from_micros(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, after: i64, next: i64) {
        let every = Every::parse(text).unwrap();
        let found = every.next(Timestamp::from_micros(after * 1_000_000)).unwrap();
        assert_eq!(found, Timestamp::from_micros(next * 1_000_000), "{text} after {after}");
    }

    #[test]
    fn moments_are_counted_from_1970() {
        check("90s", 0, 90);
        check("90s", 89, 90);
        check("90s", 90, 180);
        check("90s", -1, 0);
        check("6h/1h", 0, 3_600);
        check("6h/1h", 3_600, 7 * 3_600);
        check("1s", 1_774_746_000, 1_774_746_001);
        assert_eq!(Every::parse("1s").unwrap().next(Timestamp::MAX), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in ["0s", "500ms", "5", "6h/6h", "20y", "1h/", "x"] {
            assert!(Every::parse(wrong).is_err(), "{wrong}");
        }
    }
}
