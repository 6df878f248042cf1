//! SQLite through `rusqlite`, on the thread that calls: one prepared statement, bound and stepped for each row.

use anyhow::{Context, Result, ensure};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use super::{Batch, Raw};
use crate::store::sample::{Cell, Column, Rows, Sample};
use crate::store::statements::{ADVANCE, sqlite as texts};

/// The file, opened as the store opens it for writing.
pub(in crate::store) struct Sqlite {
    connection: Connection,
    insert: String,
    update: String,
    add: String,
}

impl Raw for Sqlite {
    type Ready = Batch;

    async fn connect(url: &str) -> Result<Self> {
        let connection = Connection::open(url.strip_prefix("sqlite:").context("a URL of SQLite")?)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        connection.pragma_update(None, "cache_size", -8_000)?;
        Ok(Self { connection, insert: String::new(), update: String::new(), add: String::new() })
    }

    async fn read(&mut self, table: &'static str) -> Result<Rows> {
        let mut statement = self.connection.prepare(&format!("SELECT * FROM {table}"))?;
        let columns: Vec<Column> =
            statement.column_names().map(|name| Column { name: name.to_owned(), element: "" }).collect();
        let mut found = statement.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let cell = |at| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Integer(int) => Cell::Int(int),
                    ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Cell::Bytes(bytes.to_vec()),
                    ValueRef::Null | ValueRef::Real(_) => Cell::Null,
                })
            };
            rows.push((0..columns.len()).map(cell).collect::<Result<Vec<Cell>>>()?);
        }
        Ok(Rows { columns, rows })
    }

    async fn prepare(&mut self, sample: &Sample) -> Result<()> {
        self.insert = texts::insert(&sample.run_columns);
        self.update = texts::update(&sample.update_columns);
        self.add = texts::add(&sample.counter_columns);
        Ok(())
    }

    fn ready(&self, batch: Batch) -> Result<Batch> {
        Ok(batch)
    }

    async fn commit(&mut self, batch: Batch) -> Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
        let fence = self.connection.prepare_cached(ADVANCE)?.execute(batch.fence)?;
        ensure!(fence == 1, "the fence did not match");
        for (text, rows) in
            [(&self.insert, &batch.inserts), (&self.update, &batch.updates), (&self.add, &batch.counts)]
        {
            if !rows.is_empty() {
                write(&mut self.connection.prepare_cached(text)?, rows)?;
            }
        }
        self.connection.prepare_cached("COMMIT")?.raw_execute()?;
        Ok(())
    }
}

fn write(statement: &mut CachedStatement<'_>, rows: &[Vec<Cell>]) -> Result<()> {
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            statement.raw_bind_parameter(at + 1, cell)?;
        }
        ensure!(statement.raw_execute()? == 1, "a row was not written");
    }
    Ok(())
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
