//! Remarkable events as rows: (run, version, ordinal), never changed.

use mainspring_model::{RunEvent, RunId, Timestamp};

use super::detail;
use crate::batch::{Action, Batch, Kind, column};
use crate::value::{Damage, Param, Row};

/// Inserts events.
pub(crate) static INSERT: Batch = Batch {
    table: "run_events",
    columns: &[
        column("run", Kind::Id),
        column("version", Kind::Big),
        column("ordinal", Kind::Int),
        column("happened_at", Kind::Big),
        column("detail", Kind::Bytes),
    ],
    key: 3,
    action: Action::InsertAbsent { unique: &[] },
    row_type: None,
};

/// What a read selects.
pub(crate) const SELECT: &str = "SELECT run, version, ordinal, happened_at, detail FROM run_events";

/// The row of an event.
pub(crate) fn encode(event: &RunEvent) -> Vec<Param> {
    vec![
        event.run.as_bytes().into(),
        (event.version as i64).into(),
        i64::from(event.ordinal).into(),
        event.at.into(),
        detail::to_json(&event.kind).into(),
    ]
}

/// The event of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<RunEvent, Damage> {
    let run = RunId::from_bytes(row.id(0)?);
    let version = row.int(1)? as u64;
    let named = |damage: Damage| damage.named(format_args!("{run} event of version {version}"));
    Ok(RunEvent {
        run,
        version,
        ordinal: row.number(2).map_err(named)?,
        at: Timestamp::from_micros(row.int(3).map_err(named)?),
        kind: row.bytes(4).and_then(detail::json).map_err(named)?,
    })
}
