//! Chance from a seed: SplitMix64. Separate streams for separate concerns, so that taking one fault out of
//! a plan does not reshuffle the rest.

use mainspring_model::hash::mix;

/// A stream of numbers that depends on nothing but its seed.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The stream of `seed` for one `concern`.
    pub(crate) fn new(seed: u64, concern: &str) -> Self {
        Self(mix(seed ^ mainspring_model::hash::bytes(concern.as_bytes())))
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// From `low` up to but not including `high`.
    pub(crate) fn range(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "an empty range {low}..{high}");
        low + (self.next() % (high - low) as u64) as i64
    }

    /// An index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        (self.next() % len as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// 128 bits, for ids.
    pub(crate) fn bits(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}
