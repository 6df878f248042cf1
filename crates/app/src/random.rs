//! Chance: ids for things, and secrets.
//!
//! Ids need to differ, not to be unguessable: they come from a seed of the process and a counter, without a system call for
//! each. Secrets come from the operating system, every time.

use std::sync::atomic::{AtomicU64, Ordering};

use mainspring_model::hash::mix;
use mainspring_model::{BackfillId, BulkId, JobId, MemberId, RunId, Timestamp};

use crate::secret::SecretKind;

/// The source of ids.
#[derive(Debug)]
pub struct Random {
    seed: [u64; 2],
    count: AtomicU64,
}

impl Random {
    /// A source with a seed of its own.
    ///
    /// # Panics
    /// When the operating system has no random source: nothing could be kept secret then.
    pub fn new() -> Self {
        let bytes = secret_bytes();
        let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self::seeded([half(0), half(8)])
    }

    /// A source with this seed, for what must come out the same again.
    pub fn seeded(seed: [u64; 2]) -> Self {
        Self { seed, count: AtomicU64::new(0) }
    }

    /// A run made now.
    pub fn run_id(&self, now: Timestamp) -> RunId {
        RunId::new(now, self.next())
    }

    /// A bulk operation made now.
    pub fn bulk_id(&self, now: Timestamp) -> BulkId {
        BulkId::new(now, self.next())
    }

    /// A job made now.
    pub fn job_id(&self, now: Timestamp) -> JobId {
        JobId::new(now, self.next())
    }

    /// A backfill begun now.
    pub fn backfill_id(&self, now: Timestamp) -> BackfillId {
        BackfillId::new(now, self.next())
    }

    /// A process that began now.
    pub fn member_id(&self, now: Timestamp) -> MemberId {
        MemberId::new(now, self.next())
    }

    /// A name for a request that has none, and the nonce of a page: from the operating system, because they are shown.
    pub fn request_id(&self) -> u64 {
        u64::from_le_bytes(random_bytes())
    }

    /// A secret of this kind.
    pub(crate) fn secret(&self, kind: SecretKind) -> String {
        kind.secret(secret_bytes())
    }

    fn next(&self) -> u128 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let [one, two] =
            self.seed.map(|seed| mix(seed.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        u128::from(one) << 64 | u128::from(two)
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

fn secret_bytes() -> [u8; 32] {
    random_bytes()
}

/// Bytes from the operating system.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if let Err(error) = getrandom::fill(&mut bytes) {
        panic!("the operating system has no random source: {error}");
    }
    bytes
}
