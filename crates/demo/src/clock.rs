//! The virtual time of the history. Whoever lives through it moves it on; everybody else reads it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use mainspring_engine::Now;
use mainspring_model::{Elapsed, Timestamp};

/// The clock. Clones show the same time.
#[derive(Debug, Clone)]
pub(crate) struct Clock(Arc<AtomicI64>);

impl Clock {
    /// A clock that shows `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        Self(Arc::new(at.as_micros().into()))
    }

    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// The time for the engine: nothing tells elapsed time and the store's apart here.
    pub(crate) fn both(&self) -> Now {
        let store = self.now();
        Now { elapsed: Elapsed::from_micros(store.as_micros()), store }
    }

    /// Moves on; never back.
    pub(crate) fn advance(&self, to: Timestamp) {
        self.0.fetch_max(to.as_micros(), Ordering::Relaxed);
    }
}
