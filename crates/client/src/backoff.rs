//! Waits that double, up to a cap, with a part left to chance so that many callers do not come back at once.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Waits before trying again.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    base: Duration,
    cap: Duration,
    tries: u32,
}

impl Backoff {
    pub(crate) fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, tries: 0 }
    }

    /// The next wait: between half and the whole of what doubling gives.
    pub(crate) fn next(&mut self) -> Duration {
        let whole = self.base.saturating_mul(1 << self.tries.min(16)).min(self.cap);
        self.tries = self.tries.saturating_add(1);
        whole / 2 + whole.mul_f64((chance() >> 11) as f64 / (1_u64 << 53) as f64 / 2.0)
    }

    /// How many waits there were.
    pub(crate) fn tries(&self) -> u32 {
        self.tries
    }

    /// All is well again.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}

/// Any number; the standard library seeds every hasher anew.
pub(crate) fn chance() -> u64 {
    RandomState::new().hash_one(0_u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for whole in [100, 200, 400, 800, 1000, 1000] {
            let wait = backoff.next().as_millis();
            assert!((whole / 2..=whole).contains(&wait), "{wait} of {whole}");
        }
        backoff.reset();
        assert!(backoff.next().as_millis() <= 100);
    }
}
