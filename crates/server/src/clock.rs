//! The process's two clocks: elapsed time of this host, and the store's time as it is followed (I4).
//!
//! Leases, silence and timeouts go by [`Clock::elapsed`] (`CLOCK_BOOTTIME`), which goes on while the machine is suspended.
//! Everything that rows hold goes by [`Clock::now`], the store's time: readings come with each renewal of a lease, and from
//! [`Clock::follow`] where there is none. How a reading is taken is decided in `model::StoreClock`. The wall clock of this
//! host decides nothing; [`Clock::host_now`] exists so that a difference can be reported.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mainspring_engine::Now;
use mainspring_model::{ClockReading, Correction, Elapsed, StoreClock, Timestamp};
use mainspring_store::Store;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// How often this process looks whether the machine was suspended.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How old the last reading of the store's clock may become.
const READ_EVERY: Duration = Duration::from_secs(5);
/// How long a reading may take.
const READ_WAIT: Duration = Duration::from_secs(5);
/// A machine whose two clocks are this far apart since the last look was suspended.
const SUSPENDED_MIN: i64 = 500_000;
/// Later than this is "some day": an alarm that goes off too early finds nothing due.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// The clocks. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub(crate) struct Clock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    followed: Mutex<Followed>,
    /// Grows when alarms have to be set anew.
    jumps: watch::Sender<u64>,
}

#[derive(Debug)]
struct Followed {
    store: StoreClock,
    read_at: Elapsed,
    frozen: bool,
}

impl Clock {
    /// A clock that begins with this host's wall clock, for as long as the store has not been asked.
    pub(crate) fn of_host() -> Self {
        let elapsed = elapsed();
        Self::new(ClockReading { asked: elapsed, answered: elapsed, store: host_now() })
    }

    /// A clock that begins with the store's.
    pub(crate) async fn of_store(store: &dyn Store) -> mainspring_store::Result<Self> {
        let asked = elapsed();
        let store = store.clock().await?;
        Ok(Self::new(ClockReading { asked, answered: elapsed(), store }))
    }

    fn new(reading: ClockReading) -> Self {
        let followed = Followed { store: StoreClock::new(reading), read_at: reading.answered, frozen: false };
        Self(Arc::new(Shared { followed: Mutex::new(followed), jumps: watch::Sender::new(0) }))
    }

    /// Both clocks now.
    pub(crate) fn both(&self) -> Now {
        let elapsed = elapsed();
        Now { elapsed, store: self.followed().store.now(elapsed) }
    }

    /// The store's time now.
    pub(crate) fn now(&self) -> Timestamp {
        self.both().store
    }

    /// This host's elapsed time now.
    pub(crate) fn elapsed(&self) -> Elapsed {
        elapsed()
    }

    /// This host's wall clock. It decides nothing.
    pub(crate) fn host_now(&self) -> Timestamp {
        host_now()
    }

    /// How far the store's clock is behind the time that was shown before, when time stands still for it.
    pub(crate) fn frozen_by(&self) -> Option<Duration> {
        self.followed().store.frozen_by(elapsed())
    }

    /// Takes a reading in.
    pub(crate) fn read(&self, asked: Elapsed, store: Timestamp) {
        let answered = elapsed();
        let mut followed = self.followed();
        let correction = followed.store.read(ClockReading { asked, answered, store });
        followed.read_at = answered;
        let was_frozen = std::mem::replace(&mut followed.frozen, matches!(correction, Correction::Frozen(_)));
        let is_frozen = followed.frozen;
        drop(followed);
        match correction {
            Correction::Stepped(by) => {
                warn!(by = ?by, "the store's clock stepped forward; moments that it passed over are late");
                self.jumped();
            }
            Correction::Frozen(by) if !was_frozen => {
                warn!(by = ?by, "the store's clock stepped back; planned moments wait until it has caught up");
            }
            Correction::Frozen(_) | Correction::Slewed => {}
        }
        if was_frozen && !is_frozen {
            info!("the store's clock has caught up; planned moments go on");
            self.jumped();
        }
    }

    /// The alarm for a moment of elapsed time; now, if that is over.
    pub(crate) fn alarm(&self, at: Elapsed) -> Instant {
        Instant::now() + at.since(elapsed()).min(FAR)
    }

    /// When, in elapsed time, the store's time will be `at`.
    pub(crate) fn when(&self, at: Timestamp) -> Elapsed {
        self.followed().store.when(at, elapsed())
    }

    /// Tells when alarms have to be set anew: the store's clock stepped, or the machine was suspended.
    pub(crate) fn jumps(&self) -> watch::Receiver<u64> {
        self.0.jumps.subscribe()
    }

    /// Reads the store's clock when nothing else did for a while, and notices suspends, until `stop`.
    pub(crate) async fn follow(self, store: Arc<dyn Store>, stop: CancellationToken) {
        let mut apart = clocks_apart();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(LOOK_EVERY) => {}
            }
            let is_apart = clocks_apart();
            if (is_apart - std::mem::replace(&mut apart, is_apart)).abs() > SUSPENDED_MIN {
                info!("this machine was suspended");
                self.jumped();
            }
            let read_at = self.followed().read_at;
            if elapsed().since(read_at) < READ_EVERY {
                continue;
            }
            let asked = elapsed();
            // A store that does not answer is reported by those who need it.
            if let Ok(Ok(store)) = timeout(READ_WAIT, store.clock()).await {
                self.read(asked, store);
            }
        }
    }

    fn jumped(&self) {
        self.0.jumps.send_modify(|jumps| *jumps += 1);
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.0.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn elapsed() -> Elapsed {
    Elapsed::from_micros(micros(ClockId::Boottime))
}

/// By how much the clock that goes on in suspend is ahead of the one that stands still.
fn clocks_apart() -> i64 {
    micros(ClockId::Boottime) - micros(ClockId::Monotonic)
}

fn micros(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}

fn host_now() -> Timestamp {
    Timestamp::ZERO + SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mainspring_store_mem::MemStore;

    use super::*;

    #[tokio::test]
    async fn a_step_of_the_stores_clock_is_followed_and_wakes_who_waits() {
        let store = MemStore::default();
        let clock = Clock::of_store(&store).await.unwrap();
        let mut jumps = clock.jumps();
        let (asked, before) = (clock.elapsed(), clock.now());
        clock.read(asked, before);
        assert!(!jumps.has_changed().unwrap(), "nothing happened");
        let hour = Duration::from_secs(3_600);
        clock.read(asked, before + hour);
        assert!(clock.now() >= before + hour);
        assert!(jumps.has_changed().unwrap());
        jumps.mark_unchanged();
        clock.read(clock.elapsed(), before);
        assert!(clock.frozen_by().is_some_and(|by| by > hour - Duration::from_secs(60)));
        assert!(clock.now() >= before + hour, "time does not run back");
        assert!(!jumps.has_changed().unwrap(), "nothing is due earlier");
        clock.read(clock.elapsed(), clock.now());
        assert_eq!(clock.frozen_by(), None);
        assert!(jumps.has_changed().unwrap(), "time goes on");
    }
}
