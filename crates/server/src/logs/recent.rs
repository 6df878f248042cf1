//! The logs that were read from the vault last: whoever reads a long one page by page does not have it decoded for each.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mainspring_model::{AttemptToken, RunId};

use super::vault::Kept;

/// Bytes of logs that are remembered; the longest alone may be more.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Logs that are remembered.
const LOGS_MAX: usize = 16;

/// The logs, the last one read at the end.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<VecDeque<(AttemptToken, Kept)>>);

impl Recent {
    pub(super) fn get(&self, token: AttemptToken) -> Option<Kept> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|(of, _)| *of == token)?;
        let found = known.remove(place)?;
        known.push_back(found.clone());
        Some(found.1)
    }

    /// Remembers a log that will not change any more.
    pub(super) fn put(&self, token: AttemptToken, kept: &Kept) {
        if !kept.whole {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, _)| *of != token);
        known.push_back((token, kept.clone()));
        let mut bytes: usize = known.iter().map(|(_, kept)| kept.log.frames.len()).sum();
        while known.len() > LOGS_MAX || bytes > BYTES_MAX && known.len() > 1 {
            bytes -= known.pop_front().map_or(0, |(_, oldest)| oldest.log.frames.len());
        }
    }

    pub(super) fn forget(&self, runs: &[RunId]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, _)| !runs.contains(&of.run));
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Epoch, Timestamp};

    use super::super::captured::Captured;
    use super::*;

    fn token(n: u128) -> AttemptToken {
        AttemptToken { run: RunId::new(Timestamp::ZERO, n), number: 1, epoch: Epoch(1) }
    }

    fn kept(bytes: usize, whole: bool) -> Kept {
        Kept { log: Captured { frames: vec![0; bytes].into(), gap: None }, whole }
    }

    #[test]
    fn the_last_ones_are_remembered_within_bounds() {
        let recent = Recent::default();
        recent.put(token(1), &kept(BYTES_MAX / 2, true));
        recent.put(token(2), &kept(BYTES_MAX / 2, true));
        assert!(recent.get(token(1)).is_some());
        recent.put(token(3), &kept(1, true));
        assert!(recent.get(token(2)).is_none(), "it was not read for longest");
        assert!(recent.get(token(1)).is_some() && recent.get(token(3)).is_some());
        recent.put(token(4), &kept(1, false));
        assert!(recent.get(token(4)).is_none(), "all of it may come yet");
        recent.forget(&[token(3).run]);
        assert!(recent.get(token(3)).is_none());
    }
}
