//! Members as rows.

use mainspring_model::{Member, MemberId, Timestamp};
use serde::{Deserialize, Serialize};

use super::detail;
use crate::value::{Damage, Row};

/// What a read selects.
pub(crate) const SELECT: &str = "SELECT id, seen_at, detail FROM members";

#[derive(Serialize, Deserialize)]
struct Detail {
    address: Box<str>,
    load: u64,
    software: Box<str>,
}

/// The detail column of a member.
pub(crate) fn detail(member: &Member) -> Vec<u8> {
    let Member { address, load, software, .. } = member.clone();
    detail::to_json(&Detail { address, load, software })
}

/// The member of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<Member, Damage> {
    let id = MemberId::from_bytes(row.id(0)?);
    let detail: Detail = row.bytes(2).and_then(detail::json).map_err(|damage| damage.named(id))?;
    Ok(Member {
        id,
        address: detail.address,
        seen_at: Timestamp::from_micros(row.int(1)?),
        load: detail.load,
        software: detail.software,
    })
}
