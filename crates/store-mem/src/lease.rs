//! Leases and members. Who may take a lease is `model`'s rule; here are only the rows.

use mainspring_model::{CellId, Epoch, Lease, Member, MemberId, Timestamp};
use mainspring_store::{LeaseGrant, LeaseRequest};

use crate::core::MemCore;

impl MemCore {
    /// Grants the cell under the next epoch if the lease may be taken, else tells who holds it.
    pub fn acquire_lease(&mut self, request: LeaseRequest) -> LeaseGrant {
        let LeaseRequest { cell, member, observed, expires_at } = request;
        let epoch = match self.leases.get(&cell) {
            Some(lease) if !lease.may_be_taken(member, observed) => return LeaseGrant::Held(lease.clone()),
            Some(lease) => Epoch(lease.epoch.0 + 1),
            None => Epoch(1),
        };
        let lease = Lease { cell, epoch, holder: Some(member), expires_at, seq: 0 };
        self.leases.insert(cell, lease.clone());
        LeaseGrant::Granted(lease)
    }

    /// Moves the end of a lease that the caller still holds, never backwards.
    pub fn renew_lease(
        &mut self,
        cell: CellId,
        member: MemberId,
        epoch: Epoch,
        expires_at: Timestamp,
    ) -> bool {
        match self.held_lease(cell, member, epoch) {
            Some(lease) => {
                lease.expires_at = lease.expires_at.max(expires_at);
                true
            }
            None => false,
        }
    }

    /// Gives a lease back.
    pub fn release_lease(&mut self, cell: CellId, member: MemberId, epoch: Epoch) -> bool {
        match self.held_lease(cell, member, epoch) {
            Some(lease) => {
                lease.holder = None;
                true
            }
            None => false,
        }
    }

    /// Every lease, by cell.
    pub fn leases(&self) -> Vec<Lease> {
        self.leases.values().cloned().collect()
    }

    /// Inserts or replaces a member.
    pub fn put_member(&mut self, member: Member) {
        self.members.insert(member.id, member);
    }

    /// Removes members not seen since `seen_before`.
    pub fn remove_members(&mut self, seen_before: Timestamp) -> u64 {
        let had = self.members.len();
        self.members.retain(|_, member| member.seen_at >= seen_before);
        (had - self.members.len()) as u64
    }

    /// Every member, by id.
    pub fn members(&self) -> Vec<Member> {
        self.members.values().cloned().collect()
    }

    fn held_lease(&mut self, cell: CellId, member: MemberId, epoch: Epoch) -> Option<&mut Lease> {
        self.leases.get_mut(&cell).filter(|lease| lease.epoch == epoch && lease.holder == Some(member))
    }
}
