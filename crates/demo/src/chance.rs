//! Chance from a seed: SplitMix64. A stream for each concern, so that one more draw here changes nothing elsewhere.

use std::f64::consts::TAU;

use mainspring_model::hash::{bytes, mix};

/// A stream of numbers that depends on nothing but its seed.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The stream of `seed` for one `concern`.
    pub(crate) fn new(seed: u64, concern: &str) -> Self {
        Self(mix(seed ^ bytes(concern.as_bytes())))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// From `low` up to and including `high`.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// True in `permille` of 1,000 cases.
    pub(crate) fn permille(&mut self, permille: u64) -> bool {
        self.next() % 1_000 < permille
    }

    /// Above 0 and at most 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A log-normal number: as often below `median` as above it, and rarely many times as large.
    pub(crate) fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        let normal = (-2.0 * self.unit().ln()).sqrt() * (TAU * self.unit()).cos();
        median * (spread * normal).clamp(-3.0, 3.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_log_normal_numbers_are_below_the_median() {
        let mut chance = Chance::new(7, "durations");
        let drawn: Vec<f64> = (0..10_000).map(|_| chance.log_normal(90.0, 0.4)).collect();
        let below = drawn.iter().filter(|number| **number < 90.0).count();
        assert!((4_800..5_200).contains(&below), "{below}");
        assert!(drawn.iter().all(|number| (90.0 / 21.0..90.0 * 21.0).contains(number)));
    }

    #[test]
    fn concerns_are_apart_and_seeds_repeat() {
        let draw = |seed, concern| Chance::new(seed, concern).within(0, u64::MAX - 1);
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }
}
