//! Requests of nobody knows whom. They are written down, but anybody can send them: so many in a minute and no more, and
//! the next one that is written down tells how many were not.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mainspring_model::Timestamp;

use crate::limits::STRANGER_ENTRIES_PER_MINUTE;

const MINUTE: Duration = Duration::from_secs(60);

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    ends: Option<Timestamp>,
    written: u32,
    left_out: u64,
}

impl Strangers {
    /// Whether one may be written down now, and how many were left out since the last.
    pub(crate) fn admit(&self, now: Timestamp) -> Option<u64> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.ends.is_none_or(|end| end <= now) {
            (window.ends, window.written) = (Some(now + MINUTE), 0);
        }
        if window.written == STRANGER_ENTRIES_PER_MINUTE {
            window.left_out += 1;
            return None;
        }
        window.written += 1;
        Some(std::mem::take(&mut window.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_not_written() {
        let strangers = Strangers::default();
        let at = |seconds| Timestamp::ZERO + Duration::from_secs(seconds);
        for _ in 0..STRANGER_ENTRIES_PER_MINUTE {
            assert_eq!(strangers.admit(at(1)), Some(0));
        }
        for _ in 0..3 {
            assert_eq!(strangers.admit(at(60)), None);
        }
        assert_eq!(strangers.admit(at(61)), Some(3));
        assert_eq!(strangers.admit(at(62)), Some(0));
    }
}
