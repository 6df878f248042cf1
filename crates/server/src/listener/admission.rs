//! Which connections are open, and which one makes room when there are too many.
//!
//! Connections that have authenticated are never closed for others. Of the rest the oldest makes room: whoever means it
//! shows a credential within a round trip or two, and whoever holds connections open loses those first.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tracing::warn;

use super::connection::{Connection, Overdue};
use super::limits::ListenLimits;
use super::peer::{Proxies, Subnet};

/// Connections beyond the limit while others are still being closed for them.
const CLOSING_MAX: usize = 64;
/// How often the log says that connections were refused or closed.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// The connections of a listener.
#[derive(Debug)]
pub(super) struct Admission {
    connections_max: usize,
    per_address_max: usize,
    pub(super) proxies: Proxies,
    open: Mutex<Open>,
    counts: Counts,
    told: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    next_number: u64,
    /// Those that have not authenticated, oldest first.
    strangers: BTreeMap<u64, Arc<Connection>>,
    by_subnet: FxHashMap<Subnet, BTreeSet<u64>>,
}

/// What was done to connections since the start.
#[derive(Debug, Default)]
struct Counts {
    refused: AtomicU64,
    made_room: AtomicU64,
    late_header: AtomicU64,
    late_handshake: AtomicU64,
}

impl Admission {
    /// `files_max` is how many files the process may have open.
    pub(super) fn new(limits: &ListenLimits, proxies: Proxies, files_max: usize) -> Self {
        // A quarter is left for the store, logs, artifacts and connections to other servers.
        let connections_max = limits.connections_max.min(files_max - files_max / 4).max(1);
        Self {
            connections_max,
            per_address_max: limits.connections_per_address_max,
            proxies,
            open: Mutex::default(),
            counts: Counts::default(),
            told: Mutex::default(),
        }
    }

    /// The most connections at the same time.
    pub(super) fn connections_max(&self) -> usize {
        self.connections_max
    }

    /// Takes a new connection; none when there is no room for it.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Arc<Connection>> {
        let subnet = (!self.proxies.contain(address)).then(|| Subnet::of(address));
        let mut open = self.open();
        let of_subnet = subnet.and_then(|subnet| open.by_subnet.get(&subnet));
        let oldest_of_subnet = of_subnet
            .filter(|numbers| numbers.len() >= self.per_address_max)
            .and_then(|numbers| numbers.first().copied());
        let oldest = match oldest_of_subnet {
            Some(number) => Some(number),
            None if open.count >= self.connections_max => open.strangers.keys().next().copied(),
            None => None,
        };
        if let Some(oldest) = oldest.and_then(|number| open.forget_stranger(number)) {
            oldest.close();
            self.counts.made_room.fetch_add(1, Ordering::Relaxed);
            self.tell();
        }
        let room = if oldest.is_some() { self.connections_max + CLOSING_MAX } else { self.connections_max };
        if open.count >= room {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            self.tell();
            return None;
        }
        let number = open.next_number;
        open.next_number += 1;
        open.count += 1;
        let connection = Arc::new(Connection::new(number, address, subnet, Arc::clone(self)));
        open.strangers.insert(number, Arc::clone(&connection));
        if let Some(subnet) = subnet {
            open.by_subnet.entry(subnet).or_default().insert(number);
        }
        Some(connection)
    }

    /// A connection is closed.
    pub(super) fn left(&self, connection: &Connection) {
        let mut open = self.open();
        open.forget_stranger(connection.number);
        open.count -= 1;
    }

    /// A connection showed a good credential.
    pub(super) fn authenticated(&self, connection: &Connection) {
        self.open().forget_stranger(connection.number);
    }

    /// The process has no file left for a connection: the oldest stranger makes room.
    pub(super) fn make_room(&self) {
        let mut open = self.open();
        let oldest = open.strangers.keys().next().copied();
        if let Some(oldest) = oldest.and_then(|number| open.forget_stranger(number)) {
            oldest.close();
            self.counts.made_room.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A connection was closed because it took too long.
    pub(super) fn closed(&self, overdue: Overdue) {
        if overdue == Overdue::Header {
            self.counts.late_header.fetch_add(1, Ordering::Relaxed);
            self.tell();
        }
    }

    /// A TLS handshake took too long.
    pub(super) fn late_handshake(&self) {
        self.counts.late_handshake.fetch_add(1, Ordering::Relaxed);
        self.tell();
    }

    /// Says it, once per interval, with the counts since the start.
    fn tell(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some_and(|at| at.elapsed() < TELL_EVERY) {
            return;
        }
        *told = Some(Instant::now());
        let Counts { refused, made_room, late_header, late_handshake } = &self.counts;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        warn!(
            refused = count(refused),
            made_room = count(made_room),
            late_header = count(late_header),
            late_handshake = count(late_handshake),
            connections_max = self.connections_max,
            "connections were refused or closed by the limits of the listener (counts since the start)"
        );
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn forget_stranger(&mut self, number: u64) -> Option<Arc<Connection>> {
        let connection = self.strangers.remove(&number)?;
        if let Some(subnet) = connection.subnet
            && let Some(numbers) = self.by_subnet.get_mut(&subnet)
        {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_subnet.remove(&subnet);
            }
        }
        Some(connection)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn admission(total: usize, per_address: usize) -> Arc<Admission> {
        let limits = ListenLimits {
            connections_max: total,
            connections_per_address_max: per_address,
            ..ListenLimits::default()
        };
        let proxies = Proxies::new(&["10.0.0.0/8".to_owned()]).expect("a network");
        Arc::new(Admission::new(&limits, proxies, 1_000_000))
    }

    fn open(admission: &Arc<Admission>, address: &str) -> Option<Arc<Connection>> {
        admission.admit(address.parse().expect("an address"))
    }

    fn is_closing(connection: &Connection) -> bool {
        connection.closing().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_stranger_of_an_address_makes_room() {
        let admission = admission(100, 2);
        let [first, second] = [(); 2].map(|()| open(&admission, "192.0.2.1").expect("room"));
        let other = open(&admission, "192.0.2.2").expect("room");
        first.authenticated();
        let third = open(&admission, "192.0.2.1").expect("room");
        assert!(![&first, &second, &other, &third].into_iter().any(|one| is_closing(one)), "two strangers");
        let fourth = open(&admission, "192.0.2.1").expect("room");
        assert!(is_closing(&second));
        assert!(![&first, &other, &third, &fourth].into_iter().any(|one| is_closing(one)));
    }

    #[test]
    fn a_proxy_has_no_limit_of_its_own() {
        let admission = admission(100, 2);
        let connections: Vec<_> = (0..10).filter_map(|_| open(&admission, "10.1.1.1")).collect();
        assert_eq!(connections.len(), 10);
        assert!(!connections.iter().any(|one| is_closing(one)));
    }

    #[test]
    fn who_has_authenticated_stays_and_others_are_refused() {
        let admission = admission(3, 10);
        let known: Vec<_> = (1..=2).filter_map(|n| open(&admission, &format!("192.0.2.{n}"))).collect();
        known.iter().for_each(|connection| connection.authenticated());
        let stranger = open(&admission, "192.0.2.3").expect("room");
        let next = open(&admission, "192.0.2.4").expect("the stranger makes room");
        assert!(is_closing(&stranger));
        admission.left(&stranger);
        next.authenticated();
        assert!(open(&admission, "192.0.2.5").is_none());
        assert!(!known.iter().chain([&next]).any(|one| is_closing(one)));
        assert_eq!(admission.counts.refused.load(Ordering::Relaxed), 1);
        admission.left(&known[0]);
        assert!(open(&admission, "192.0.2.5").is_some());
    }

    #[test]
    fn a_part_of_the_files_is_left_for_others() {
        let limits = ListenLimits::default();
        assert_eq!(Admission::new(&limits, Proxies::default(), 1_024).connections_max(), 768);
        assert_eq!(Admission::new(&limits, Proxies::default(), 1 << 20).connections_max(), 10_000);
    }
}
