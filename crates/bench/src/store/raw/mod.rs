//! The other side of the comparison: the same statements on the same drivers, with nothing of ours in between.
//!
//! Parameters are made ready before the clock runs, as values of the driver.

mod mysql;
mod postgres;
mod sqlite;

use std::future::{Future, ready};

use anyhow::Result;

pub(super) use self::mysql::Mysql;
pub(super) use self::postgres::Postgres;
pub(super) use self::sqlite::Sqlite;
use super::sample::{Cell, Column, Rows, Sample};

/// One transaction: the fence, and rows of the three tables.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// seq, cell, epoch, the seq before.
    pub(super) fence: [i64; 4],
    pub(super) inserts: Vec<Vec<Cell>>,
    pub(super) updates: Vec<Vec<Cell>>,
    pub(super) counts: Vec<Vec<Cell>>,
}

/// A connection of the driver.
pub(super) trait Raw: Sized + Send {
    /// A transaction in the driver's own values.
    type Ready: Send;

    /// Connects as the store does.
    fn connect(url: &str) -> impl Future<Output = Result<Self>> + Send;

    /// Reads a whole table.
    fn read(&mut self, table: &'static str) -> impl Future<Output = Result<Rows>> + Send;

    /// The columns of a type of rows, in order; none where rows have no type of their own.
    fn columns(
        &mut self,
        _row_type: &'static str,
    ) -> impl Future<Output = Result<Option<Vec<Column>>>> + Send {
        ready(Ok(None))
    }

    /// Prepares what [`Self::commit`] sends.
    fn prepare(&mut self, sample: &Sample) -> impl Future<Output = Result<()>> + Send;

    /// Makes a transaction ready.
    fn ready(&self, batch: Batch) -> Result<Self::Ready>;

    /// Sends it; fails unless every row was written.
    fn commit(&mut self, ready: Self::Ready) -> impl Future<Output = Result<()>> + Send;
}
