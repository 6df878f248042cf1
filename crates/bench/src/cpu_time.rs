//! CPU time of the calling thread: what the work costs, whatever else the machine does meanwhile.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time that this thread has used so far.
pub(crate) fn of_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time that `work` took on this thread.
pub(crate) fn spent_on(work: impl FnOnce()) -> Duration {
    let before = of_thread();
    work();
    of_thread() - before
}
