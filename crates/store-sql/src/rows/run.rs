//! Runs as rows: the columns in their order, the batches that insert and update them, and the way back.

use std::sync::Arc;

use mainspring_model::{
    CellId, Epoch, JobId, Namespace, NodeId, Payload, Place, Run, RunHead, RunId, RunState, RunStatus, Shelf,
    Timestamp,
};
use mainspring_store::RunUpdate;

use super::run_detail;
use crate::batch::{Action, Batch, Column, Kind, column};
use crate::value::{Damage, Row, Rows, Value};

/// Every column, the head's first, in the order of inserts and reads.
const COLUMNS: &[Column] = &[
    column("id", Kind::Bytes),
    column("namespace", Kind::Bytes),
    column("job", Kind::Bytes),
    column("job_version", Kind::Big),
    column("idempotency_key", Kind::Bytes),
    column("priority", Kind::Int),
    column("created_at", Kind::Big),
    column("params", Kind::Bytes),
    column("head", Kind::Bytes),
    column("cell", Kind::Int),
    column("version", Kind::Big),
    column("epoch", Kind::Big),
    column("state", Kind::Small),
    column("shelf", Kind::Small),
    column("shelf_rank", Kind::Big),
    column("attempt", Kind::Big),
    column("node", Kind::Bytes),
    column("eligible_at", Kind::Big),
    column("placed_at", Kind::Big),
    column("started_at", Kind::Big),
    column("finished_at", Kind::Big),
    column("cause", Kind::Small),
    column("detail", Kind::Bytes),
];
const HEAD_COLUMNS: usize = 9;

/// The columns of an update: the key, the expected version, and the whole status.
const UPDATE_COLUMNS: &[Column] = &[
    column("id", Kind::Bytes),
    column("version", Kind::Big),
    column("cell", Kind::Int),
    column("version", Kind::Big),
    column("epoch", Kind::Big),
    column("state", Kind::Small),
    column("shelf", Kind::Small),
    column("shelf_rank", Kind::Big),
    column("attempt", Kind::Big),
    column("node", Kind::Bytes),
    column("eligible_at", Kind::Big),
    column("placed_at", Kind::Big),
    column("started_at", Kind::Big),
    column("finished_at", Kind::Big),
    column("cause", Kind::Small),
    column("detail", Kind::Bytes),
];

/// What a read of whole runs selects.
pub(crate) const SELECT: &str = "SELECT id, namespace, job, job_version, idempotency_key, priority, created_at, \
     params, head, cell, version, epoch, state, shelf, shelf_rank, attempt, node, eligible_at, placed_at, started_at, \
     finished_at, cause, detail FROM runs";

/// Inserts runs.
pub(crate) static INSERT: Batch =
    Batch { table: "runs", columns: COLUMNS, key: 1, action: Action::InsertAbsent { unique: &[1, 4] } };

/// Replaces the status of runs.
pub(crate) static UPDATE: Batch =
    Batch { table: "runs", columns: UPDATE_COLUMNS, key: 1, action: Action::CompareAndSet };

/// Runs to insert, with their details written once.
pub(crate) struct Inserts<'a> {
    runs: Vec<&'a Run>,
    details: Vec<u8>,
    /// For each run, where its head's detail and then its status's detail end in `details`.
    ends: Vec<(usize, usize)>,
}

impl<'a> Inserts<'a> {
    /// These runs.
    pub(crate) fn new(runs: Vec<&'a Run>) -> Self {
        let mut details = Vec::with_capacity(runs.len() * 16);
        let ends = runs
            .iter()
            .map(|run| {
                run_detail::write_head(&run.head, &mut details);
                let head = details.len();
                run_detail::write_status(&run.status, &mut details);
                (head, details.len())
            })
            .collect();
        Self { runs, details, ends }
    }

    fn begin(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1].1 }
    }
}

impl Rows for Inserts<'_> {
    fn len(&self) -> usize {
        self.runs.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let head = &*self.runs[row].head;
        match column {
            0 => Value::Bytes(head.id.as_bytes()),
            1 => Value::Bytes(head.namespace.as_str().as_bytes()),
            2 => Value::Bytes(head.job.as_bytes()),
            3 => Value::Int(i64::from(head.job_version)),
            4 => Value::bytes_or_null(head.idempotency_key.as_deref().map(str::as_bytes)),
            5 => Value::Int(i64::from(head.priority)),
            6 => Value::Int(head.created_at.as_micros()),
            7 => Value::filled_or_null(&head.params),
            8 => Value::filled_or_null(&self.details[self.begin(row)..self.ends[row].0]),
            _ => {
                let detail = &self.details[self.ends[row].0..self.ends[row].1];
                status_value(&self.runs[row].status, detail, column - HEAD_COLUMNS)
            }
        }
    }

    fn heavy_bytes(&self, row: usize) -> usize {
        self.runs[row].head.params.len() + self.ends[row].1 - self.begin(row)
    }
}

/// Statuses to set, with their details written once.
pub(crate) struct Updates<'a> {
    updates: Vec<&'a RunUpdate>,
    details: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> Updates<'a> {
    /// These updates.
    pub(crate) fn new(updates: Vec<&'a RunUpdate>) -> Self {
        let mut details = Vec::new();
        let ends = updates
            .iter()
            .map(|update| {
                run_detail::write_status(&update.status, &mut details);
                details.len()
            })
            .collect();
        Self { updates, details, ends }
    }

    fn begin(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }
}

impl Rows for Updates<'_> {
    fn len(&self) -> usize {
        self.updates.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let update = self.updates[row];
        match column {
            0 => Value::Bytes(update.id.as_bytes()),
            1 => Value::Int(update.expected as i64),
            _ => status_value(&update.status, &self.details[self.begin(row)..self.ends[row]], column - 2),
        }
    }

    fn heavy_bytes(&self, row: usize) -> usize {
        self.ends[row] - self.begin(row)
    }
}

fn status_value<'a>(status: &'a RunStatus, detail: &'a [u8], column: usize) -> Value<'a> {
    let time = |at: Option<Timestamp>| Value::int_or_null(at.map(Timestamp::as_micros));
    match column {
        0 => Value::Int(i64::from(status.cell.0)),
        1 => Value::Int(status.version as i64),
        2 => Value::Int(status.epoch.0 as i64),
        3 => Value::Int(status.state as i64),
        4 => Value::int_or_null(status.place.map(|place| place.shelf as i64)),
        5 => Value::int_or_null(status.place.map(|place| place.rank)),
        6 => Value::Int(i64::from(status.attempt)),
        7 => Value::bytes_or_null(status.node.as_ref().map(|node| node.as_bytes().as_slice())),
        8 => time(status.eligible_at),
        9 => time(status.placed_at),
        10 => time(status.started_at),
        11 => time(status.finished_at),
        12 => Value::int_or_null(status.cause.as_ref().map(|cause| i64::from(cause.number()))),
        _ => Value::filled_or_null(detail),
    }
}

/// Reads what [`SELECT`] selects.
pub(crate) fn decode(row: &dyn Row) -> Result<Run, Damage> {
    let id = RunId::from_bytes(row.id(0)?);
    decode_named(row, id).map_err(|damage| damage.named(id))
}

fn decode_named(row: &dyn Row, id: RunId) -> Result<Run, Damage> {
    let mut head = RunHead {
        id,
        namespace: namespace(row, 1)?,
        job: JobId::from_bytes(row.id(2)?),
        job_version: row.number(3)?,
        inline_spec: None,
        idempotency_key: match row.bytes_opt(4)? {
            Some(_) => Some(row.text(4)?.into()),
            None => None,
        },
        priority: row.number(5)?,
        created_at: Timestamp::from_micros(row.int(6)?),
        not_before: None,
        deadline: None,
        params: Payload::from(row.bytes_opt(7)?.unwrap_or_default()),
        keys: None,
        submitted_by: "".into(),
    };
    run_detail::read_head(row.bytes_opt(8)?, &mut head)?;
    Ok(Run { head: Arc::new(head), status: decode_status(row, HEAD_COLUMNS)? })
}

fn decode_status(row: &dyn Row, first: usize) -> Result<RunStatus, Damage> {
    let time = |column: usize| Ok(row.int_opt(first + column)?.map(Timestamp::from_micros));
    let epoch = Epoch(row.int(first + 2)? as u64);
    let mut status = RunStatus {
        cell: CellId(row.number(first)?),
        version: row.int(first + 1)? as u64,
        epoch,
        state: row
            .number(first + 3)
            .ok()
            .and_then(RunState::from_number)
            .ok_or_else(|| Damage::new("no such state"))?,
        place: place(row, first + 4)?,
        attempt: row.number(first + 6)?,
        attempt_epoch: epoch,
        losses: 0,
        node: row.id_opt(first + 7)?.map(NodeId::from_bytes),
        eligible_at: time(8)?,
        placed_at: time(9)?,
        started_at: time(10)?,
        finished_at: time(11)?,
        cause: None,
        reason: None,
        extra: None,
    };
    run_detail::read_status(row.bytes_opt(first + 13)?, row.int_opt(first + 12)?, &mut status)?;
    Ok(status)
}

fn place(row: &dyn Row, column: usize) -> Result<Option<Place>, Damage> {
    match (row.int_opt(column)?, row.int_opt(column + 1)?) {
        (None, None) => Ok(None),
        (Some(shelf), Some(rank)) => {
            let shelf = u8::try_from(shelf).ok().and_then(Shelf::from_number);
            let shelf = shelf.ok_or_else(|| Damage::new("no such shelf"))?;
            Ok(Some(Place { shelf, rank }))
        }
        _ => Err(Damage::new("half a place")),
    }
}

/// Reads a namespace.
pub(crate) fn namespace(row: &dyn Row, column: usize) -> Result<Namespace, Damage> {
    row.text(column)?.parse().map_err(|error| Damage::new(format!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_a_read_are_those_of_an_insert() {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(SELECT, format!("SELECT {} FROM runs", names.join(", ")));
        assert_eq!(UPDATE_COLUMNS[2..], COLUMNS[HEAD_COLUMNS..]);
    }
}
