//! Clock of a worker: elapsed time that includes a suspend of the machine, so that after a resume a lease has ended as it
//! has for its owner. `Instant` stands still meanwhile.

use std::time::Duration;

use mainspring_model::Timestamp;

/// How long the worker waits at most before it looks at the clock while a function runs: a timer of the runtime goes on
/// after a resume with what was left of it. Well below the margin between a lease's end here and at the owner.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Far from zero, so that "long ago" can be said.
const FIRST_US: i64 = 3_600_000_000;

/// The time since the worker began.
#[derive(Debug)]
pub(super) struct Clock {
    began: Duration,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { began: elapsed() }
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_micros(FIRST_US) + elapsed().saturating_sub(self.began)
    }
}

#[cfg(target_os = "linux")]
fn elapsed() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// The system's own idea of elapsed time where there is no better one.
#[cfg(not(target_os = "linux"))]
fn elapsed() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}
