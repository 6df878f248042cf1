//! Earlier attempts as rows: (run, attempt), never changed.

use mainspring_model::{Attempt, AttemptToken, Cause, Epoch, NodeId, RunId, Timestamp, Usage};
use serde::{Deserialize, Serialize};

use super::detail;
use crate::batch::{Action, Batch, Kind, column};
use crate::value::{Damage, Param, Row};

/// Inserts attempts.
pub(crate) static INSERT: Batch = Batch {
    table: "attempts",
    columns: &[
        column("run", Kind::Id),
        column("attempt", Kind::Big),
        column("epoch", Kind::Big),
        column("node", Kind::Id),
        column("placed_at", Kind::Big),
        column("started_at", Kind::Big),
        column("finished_at", Kind::Big),
        column("detail", Kind::Bytes),
    ],
    key: 2,
    action: Action::InsertAbsent { unique: &[] },
    row_type: None,
};

/// What a read selects.
pub(crate) const SELECT: &str =
    "SELECT run, attempt, epoch, node, placed_at, started_at, finished_at, detail FROM attempts";

#[derive(Serialize, Deserialize)]
struct Detail {
    cause: Cause,
    #[serde(default)]
    usage: Usage,
}

/// The row of an attempt.
pub(crate) fn encode(attempt: &Attempt) -> Vec<Param> {
    let detail = Detail { cause: attempt.cause.clone(), usage: attempt.usage };
    vec![
        attempt.token.run.as_bytes().into(),
        i64::from(attempt.token.number).into(),
        (attempt.token.epoch.0 as i64).into(),
        attempt.node.as_bytes().into(),
        attempt.placed_at.into(),
        Param::time(attempt.started_at),
        attempt.finished_at.into(),
        detail::to_json(&detail).into(),
    ]
}

/// The attempt of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<Attempt, Damage> {
    let run = RunId::from_bytes(row.id(0)?);
    let number: u32 = row.number(1)?;
    decode_named(row, run, number).map_err(|damage| damage.named(format_args!("{run} attempt {number}")))
}

fn decode_named(row: &dyn Row, run: RunId, number: u32) -> Result<Attempt, Damage> {
    let detail: Detail = detail::json(row.bytes(7)?)?;
    Ok(Attempt {
        token: AttemptToken { run, number, epoch: Epoch(row.int(2)? as u64) },
        node: NodeId::from_bytes(row.id(3)?),
        placed_at: Timestamp::from_micros(row.int(4)?),
        started_at: row.int_opt(5)?.map(Timestamp::from_micros),
        finished_at: Timestamp::from_micros(row.int(6)?),
        cause: detail.cause,
        usage: detail.usage,
    })
}
