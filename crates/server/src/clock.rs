//! The process's clock: moves only on, counts from what the wall clock said at the start.
//!
//! Nothing compares it with another host's. A seat corrects it by the store's clock when it takes a cell over, and from
//! then on its time only moves on (I4).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mainspring_model::Timestamp;
use tokio::time::Instant as Alarm;

/// The clock. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started: Instant,
    started_at: Timestamp,
}

impl Clock {
    /// A clock that begins with the wall clock's time.
    pub(crate) fn start() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), started_at: Timestamp::ZERO + since }
    }

    /// Now.
    pub(crate) fn now(self) -> Timestamp {
        self.started_at + self.started.elapsed()
    }

    /// The moment at which this clock shows `at`; now, if that is over.
    pub(crate) fn alarm(self, at: Timestamp) -> Alarm {
        let after =
            Duration::from_micros(at.as_micros().saturating_sub(self.started_at.as_micros()).max(0) as u64);
        Alarm::from_std(self.started + after.min(FAR))
    }
}

/// Later than this is "some day": an alarm that goes off too early finds nothing due.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
