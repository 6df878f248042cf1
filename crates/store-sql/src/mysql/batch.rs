//! Batches without `RETURNING`: many rows in one statement as long as all goes well, and the slow way to find out
//! which rows were in the way when it does not.
//!
//! An insert that meets a duplicate undoes only its own statement: what exists is read, and the rest is inserted
//! again. A comparison that misses a row has changed the others already, so the whole transaction is run
//! again, this time with the rows read and locked first.

use std::collections::HashSet;

use super::fault;
use super::param::{MysqlRow, params, sortable};
use super::session::MysqlSession;
use crate::batch::{self, Action, Batch};
use crate::session::{Applied, Fault, Result};
use crate::value::{Row, Rows, Value};

/// Rows of one statement, and their bytes: a packet has at most 16 MiB unless the server is told otherwise.
const ROWS_MAX: usize = 256;
const BYTES_MAX: usize = 4 << 20;
/// How often what exists is read before rows go one by one.
const ROUNDS_MAX: usize = 3;
/// Keys in one read.
const KEYS_MAX: usize = 64;

type Key = Vec<Vec<u8>>;

impl MysqlSession {
    pub(super) async fn batch(&mut self, batch: &'static Batch, rows: &dyn Rows) -> Result<Applied, Fault> {
        let mut refused = Vec::new();
        for range in batch::cut(rows, ROWS_MAX, BYTES_MAX) {
            let all: Vec<usize> = range.collect();
            match batch.action {
                Action::Add | Action::Ensure => {
                    self.write(batch, rows, &all).await.map(drop).map_err(fault::of_statement)?
                }
                Action::InsertAbsent { unique } => {
                    self.insert(batch, rows, all, unique, &mut refused).await?
                }
                Action::CompareAndSet | Action::CompareAndRemove => {
                    self.compare(batch, rows, all, &mut refused).await?
                }
            }
        }
        if refused.is_empty() {
            return Ok(Applied::All);
        }
        let mut applied = vec![true; rows.len()];
        for row in refused {
            applied[row] = false;
        }
        Ok(Applied::Some(applied))
    }

    /// Writes these rows in statements whose sizes are powers of two, so that few texts are prepared; tells how many
    /// rows were found.
    async fn write(
        &mut self,
        batch: &'static Batch,
        rows: &dyn Rows,
        which: &[usize],
    ) -> mysql_async::Result<u64> {
        let mut found = 0;
        let mut left = which;
        while !left.is_empty() {
            let size = 1 << left.len().ilog2();
            let (these, rest) = left.split_at(size);
            let text = self.texts.of(batch, size);
            let cells =
                these.iter().flat_map(|row| (0..batch.columns.len()).map(|column| rows.value(*row, column)));
            found += self.found(&text, params(cells)).await?;
            left = rest;
        }
        Ok(found)
    }

    async fn insert(
        &mut self,
        batch: &'static Batch,
        rows: &dyn Rows,
        mut these: Vec<usize>,
        unique: &'static [usize],
        refused: &mut Vec<usize>,
    ) -> Result<(), Fault> {
        for _ in 0..ROUNDS_MAX {
            // A duplicate in a later statement leaves the rows of the earlier ones inserted, and then they would seem
            // to exist: so each statement is one round of its own.
            let Some(done) = self.insert_some(batch, rows, &these).await? else { return Ok(()) };
            these.drain(..done);
            let key: Vec<usize> = (0..batch.key).collect();
            let mut exists = self.existing(batch, rows, &these, &key).await?;
            exists.extend(self.existing(batch, rows, &these, unique).await?);
            these.retain(|row| !exists.contains(row));
            refused.extend(exists);
        }
        for row in these {
            match self.write(batch, rows, &[row]).await {
                Ok(_) => {}
                Err(error) if fault::is_duplicate(&error) => refused.push(row),
                Err(error) => return Err(fault::of_statement(error)),
            }
        }
        Ok(())
    }

    /// Inserts until a duplicate is met; tells how many rows are in then, or nothing when all are.
    async fn insert_some(
        &mut self,
        batch: &'static Batch,
        rows: &dyn Rows,
        these: &[usize],
    ) -> Result<Option<usize>, Fault> {
        let mut done = 0;
        while done < these.len() {
            let size = 1 << (these.len() - done).ilog2();
            match self.write(batch, rows, &these[done..done + size]).await {
                Ok(_) => done += size,
                Err(error) if fault::is_duplicate(&error) => return Ok(Some(done)),
                Err(error) => return Err(fault::of_statement(error)),
            }
        }
        Ok(None)
    }

    /// Which of these rows have a key, in these columns, that exists.
    async fn existing(
        &mut self,
        batch: &'static Batch,
        rows: &dyn Rows,
        these: &[usize],
        columns: &[usize],
    ) -> Result<HashSet<usize>, Fault> {
        let key =
            |row: usize| -> Key { columns.iter().map(|column| sortable(rows.value(row, *column))).collect() };
        let keyed: Vec<usize> = these
            .iter()
            .copied()
            .filter(|row| {
                !columns.is_empty() && columns.iter().all(|column| rows.value(*row, *column) != Value::Null)
            })
            .collect();
        let mut found = HashSet::new();
        for chunk in keyed.chunks(KEYS_MAX) {
            found.extend(self.read_keys(batch, rows, chunk, columns, columns, "").await?);
        }
        Ok(keyed.into_iter().filter(|row| found.contains(&key(*row))).collect())
    }

    async fn compare(
        &mut self,
        batch: &'static Batch,
        rows: &dyn Rows,
        mut these: Vec<usize>,
        refused: &mut Vec<usize>,
    ) -> Result<(), Fault> {
        if self.careful {
            let key: Vec<usize> = (0..batch.key).collect();
            let compared: Vec<usize> = (0..=batch.key).collect();
            let mut fit = HashSet::new();
            for chunk in these.chunks(KEYS_MAX) {
                fit.extend(self.read_keys(batch, rows, chunk, &key, &compared, " FOR UPDATE").await?);
            }
            these.retain(|row| {
                let wanted: Key = compared.iter().map(|column| sortable(rows.value(*row, *column))).collect();
                let fits = fit.contains(&wanted);
                if !fits {
                    refused.push(*row);
                }
                fits
            });
        }
        let found = self.write(batch, rows, &these).await.map_err(fault::of_statement)?;
        if found == these.len() as u64 {
            return Ok(());
        }
        Err(Fault::Contested)
    }

    /// The values of `answer` columns where the `asked` columns have the values of one of these rows.
    async fn read_keys(
        &mut self,
        batch: &'static Batch,
        rows: &dyn Rows,
        these: &[usize],
        asked: &[usize],
        answer: &[usize],
        lock: &str,
    ) -> Result<Vec<Key>, Fault> {
        let name = |column: &usize| batch.columns[*column].name;
        let answered: Vec<&str> = answer.iter().map(name).collect();
        let one: Vec<String> = asked.iter().map(|column| format!("{} = ?", name(column))).collect();
        let one = format!("({})", one.join(" AND "));
        let size = these.len().next_power_of_two();
        let all = vec![one.as_str(); size].join(" OR ");
        let text = format!("SELECT {} FROM {} WHERE {all}{lock}", answered.join(", "), batch.table);
        let padded = these.iter().chain(std::iter::repeat_n(these.last(), size - these.len()).flatten());
        let cells = padded.flat_map(|row| asked.iter().map(|column| rows.value(*row, *column)));
        let found = self.rows(&text, params(cells)).await.map_err(fault::of_statement)?;
        found
            .into_iter()
            .map(|row| {
                let row = MysqlRow(row);
                let cells = (0..answer.len()).map(|column| row.value(column).map(sortable));
                cells.collect::<Result<Key, _>>().map_err(Fault::from)
            })
            .collect()
    }
}
