//! Leases. Who may take one is [`Lease::may_be_taken`]'s to say; the row is locked while it is asked.

use std::sync::Arc;

use mainspring_model::{CellId, Epoch, Lease, MemberId, Pause, Timestamp};
use mainspring_store::{LeaseGrant, LeaseRequest};

use super::clock;
use super::statement::{Query, Statement};
use crate::dialect::Sql;
use crate::rows::lease;
use crate::session::{Backend, Fault, Result, Session, Work};
use crate::value::{Param, Value};

static LOCKED: Sql = Sql::locking(
    "SELECT cell, epoch, holder, expires_at, seq FROM leases WHERE cell = ?",
    "SELECT cell, epoch, holder, expires_at, seq FROM leases WHERE cell = ? FOR UPDATE",
);
const INSERT: &str = "INSERT INTO leases (cell, epoch, holder, expires_at, seq) VALUES (?, ?, ?, ?, 0)";
const GRANT: &str = "UPDATE leases SET epoch = ?, holder = ?, expires_at = ?, seq = 0 WHERE cell = ?";
const RENEW: &str = "UPDATE leases SET expires_at = CASE WHEN expires_at < ? THEN ? ELSE expires_at END \
     WHERE cell = ? AND epoch = ? AND holder = ?";
const RELEASE: &str = "UPDATE leases SET holder = NULL WHERE cell = ? AND epoch = ? AND holder = ?";

/// Grants the cell, or tells who holds it.
pub(crate) async fn acquire<B: Backend>(backend: &B, request: LeaseRequest) -> Result<LeaseGrant> {
    Ok(backend.transaction(Arc::new(Acquire(request))).await?)
}

struct Acquire(LeaseRequest);

impl Work for Acquire {
    type Answer = LeaseGrant;

    async fn run<S: Session>(&self, session: &mut S) -> Result<LeaseGrant, Fault> {
        let LeaseRequest { cell, member, observed, expires_at } = self.0;
        let cell_param = Value::Int(i64::from(cell.0));
        let found = session.query(LOCKED.text(S::DIALECT), &[cell_param], lease::decode).await?.pop();
        let (holder, end) = (Value::Bytes(member.as_bytes()), Value::Int(expires_at.as_micros()));
        let epoch = match &found {
            Some(lease) if !lease.may_be_taken(member, observed) => {
                return Ok(LeaseGrant::Held(lease.clone()));
            }
            Some(lease) => {
                let epoch = Epoch(lease.epoch.0.wrapping_add(1));
                session.execute(GRANT, &[Value::Int(epoch.0 as i64), holder, end, cell_param]).await?;
                epoch
            }
            None => {
                // Two may insert at once: the second meets the unique key and is run again.
                session.execute(INSERT, &[cell_param, Value::Int(1), holder, end]).await?;
                Epoch(1)
            }
        };
        Ok(LeaseGrant::Granted(Lease { cell, epoch, holder: Some(member), expires_at, seq: 0 }))
    }
}

/// Moves the end of a lease that is still held, never backwards, and reads the server's clock in the same transaction.
pub(crate) async fn renew<B: Backend>(
    backend: &B,
    cell: CellId,
    member: MemberId,
    epoch: Epoch,
    expires_at: Timestamp,
) -> Result<Option<Timestamp>> {
    let mut params = vec![expires_at.into(), expires_at.into()];
    params.extend(held(cell, member, epoch));
    Ok(backend.transaction(Arc::new(Renew(Statement { text: RENEW, params }))).await?)
}

struct Renew(Statement);

impl Work for Renew {
    type Answer = Option<Timestamp>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Timestamp>, Fault> {
        if self.0.run(session).await? != 1 {
            return Ok(None);
        }
        clock::read(session).await.map(Some)
    }
}

/// Gives a lease back.
pub(crate) async fn release<B: Backend>(
    backend: &B,
    cell: CellId,
    member: MemberId,
    epoch: Epoch,
) -> Result<bool> {
    let params = held(cell, member, epoch).to_vec();
    Ok(backend.transaction(Arc::new(Statement { text: RELEASE, params })).await? == 1)
}

fn held(cell: CellId, member: MemberId, epoch: Epoch) -> [Param; 3] {
    [i64::from(cell.0).into(), (epoch.0 as i64).into(), member.as_bytes().into()]
}

/// Every lease, by cell.
pub(crate) async fn all<B: Backend>(backend: &B) -> Result<Vec<Lease>> {
    let mut query = Query::new(lease::SELECT);
    query.order("cell");
    query.sound(backend, lease::decode).await
}

/// The lease of a cell.
pub(crate) async fn one<B: Backend>(backend: &B, cell: CellId) -> Result<Option<Lease>> {
    let mut query = Query::new(lease::SELECT);
    query.and("cell = ?", [i64::from(cell.0).into()]);
    Ok(query.all(backend, lease::decode).await?.pop())
}

/// The pause of a cell.
pub(crate) async fn pause<B: Backend>(backend: &B, cell: CellId) -> Result<Option<Pause>> {
    let mut query = Query::new("SELECT pause FROM leases");
    query.and("cell = ?", [i64::from(cell.0).into()]);
    Ok(query.all(backend, lease::decode_pause).await?.pop().flatten())
}
