//! Runs as rows: the columns in their order, the batches that insert and update them, and the way back.

use std::sync::Arc;

use mainspring_model::{
    CellId, Epoch, JobId, Namespace, Payload, Place, Run, RunId, RunState, RunStatus, Shelf,
};
use mainspring_store::RunUpdate;

use super::run_detail::{self, HeadColumns, StatusColumns};
use crate::batch::{Action, Batch, Column, Kind, column};
use crate::dialect::Sql;
use crate::value::{Damage, Row, Rows, Value};

/// Every column, the head's first, in the order of inserts and reads. Columns are what some query asks for; each
/// costs every run a third of a microsecond, so all else is in `head` and `detail`.
const COLUMNS: &[Column] = &[
    column("id", Kind::Id),
    column("namespace", Kind::Bytes),
    column("job", Kind::Id),
    column("idempotency_key", Kind::Bytes),
    column("params", Kind::Bytes),
    column("head", Kind::Bytes),
    column("cell", Kind::Int),
    column("version", Kind::Big),
    column("epoch", Kind::Big),
    column("state", Kind::Small),
    column("shelf", Kind::Small),
    column("shelf_rank", Kind::Big),
    column("detail", Kind::Bytes),
];
const HEAD_COLUMNS: usize = 6;

/// The columns of an update: the key, the expected version, and the whole status.
const UPDATE_COLUMNS: &[Column] = &[
    column("id", Kind::Id),
    column("version", Kind::Big),
    column("cell", Kind::Int),
    column("version", Kind::Big),
    column("epoch", Kind::Big),
    column("state", Kind::Small),
    column("shelf", Kind::Small),
    column("shelf_rank", Kind::Big),
    column("detail", Kind::Bytes),
];

/// What a read of whole runs selects.
pub(crate) const SELECT: &str = "SELECT id, namespace, job, idempotency_key, params, head, cell, version, epoch, \
     state, shelf, shelf_rank, detail FROM runs";

/// The same, of runs that are not over, and always by their own small index: a planner that hopes to meet them soon in
/// another order would read history instead.
pub(crate) static SELECT_ACTIVE: Sql = Sql::each(
    "SELECT id, namespace, job, idempotency_key, params, head, cell, version, epoch, state, shelf, shelf_rank, detail \
     FROM runs INDEXED BY runs_active WHERE shelf IS NOT NULL",
    "SELECT id, namespace, job, idempotency_key, params, head, cell, version, epoch, state, shelf, shelf_rank, detail \
     FROM (SELECT * FROM runs WHERE shelf IS NOT NULL OFFSET 0) active WHERE true",
    "SELECT id, namespace, job, idempotency_key, params, head, cell, version, epoch, state, shelf, shelf_rank, detail \
     FROM runs FORCE INDEX (runs_active) WHERE shelf IS NOT NULL",
);

/// Where a run's rank is in [`SELECT`].
pub(crate) const SHELF_RANK: usize = 11;

/// Inserts runs.
pub(crate) static INSERT: Batch = Batch {
    table: "runs",
    columns: COLUMNS,
    key: 1,
    action: Action::InsertAbsent { unique: &[1, 3] },
    row_type: Some("run_insert"),
};

/// Replaces the status of runs.
pub(crate) static UPDATE: Batch = Batch {
    table: "runs",
    columns: UPDATE_COLUMNS,
    key: 1,
    action: Action::CompareAndSet,
    row_type: Some("run_update"),
};

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
        let mut details = Vec::with_capacity(runs.len() * 96);
        let ends = runs
            .iter()
            .map(|run| {
                run_detail::write_head(&run.head, &mut details);
                let head = details.len();
                run_detail::write_status(run.head.id, &run.status, &mut details);
                (head, details.len())
            })
            .collect();
        Self { runs, details, ends }
    }

    /// Whether a run has an idempotency key: then somebody may have sent it before.
    pub(crate) fn have_keys(&self) -> bool {
        self.runs.iter().any(|run| run.head.idempotency_key.is_some())
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
            3 => Value::bytes_or_null(head.idempotency_key.as_deref().map(str::as_bytes)),
            4 => Value::filled_or_null(&head.params),
            5 => Value::filled_or_null(&self.details[self.begin(row)..self.ends[row].0]),
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
        let mut details = Vec::with_capacity(updates.len() * 64);
        let ends = updates
            .iter()
            .map(|update| {
                run_detail::write_status(update.id, &update.status, &mut details);
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

fn status_value<'a>(status: &RunStatus, detail: &'a [u8], column: usize) -> Value<'a> {
    match column {
        0 => Value::Int(i64::from(status.cell.0)),
        1 => Value::Int(status.version as i64),
        2 => Value::Int(status.epoch.0 as i64),
        3 => Value::Int(status.state as i64),
        4 => Value::int_or_null(status.place.map(|place| place.shelf as i64)),
        5 => Value::int_or_null(status.place.map(|place| place.rank)),
        _ => Value::filled_or_null(detail),
    }
}

/// Reads what [`SELECT`] selects.
pub(crate) fn decode(row: &dyn Row) -> Result<Run, Damage> {
    let id = RunId::from_bytes(row.id(0)?);
    decode_named(row, id).map_err(|damage| damage.named(id))
}

fn decode_named(row: &dyn Row, id: RunId) -> Result<Run, Damage> {
    let columns = HeadColumns {
        id,
        namespace: namespace(row, 1)?,
        job: JobId::from_bytes(row.id(2)?),
        idempotency_key: match row.bytes_opt(3)? {
            Some(_) => Some(row.text(3)?.into()),
            None => None,
        },
        params: Payload::from(row.bytes_opt(4)?.unwrap_or_default()),
    };
    let head = run_detail::read_head(columns, row.bytes_opt(5)?)?;
    let state: u8 = row.number(9)?;
    let columns = StatusColumns {
        cell: CellId(row.number(6)?),
        version: row.int(7)? as u64,
        epoch: Epoch(row.int(8)? as u64),
        state: RunState::from_number(state).ok_or_else(|| Damage::new(format!("no state {state}")))?,
        place: place(row, 10)?,
    };
    let status = run_detail::read_status(id, columns, row.bytes_opt(12)?)?;
    Ok(Run { head: Arc::new(head), status })
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
    use crate::dialect::Dialect;

    #[test]
    fn the_columns_of_a_read_are_those_of_an_insert() {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(SELECT, format!("SELECT {} FROM runs", names.join(", ")));
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            assert!(SELECT_ACTIVE.text(dialect).starts_with(SELECT.strip_suffix("runs").unwrap()));
        }
        assert_eq!(UPDATE_COLUMNS[2..], COLUMNS[HEAD_COLUMNS..]);
        assert_eq!(names[SHELF_RANK], "shelf_rank");
    }
}
