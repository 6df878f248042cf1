//! Whether the store takes writes.
//!
//! A batch is sent until its outcome is known, however long that takes; whoever waits for it is told in time that it takes
//! long. Every seat of the process writes to the same store, so there is one of this.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// What the last writes came to.
#[derive(Debug)]
pub(crate) struct StoreHealth {
    /// Since when every write has failed.
    failing_since: watch::Sender<Option<Instant>>,
}

impl StoreHealth {
    /// A store of which nothing bad is known.
    pub(crate) fn new() -> Self {
        Self { failing_since: watch::Sender::new(None) }
    }

    /// A write failed.
    pub(crate) fn failed(&self) {
        self.failing_since
            .send_if_modified(|since| since.replace(since.unwrap_or_else(Instant::now)).is_none());
    }

    /// A write worked, or nobody waits for it any more.
    pub(crate) fn settled(&self) {
        self.failing_since.send_if_modified(|since| since.take().is_some());
    }

    /// Returns when writes have failed for so long, and none has worked since.
    pub(crate) async fn failing_for(&self, time: Duration) {
        let mut watched = self.failing_since.subscribe();
        loop {
            let since = *watched.borrow_and_update();
            let long = async {
                match since {
                    Some(since) => sleep_until(since + time).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = long => return,
                // The sender lives as long as this.
                _ = watched.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{sleep, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn only_failures_without_a_success_count() {
        let health = StoreHealth::new();
        let long = || timeout(10 * SECOND, health.failing_for(2 * SECOND));
        assert!(long().await.is_err(), "nothing failed");
        health.failed();
        sleep(SECOND).await;
        health.failed();
        let begun = Instant::now();
        assert!(long().await.is_ok());
        assert_eq!(begun.elapsed(), SECOND, "it counts from the first failure");
        health.settled();
        assert!(long().await.is_err(), "it works again");
    }
}
