//! Token buckets for wrong credentials, one for each address. Each well-formed guess costs a read of the store; an address
//! whose bucket is empty is answered without one.
//!
//! A bucket is one moment (GCRA): when it will be full again.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::peer::Subnet;

/// Addresses that are remembered; beyond them all others share a bucket.
const ADDRESSES_MAX: usize = 10_000;

/// The buckets.
#[derive(Debug)]
pub struct WrongCredentials {
    /// How long one guess takes to be forgotten.
    interval: Duration,
    buckets: Mutex<FxHashMap<Option<Subnet>, Instant>>,
}

const MINUTE: Duration = Duration::from_secs(60);

impl WrongCredentials {
    /// So many of one address in a minute.
    pub fn new(per_minute: u32) -> Self {
        Self { interval: MINUTE / per_minute.max(1), buckets: Mutex::default() }
    }

    /// Whether an address may show another credential; otherwise how long it has to wait.
    pub fn check(&self, address: Option<IpAddr>) -> Result<(), Duration> {
        let now = Instant::now();
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(&buckets, address);
        let full_at = buckets.get(&key).copied().unwrap_or(now);
        let over = (full_at + self.interval).saturating_duration_since(now).saturating_sub(MINUTE);
        if over.is_zero() { Ok(()) } else { Err(over) }
    }

    /// An address showed a wrong credential.
    pub fn count(&self, address: Option<IpAddr>) {
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ADDRESSES_MAX {
            buckets.retain(|_, full_at| *full_at > now);
        }
        let key = key(&buckets, address);
        let full_at = buckets.entry(key).or_insert(now);
        *full_at = (*full_at).max(now) + self.interval;
    }
}

/// The bucket of an address.
fn key(buckets: &FxHashMap<Option<Subnet>, Instant>, address: Option<IpAddr>) -> Option<Subnet> {
    let subnet = address.map(Subnet::of);
    let is_kept = buckets.len() < ADDRESSES_MAX || buckets.contains_key(&subnet);
    subnet.filter(|_| is_kept)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn address(number: u32) -> Option<IpAddr> {
        Some(Ipv4Addr::from_bits(0x0a00_0000 + number).into())
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_guesses_has_to_wait_and_others_do_not() {
        let wrong = WrongCredentials::new(6);
        for _ in 0..6 {
            assert_eq!(wrong.check(address(1)), Ok(()));
            wrong.count(address(1));
        }
        assert_eq!(wrong.check(address(1)), Err(10 * SECOND));
        assert_eq!(wrong.check(address(2)), Ok(()));
        tokio::time::advance(10 * SECOND).await;
        assert_eq!(wrong.check(address(1)), Ok(()));
        wrong.count(address(1));
        assert_eq!(wrong.check(address(1)), Err(10 * SECOND));
        tokio::time::advance(MINUTE).await;
        for _ in 0..6 {
            assert_eq!(wrong.check(address(1)), Ok(()));
            wrong.count(address(1));
        }
        assert!(wrong.check(address(1)).is_err(), "what was not used is not saved up");
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded_however_many_addresses_guess() {
        let wrong = WrongCredentials::new(6);
        for number in 0..ADDRESSES_MAX as u32 + 6 {
            wrong.count(address(number));
        }
        assert!(wrong.buckets.lock().expect("no poison").len() <= ADDRESSES_MAX + 1);
        assert!(wrong.check(address(1_000_000)).is_err(), "the rest shares a bucket");
        assert_eq!(wrong.check(address(3)), Ok(()));
        tokio::time::advance(2 * MINUTE).await;
        wrong.count(address(1_000_000));
        assert_eq!(wrong.buckets.lock().expect("no poison").len(), 1);
    }
}
