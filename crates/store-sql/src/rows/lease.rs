//! Leases as rows: one for each cell, with the pause of the cell beside them.

use mainspring_model::{CellId, Epoch, Lease, MemberId, Pause, Timestamp};

use super::detail;
use crate::value::{Damage, Row};

/// What a read selects.
pub(crate) const SELECT: &str = "SELECT cell, epoch, holder, expires_at, seq FROM leases";

/// The lease of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<Lease, Damage> {
    let cell = CellId(row.number(0)?);
    decode_named(row, cell).map_err(|damage| damage.named(format_args!("lease of {cell}")))
}

fn decode_named(row: &dyn Row, cell: CellId) -> Result<Lease, Damage> {
    Ok(Lease {
        cell,
        epoch: Epoch(row.int(1)? as u64),
        holder: row.id_opt(2)?.map(MemberId::from_bytes),
        expires_at: Timestamp::from_micros(row.int(3)?),
        seq: row.int(4)? as u64,
    })
}

/// The pause in the only column of a row.
pub(crate) fn decode_pause(row: &dyn Row) -> Result<Option<Pause>, Damage> {
    row.bytes_opt(0)?.map(detail::json).transpose().map_err(|damage: Damage| damage.named("pause of a cell"))
}
