//! Confirmation of a change that was written beside the owner of a cell: from when on it counts.
//!
//! Any server writes a change of a job; only the owner of the cell fires. The change counts when no owner can act without it:
//! - the owner answers [`crate::Event::TriggersChanged`]: it has the rows in memory, and a fenced commit since shows that it
//!   is still the owner; or
//! - the lease, read after the change was written, has no holder, or has another epoch than at an earlier such read: whoever
//!   owns the cell then took it after the change, and loads it. What an older owner still sends fails at the fence.
//!
//! Until then the change is not acknowledged. No clock is read here and none is compared.

use mainspring_model::{Epoch, Lease};

/// What is known about the owners of a cell since a change was written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Confirmation {
    /// The epoch of the first read. Its owner may have loaded before the change.
    first: Option<Epoch>,
}

impl Confirmation {
    /// The lease as it was read after the change was written. True when the change counts whatever an owner says.
    pub fn lease_seen(&mut self, lease: Option<&Lease>) -> bool {
        match lease.filter(|lease| lease.holder.is_some()) {
            Some(lease) => *self.first.get_or_insert(lease.epoch) != lease.epoch,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, MemberId, Timestamp};

    use super::*;

    /// Whether a change counts after each of these reads: an epoch and whether somebody holds it.
    fn check(reads: &[Option<(u64, bool)>], counts: &[bool]) {
        let mut confirmation = Confirmation::default();
        let lease = |(epoch, held): (u64, bool)| Lease {
            cell: CellId(0),
            epoch: Epoch(epoch),
            holder: held.then_some(MemberId::MIN),
            expires_at: Timestamp::ZERO,
            seq: 0,
        };
        let seen: Vec<bool> =
            reads.iter().map(|read| confirmation.lease_seen(read.map(lease).as_ref())).collect();
        assert_eq!(seen, counts, "{reads:?}");
    }

    #[test]
    fn only_an_owner_that_took_the_cell_after_the_change_counts_unasked() {
        check(&[Some((4, true)), Some((4, true)), Some((5, true))], &[false, false, true]);
        check(&[Some((4, true)), Some((4, false))], &[false, true]);
        check(&[Some((4, false))], &[true]);
        check(&[None], &[true]);
    }
}
