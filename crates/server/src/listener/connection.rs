//! State of one connection: whether it has authenticated, how many requests are in flight, and when it is overdue.
//!
//! hyper's own header timeout also runs between requests, so it cannot be longer for idle connections than for headers, and
//! it does not cover the first bytes, from which the protocol is told. Therefore the clock is kept here.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::Version;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep};

use super::admission::Admission;
use super::limits::ListenLimits;
use super::peer::Subnet;

/// Requests that a connection may have handled at the same time before it has authenticated; others wait.
const STRANGER_REQUESTS_MAX: usize = 32;

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u64,
    pub(super) address: IpAddr,
    /// None for a trusted proxy: no limit per address.
    pub(super) subnet: Option<Subnet>,
    /// Requests handled at the same time before it has authenticated.
    pub(super) slots: Semaphore,
    authenticated: AtomicBool,
    is_http2: AtomicBool,
    in_flight: AtomicU32,
    moments: Mutex<Moments>,
    close: Notify,
    admission: Arc<Admission>,
}

#[derive(Debug)]
struct Moments {
    had_request: bool,
    /// When it was opened, or the last request ended.
    idle_since: Instant,
    /// When the first byte of the next request came.
    heading_since: Option<Instant>,
}

/// Why a connection is closed by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The header of a request did not come in time.
    Header,
    /// There was no request for long.
    Idle,
}

impl Connection {
    pub(super) fn new(
        number: u64,
        address: IpAddr,
        subnet: Option<Subnet>,
        admission: Arc<Admission>,
    ) -> Self {
        Self {
            number,
            address,
            subnet,
            slots: Semaphore::new(STRANGER_REQUESTS_MAX),
            authenticated: AtomicBool::new(false),
            is_http2: AtomicBool::new(false),
            in_flight: AtomicU32::new(0),
            moments: Mutex::new(Moments {
                had_request: false,
                idle_since: Instant::now(),
                heading_since: None,
            }),
            close: Notify::new(),
            admission,
        }
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Relaxed)
    }

    /// A good credential was shown.
    pub(super) fn authenticated(&self) {
        if !self.is_authenticated() && !self.authenticated.swap(true, Ordering::Relaxed) {
            self.admission.authenticated(self);
        }
    }

    /// It is closed.
    pub(super) fn left(&self) {
        self.admission.left(self);
    }

    /// Asks the connection's task to close it.
    pub(super) fn close(&self) {
        self.close.notify_one();
    }

    /// Returns when the connection has to make room.
    pub(super) async fn closing(&self) {
        self.close.notified().await;
    }

    /// Bytes came.
    pub(super) fn heard(&self) {
        if self.in_flight.load(Ordering::Relaxed) > 0 || self.is_http2.load(Ordering::Relaxed) {
            return;
        }
        self.moments().heading_since.get_or_insert_with(Instant::now);
    }

    /// A request begins; it ends when the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>, version: Version) -> InFlight {
        if version == Version::HTTP_2 {
            self.is_http2.store(true, Ordering::Relaxed);
        }
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let mut moments = self.moments();
        (moments.had_request, moments.heading_since) = (true, None);
        drop(moments);
        InFlight(Arc::clone(self))
    }

    /// Returns when the connection has been without a request, or with half a header, for too long.
    pub(super) async fn overdue(&self, limits: &ListenLimits) -> Overdue {
        loop {
            sleep(limits.header_timeout.min(limits.idle_timeout)).await;
            if let Some(overdue) = self.look(Instant::now(), limits) {
                return overdue;
            }
        }
    }

    fn look(&self, now: Instant, limits: &ListenLimits) -> Option<Overdue> {
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let Moments { had_request, idle_since, heading_since } = &*self.moments();
        let late = |since: Instant| now.saturating_duration_since(since) >= limits.header_timeout;
        if heading_since.is_some_and(late) || !had_request && late(*idle_since) {
            return Some(Overdue::Header);
        }
        let idle = now.saturating_duration_since(*idle_since);
        (idle >= limits.idle_timeout).then_some(Overdue::Idle)
    }

    fn moments(&self) -> std::sync::MutexGuard<'_, Moments> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight: from its header until the end of the answer's body.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Connection>);

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::Relaxed) == 1 {
            let mut moments = self.0.moments();
            (moments.idle_since, moments.heading_since) = (Instant::now(), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn connection() -> (Arc<Connection>, ListenLimits) {
        let limits = ListenLimits {
            header_timeout: 10 * SECOND,
            idle_timeout: 90 * SECOND,
            ..ListenLimits::default()
        };
        let admission = Arc::new(Admission::new(&limits, Default::default(), 100));
        (admission.admit("192.0.2.1".parse().expect("an address")).expect("room"), limits)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_overdue() {
        let (connection, limits) = connection();
        let begun = Instant::now();
        assert_eq!(connection.overdue(&limits).await, Overdue::Header);
        assert_eq!(begun.elapsed(), 10 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_takes_as_long_as_it_takes_and_then_the_connection_may_idle() {
        let (connection, limits) = connection();
        let request = connection.begin(Version::HTTP_11);
        let long = tokio::time::timeout(3_600 * SECOND, connection.overdue(&limits));
        assert!(long.await.is_err(), "a stream is not cut");
        drop(request);
        let begun = Instant::now();
        assert_eq!(connection.overdue(&limits).await, Overdue::Idle);
        assert!(begun.elapsed() >= 90 * SECOND, "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_header_after_a_request_is_overdue_sooner() {
        let (connection, limits) = connection();
        drop(connection.begin(Version::HTTP_11));
        connection.heard();
        let begun = Instant::now();
        assert_eq!(connection.overdue(&limits).await, Overdue::Header);
        assert_eq!(begun.elapsed(), 10 * SECOND);
        drop(connection.begin(Version::HTTP_2));
        connection.heard();
        assert_eq!(connection.overdue(&limits).await, Overdue::Idle, "pings of HTTP/2 are no header");
    }
}
