//! Rows as the store itself wrote them, read back from its tables: the layout and the bytes of the raw side are
//! never written down a second time, so they cannot drift from the store's.

use anyhow::{Context, Result, ensure};
use mainspring_model::Run;

use super::workload::{JOBS, job};

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

/// One run of each job, as it was inserted, as it ended, and as it was counted.
#[derive(Debug)]
pub(super) struct Sample {
    inserted: Vec<Vec<Cell>>,
    ended: Vec<Vec<Cell>>,
    counted: Vec<Vec<Cell>>,
    id: usize,
    version: usize,
    rank: usize,
    /// Where the status begins: the columns that an update sets.
    status: usize,
    pub(super) run_columns: Vec<Column>,
    pub(super) update_columns: Vec<Column>,
    pub(super) counter_columns: Vec<Column>,
}

impl Sample {
    pub(super) fn new(inserted: &Rows, ended: &Rows, counted: &Rows) -> Result<Self> {
        let (id, version, status) = (inserted.at("id")?, inserted.at("version")?, inserted.at("cell")?);
        let compared = [id, version].map(|at| inserted.columns[at].clone());
        let set = inserted.columns[status..].iter().cloned();
        Ok(Self {
            inserted: inserted.by_job()?,
            ended: ended.by_job()?,
            counted: counted.by_job()?,
            id,
            version,
            rank: inserted.at("shelf_rank")?,
            status,
            run_columns: inserted.columns.clone(),
            update_columns: compared.into_iter().chain(set).collect(),
            counter_columns: counted.columns.clone(),
        })
    }

    /// The rows that insert these runs.
    pub(super) fn inserts(&self, runs: &[Run]) -> Vec<Vec<Cell>> {
        let row = |run: &Run| {
            let mut row = self.inserted[number(run)].clone();
            row[self.id] = id(run);
            row[self.rank] = run.status.place.map_or(Cell::Null, |place| Cell::Int(place.rank));
            row
        };
        runs.iter().map(row).collect()
    }

    /// The rows that end these runs: the id, the version expected, and the columns that are set.
    pub(super) fn updates(&self, runs: &[Run]) -> Vec<Vec<Cell>> {
        let row = |run: &Run| {
            let number = number(run);
            let mut row = vec![id(run), self.inserted[number][self.version].clone()];
            row.extend_from_slice(&self.ended[number][self.status..]);
            row
        };
        runs.iter().map(row).collect()
    }

    /// The rows that count, one for each job.
    pub(super) fn counts(&self) -> Vec<Vec<Cell>> {
        self.counted.clone()
    }
}

fn id(run: &Run) -> Cell {
    Cell::Bytes(run.head.id.as_bytes().to_vec())
}

fn number(run: &Run) -> usize {
    (0..JOBS).find(|number| job(*number) == run.head.job).unwrap_or_default()
}
