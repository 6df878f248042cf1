//! Rows as the store itself wrote them, read back from its tables: the layout and the bytes of the raw side are
//! never written down a second time, so they cannot drift from the store's.

use anyhow::{Context, Result, ensure};
use mainspring_model::Run;

use super::workload::{JOBS, job};

/// Where an update has the version that the row must have.
const EXPECTED: usize = 1;

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Bytes(Vec<u8>),
}

/// A column of a table; `element` is its type where a statement must name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) element: &'static str,
}

/// A whole table, small.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub(super) fn at(&self, name: &str) -> Result<usize> {
        self.columns
            .iter()
            .position(|column| column.name == name)
            .with_context(|| format!("no column {name}"))
    }

    /// The row of each job.
    fn by_job(&self) -> Result<Vec<Vec<Cell>>> {
        let at = self.at("job")?;
        let row = |number: usize| {
            let id = Cell::Bytes(job(number).as_bytes().to_vec());
            let mut of_job = self.rows.iter().filter(|row| row[at] == id);
            let row = of_job.next().cloned().with_context(|| format!("no row of job {number}"))?;
            ensure!(of_job.next().is_none(), "several rows of job {number}");
            Ok(row)
        };
        (0..JOBS).map(row).collect()
    }
}

/// One run of each job, as it is inserted, as it is ended, and as it is counted.
#[derive(Debug)]
pub(super) struct Sample {
    inserts: Vec<Vec<Cell>>,
    updates: Vec<Vec<Cell>>,
    counts: Vec<Vec<Cell>>,
    /// Where the id is in a row to insert, and the rank.
    id: usize,
    rank: usize,
    pub(super) run_columns: Vec<Column>,
    /// The id, the version that the row must have, and the columns that are set.
    pub(super) update_columns: Vec<Column>,
    pub(super) counter_columns: Vec<Column>,
}

impl Sample {
    /// The columns of an insert and of an update are those of their types, or else those of the table in its order.
    pub(super) fn new(
        [inserted, ended]: [&Rows; 2],
        counted: &Rows,
        (insert_type, update_type): (Option<Vec<Column>>, Option<Vec<Column>>),
    ) -> Result<Self> {
        let run_columns = insert_type.unwrap_or_else(|| inserted.columns.clone());
        let update_columns = match update_type {
            Some(columns) => columns,
            None => {
                let compared = [inserted.at("id")?, inserted.at("version")?];
                let compared = compared.map(|at| inserted.columns[at].clone());
                compared.into_iter().chain(inserted.columns[inserted.at("cell")?..].to_vec()).collect()
            }
        };
        let inserts = in_order(inserted, &run_columns)?;
        let mut updates = in_order(ended, &update_columns)?;
        for (update, insert) in updates.iter_mut().zip(in_order(inserted, &update_columns)?) {
            update[EXPECTED] = insert[EXPECTED].clone();
        }
        let place = |name: &str| run_columns.iter().position(|column| column.name == name);
        Ok(Self {
            id: place("id").context("no column id")?,
            rank: place("shelf_rank").context("no column shelf_rank")?,
            inserts,
            updates,
            counts: counted.by_job()?,
            run_columns,
            update_columns,
            counter_columns: counted.columns.clone(),
        })
    }

    /// The rows that insert these runs.
    pub(super) fn inserts(&self, runs: &[Run]) -> Vec<Vec<Cell>> {
        let row = |run: &Run| {
            let mut row = self.inserts[number(run)].clone();
            row[self.id] = id(run);
            row[self.rank] = run.status.place.map_or(Cell::Null, |place| Cell::Int(place.rank));
            row
        };
        runs.iter().map(row).collect()
    }

    /// The rows that end these runs.
    pub(super) fn updates(&self, runs: &[Run]) -> Vec<Vec<Cell>> {
        let row = |run: &Run| {
            let mut row = self.updates[number(run)].clone();
            row[0] = id(run);
            row
        };
        runs.iter().map(row).collect()
    }

    /// The rows that count, one for each job.
    pub(super) fn counts(&self) -> Vec<Vec<Cell>> {
        self.counts.clone()
    }
}

/// The row of each job with these columns.
fn in_order(rows: &Rows, columns: &[Column]) -> Result<Vec<Vec<Cell>>> {
    let places: Vec<usize> = columns.iter().map(|column| rows.at(&column.name)).collect::<Result<_>>()?;
    let of_job = rows.by_job()?;
    Ok(of_job.iter().map(|row| places.iter().map(|at| row[*at].clone()).collect()).collect())
}

fn id(run: &Run) -> Cell {
    Cell::Bytes(run.head.id.as_bytes().to_vec())
}

fn number(run: &Run) -> usize {
    (0..JOBS).find(|number| job(*number) == run.head.job).unwrap_or_default()
}
