//! Followers of logs of which no part is here: each is told of its own log alone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainspring_model::AttemptToken;
use rustc_hash::FxHashMap;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

#[derive(Debug, Default)]
pub(super) struct Awaited(Mutex<FxHashMap<AttemptToken, Arc<Notify>>>);

/// A follower.
#[derive(Debug)]
pub(super) struct Follower<'a> {
    awaited: &'a Awaited,
    token: AttemptToken,
    notify: Arc<Notify>,
}

impl Awaited {
    /// From now on the follower is told; what happened before it looks for itself.
    pub(super) fn follow(&self, token: AttemptToken) -> Follower<'_> {
        let notify = Arc::clone(self.lock().entry(token).or_default());
        Follower { awaited: self, token, notify }
    }

    /// A log was opened or kept.
    pub(super) fn tell(&self, token: AttemptToken) {
        if let Some(notify) = self.lock().get(&token) {
            notify.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<AttemptToken, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower<'_> {
    /// Completes when something has happened since this was called.
    pub(super) fn told(&self) -> Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        let mut all = self.awaited.lock();
        // The last follower, and the map itself.
        if Arc::strong_count(&self.notify) <= 2 {
            all.remove(&self.token);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use mainspring_model::{Epoch, RunId, Timestamp};

    use super::*;

    fn token(number: u32) -> AttemptToken {
        AttemptToken { run: RunId::new(Timestamp::ZERO, 7), number, epoch: Epoch(1) }
    }

    #[test]
    fn each_is_told_of_its_own_log_and_nothing_is_left_behind() {
        let awaited = Awaited::default();
        let (one, other) = (awaited.follow(token(1)), awaited.follow(token(2)));
        let same = awaited.follow(token(1));
        let (told, of_other, of_same) = (one.told(), other.told(), same.told());
        awaited.tell(token(1));
        assert!(told.now_or_never().is_some() && of_same.now_or_never().is_some());
        assert!(of_other.now_or_never().is_none());
        drop((one, other));
        assert_eq!(awaited.lock().len(), 1);
        drop(same);
        assert!(awaited.lock().is_empty());
    }
}
