//! The two clocks of a node, and a timer on the first. Deadlines are on CLOCK_BOOTTIME, which goes on while the machine is
//! suspended and means the same in every process of a host: after a resume a lease has ended as it has for its owner.
//! Wall-clock times only label what happened and decide nothing.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// Microseconds since the host booted, the time that deadlines on the protocol are given in.
pub fn boottime_us() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}

/// Microseconds of the wall clock since 1970.
pub(crate) fn wall_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

/// A timer on [`boottime_us`], readable when its time has come. One whose time passed in a suspend is readable at the
/// resume; a time-out of `epoll` would still wait for what was left of it.
#[derive(Debug)]
pub struct Timer {
    timer: OwnedFd,
    at_us: Option<u64>,
}

impl Timer {
    /// A timer that is not set.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self { timer: timerfd_create(TimerfdClockId::Boottime, flags)?, at_us: None })
    }

    /// Sets it to that time, or to none. Costs nothing if it is set to it already.
    pub fn set(&mut self, at_us: Option<u64>) -> io::Result<()> {
        if self.at_us == at_us {
            return Ok(());
        }
        let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would be none, and the largest times are out of the kernel's range.
        let it_value = at_us.map_or(nothing, |at_us| Timespec {
            tv_sec: (at_us / 1_000_000) as i64,
            tv_nsec: ((at_us % 1_000_000) * 1_000).max(1) as i64,
        });
        timerfd_settime(
            &self.timer,
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: nothing, it_value },
        )?;
        self.at_us = at_us;
        Ok(())
    }

    /// Whether its time has come since it was set. It is not set any more then.
    pub fn take_fired(&mut self) -> bool {
        let fired = rustix::io::read(&self.timer, &mut [0; 8]).is_ok();
        if fired {
            self.at_us = None;
        }
        fired
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.timer.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    #[test]
    fn a_timer_fires_once_and_at_once_if_its_time_is_past() {
        let mut timer = Timer::new().unwrap();
        for at_us in [0, 1, boottime_us() - 1, boottime_us() + 2_000] {
            timer.set(Some(at_us)).unwrap();
            poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
            assert!(timer.take_fired() && !timer.take_fired());
            assert!(boottime_us() >= at_us);
        }
        timer.set(Some(1)).unwrap();
        timer.set(Some(u64::MAX)).unwrap();
        assert!(!timer.take_fired());
        timer.set(None).unwrap();
        assert!(!timer.take_fired());
    }
}
