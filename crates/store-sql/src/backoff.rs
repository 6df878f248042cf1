//! How often and after which pauses a transaction that the server undid is tried again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mainspring_model::hash;

/// Tries of one transaction.
const TRIES_MAX: u32 = 8;
/// The first pause; each following one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(2);

/// Counts the tries.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// How long to wait before the next try; none when there were enough.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            return None;
        }
        let whole = PAUSE_FIRST * 2u32.pow(self.tries - 1);
        // Half of it by chance, so that two that met once do not meet again.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let chance = (hash::mix(now.as_nanos() as u64) % 1000) as u32;
        Some(whole / 2 + whole / 2 * chance / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let mut backoff = Backoff::default();
        let pauses: Vec<Duration> = std::iter::from_fn(|| backoff.pause()).collect();
        assert_eq!(pauses.len(), TRIES_MAX as usize - 1);
        for (at, pause) in pauses.iter().enumerate() {
            let whole = PAUSE_FIRST * 2u32.pow(at as u32);
            assert!(*pause >= whole / 2 && *pause <= whole, "{at}: {pause:?}");
        }
    }
}
