//! Alarm of the agent's loop on the node's own clock: a timer of the runtime stands still while the machine is suspended,
//! and would let a lease that ended meanwhile go on for what was left of it.

#![expect(unsafe_code, reason = "the runtime trusts whoever registers a descriptor to keep it open")]

use std::io;

use mainspring_model::Timestamp;
use mainspring_sidecar::clock::Timer;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One timer, set anew for each wait.
pub(crate) struct Alarm {
    timer: AsyncFd<Timer>,
}

impl Alarm {
    /// To be called within a runtime.
    pub(crate) fn new() -> io::Result<Self> {
        let timer = Timer::new()?;
        // SAFETY: a timer has one descriptor, which it owns and neither changes nor closes before it is dropped.
        let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
        Ok(Self { timer: timer? })
    }

    /// Waits until then. May be dropped before that.
    pub(crate) async fn wait_until(&mut self, at: Timestamp) {
        let at_us = u64::try_from(at.as_micros()).unwrap_or(0);
        // The kernel refuses no time.
        let _ = self.timer.get_mut().set(Some(at_us));
        loop {
            let Ok(mut ready) = self.timer.readable_mut().await else { return };
            if ready.get_inner_mut().take_fired() {
                return;
            }
            ready.clear_ready();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::driver::now;

    #[tokio::test]
    async fn a_time_that_is_past_is_not_waited_for_and_a_wait_may_be_dropped() {
        let mut alarm = Alarm::new().unwrap();
        // As after a resume: what was waited for has passed.
        for at in [Timestamp::ZERO, now()] {
            alarm.wait_until(at).await;
        }
        let far = now() + Duration::from_secs(3600);
        tokio::select! {
            biased;
            () = alarm.wait_until(far) => panic!("it is not the time"),
            () = std::future::ready(()) => {}
        }
        let soon = now() + Duration::from_millis(2);
        alarm.wait_until(soon).await;
        assert!(now() >= soon);
    }
}
