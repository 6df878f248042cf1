//! A connection as a session. Everything happens at once, so its futures are always ready.

use std::future::{Future, ready};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use super::fault;
use crate::batch::{Action, Batch};
use crate::batch_text::{self, Texts};
use crate::dialect::Dialect;
use crate::session::{Applied, Fault, Op, Session};
use crate::value::{Damage, Decode, Row, Rows, Value};

/// The writer's connection within a transaction.
pub(super) struct SqliteSession {
    pub(super) connection: Connection,
    texts: Texts,
}

impl SqliteSession {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, texts: Texts::new(batch_text::sqlite) }
    }

    /// Runs a statement without parameters that every driver needs: begin, commit, savepoints.
    pub(super) fn control(&self, text: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(text)?.raw_execute().map(|_| ())
    }

    fn batch(&mut self, batch: &'static Batch, rows: &dyn Rows) -> rusqlite::Result<Applied> {
        let mut statement = self.connection.prepare_cached(&self.texts.of(batch, 1))?;
        let mut applied = Applied::All;
        for row in 0..rows.len() {
            for column in 0..batch.columns.len() {
                statement.raw_bind_parameter(column + 1, Bound(rows.value(row, column)))?;
            }
            if statement.raw_execute()? == 0 && batch.action != Action::Ensure {
                if applied == Applied::All {
                    applied = Applied::Some(vec![true; rows.len()]);
                }
                if let Applied::Some(rows) = &mut applied {
                    rows[row] = false;
                }
            }
        }
        Ok(applied)
    }

    fn statement(&self, text: &str, params: &[Value<'_>]) -> rusqlite::Result<u64> {
        let mut statement = prepare(&self.connection, text, params)?;
        // Some statements of migrations and locks answer with rows, which nobody wants.
        if statement.column_count() > 0 {
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            return Ok(0);
        }
        Ok(statement.raw_execute()? as u64)
    }

    fn one_flight(&mut self, ops: &[Op<'_>]) -> Result<Vec<Applied>, Fault> {
        let mut answers = Vec::with_capacity(ops.len());
        for op in ops {
            answers.push(match op {
                Op::Guard(sql, params) => {
                    match self.statement(sql.text(Dialect::Sqlite), params).map_err(fault::of_statement)? {
                        0 => return Err(Fault::Unmatched),
                        _ => Applied::All,
                    }
                }
                Op::Execute(sql, params) => {
                    self.statement(sql.text(Dialect::Sqlite), params).map_err(fault::of_statement)?;
                    Applied::All
                }
                Op::Batch { batch, rows, .. } => self.batch(batch, *rows).map_err(fault::of_statement)?,
            });
        }
        Ok(answers)
    }
}

impl Session for SqliteSession {
    const DIALECT: Dialect = Dialect::Sqlite;

    fn flight(
        &mut self,
        ops: &[Op<'_>],
        _last: bool,
    ) -> impl Future<Output = Result<Vec<Applied>, Fault>> + Send {
        ready(self.one_flight(ops))
    }

    fn execute(
        &mut self,
        text: &str,
        params: &[Value<'_>],
    ) -> impl Future<Output = Result<u64, Fault>> + Send {
        ready(self.statement(text, params).map_err(fault::of_statement))
    }

    fn query<T: Send + 'static>(
        &mut self,
        text: &str,
        params: &[Value<'_>],
        decode: Decode<T>,
    ) -> impl Future<Output = Result<Vec<T>, Fault>> + Send {
        let rows = query(&self.connection, text, params, decode).map_err(fault::of_statement);
        ready(rows.and_then(|rows| rows.into_iter().map(|row| row.map_err(Fault::from)).collect()))
    }
}

/// Reads rows; a damaged one is told apart.
pub(super) fn query<T>(
    connection: &Connection,
    text: &str,
    params: &[Value<'_>],
    decode: Decode<T>,
) -> rusqlite::Result<Vec<Result<T, Damage>>> {
    let mut statement = prepare(connection, text, params)?;
    let mut rows = statement.raw_query();
    let mut answers = Vec::new();
    while let Some(row) = rows.next()? {
        answers.push(decode(&SqliteRow(row)));
    }
    Ok(answers)
}

fn prepare<'c>(
    connection: &'c Connection,
    text: &str,
    params: &[Value<'_>],
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = connection.prepare_cached(text)?;
    for (at, param) in params.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, Bound(*param))?;
    }
    Ok(statement)
}

struct Bound<'a>(Value<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(int) => ValueRef::Integer(int),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

struct SqliteRow<'a>(&'a rusqlite::Row<'a>);

impl Row for SqliteRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, Damage> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Null) => Ok(Value::Null),
            Ok(ValueRef::Integer(int)) => Ok(Value::Int(int)),
            Ok(ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => Ok(Value::Bytes(bytes)),
            Ok(ValueRef::Real(_)) => Err(Damage::new(format!("column {column} is a fraction"))),
            Err(error) => Err(Damage::new(error.to_string())),
        }
    }
}
