//! Cells, their leases and the members that hold them.
//!
//! A cell is a slice of the work with exactly one owner at a time. The lease row's epoch grows with
//! every grant; its `seq` counts the owner's commits, so a commit whose outcome was lost can be asked
//! about. Who may take a lease is decided in [`Lease::may_be_taken`], not in SQL.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::MemberId;
use crate::namespace::Namespace;
use crate::time::Timestamp;

/// A slice of the work: its runs and its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellId(pub u16);

impl CellId {
    /// The home cell of a namespace in a cluster of `cells` cells. All runs of a namespace start in one
    /// cell, so its limits are counted in one place.
    pub fn of(namespace: &Namespace, cells: u16) -> Self {
        let hash = crate::hash::bytes(namespace.as_str().as_bytes());
        Self((hash % u64::from(cells.max(1))) as u16)
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}", self.0)
    }
}

/// The number of a grant of a cell. Grows by one with every grant and never comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {}", self.0)
    }
}

/// Who owns a cell, since which epoch, until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The cell.
    pub cell: CellId,
    /// The number of this grant.
    pub epoch: Epoch,
    /// The owner; none after a release.
    pub holder: Option<MemberId>,
    /// By the store's clock, as the holder saw it. For people, and to see that the holder still renews:
    /// every renewal moves it.
    pub expires_at: Timestamp,
    /// How many commits the owner made under this epoch.
    pub seq: u64,
}

impl Lease {
    /// Whether `member` may take the cell. A released lease is free and the holder itself may always begin
    /// a new epoch. Anyone else must have watched this very row stay unchanged for longer than its holder
    /// may act on it ([`crate::limits::LEASE_TTL`] plus one renewal period, by the watcher's own monotonic
    /// clock) and names what it saw. No two clocks are compared, so a jump of one deposes nobody.
    pub fn may_be_taken(&self, member: MemberId, observed: Option<(Epoch, Timestamp)>) -> bool {
        match self.holder {
            None => true,
            Some(holder) => holder == member || observed == Some((self.epoch, self.expires_at)),
        }
    }
}

/// A scheduler process of the cluster, as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its id, new with every start of the process unless it can prove that the old one is dead.
    pub id: MemberId,
    /// Where other members and agents reach it.
    pub address: Box<str>,
    /// When it last said that it lives, by the store's clock.
    pub seen_at: Timestamp,
    /// How much it does: active runs over all its cells.
    pub load: u64,
    /// The program's version, for rolling upgrades.
    pub software: Box<str>,
}
