//! The two clocks of the sidecar. Deadlines are monotonic and mean the same in every process of a host; wall-clock
//! times only label what happened and decide nothing.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Microseconds of the host's monotonic clock, the one that deadlines on the protocol are given in.
pub fn monotonic_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}

/// Microseconds of the wall clock since 1970.
pub(crate) fn wall_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}
