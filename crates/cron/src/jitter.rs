//! A delay that is chance for those who look at many, and always the same for one.

use std::time::Duration;

use crate::{Micros, hash};

/// How much later a planned moment fires: less than `at_most`, the same whenever it is asked.
pub fn jitter(seed: u64, planned: Micros, at_most: Duration) -> Duration {
    let micros = u64::try_from(at_most.as_micros()).unwrap_or(u64::MAX);
    if micros == 0 {
        return Duration::ZERO;
    }
    Duration::from_micros(hash::mix(seed ^ hash::mix(planned as u64)) % micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_stable_bounded_and_spread() {
        let minute = Duration::from_secs(60);
        let of = |n: i64| jitter(7, n * 3_600_000_000, minute);
        assert_eq!(of(5), of(5));
        assert_eq!(jitter(7, 0, Duration::ZERO), Duration::ZERO);
        let all: Vec<Duration> = (0..1_000).map(of).collect();
        assert!(all.iter().all(|delay| *delay < minute));
        for quarter in 0..4 {
            let inside = all.iter().filter(|delay| delay.as_secs() / 15 == quarter).count();
            assert!((150..350).contains(&inside), "{inside} of 1000 in a quarter");
        }
    }
}
