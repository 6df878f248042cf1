//! MySQL through `mysql_async`: statements of as many rows as the store sends, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Params, Row, Value};

use super::{Batch, Raw};
use crate::store::sample::{Cell, Column, Rows, Sample};
use crate::store::statements::{ADVANCE, mysql as texts};

/// Rows of the largest statement; the others are smaller powers of two.
const ROWS_MAX: usize = 256;

/// What the store tells its connections.
const SETUP: [&str; 6] = [
    "SET NAMES binary",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION innodb_lock_wait_timeout = 5",
    "SET SESSION lock_wait_timeout = 60",
    "SET SESSION time_zone = '+00:00'",
];

/// A text for so many rows.
type Text = fn(&[Column], usize) -> String;

/// One connection, and the texts by table and number of rows.
pub(in crate::store) struct Mysql {
    conn: Conn,
    texts: [BTreeMap<usize, Arc<str>>; 3],
}

/// The statements of a transaction; `affected` is none where the server's count says nothing.
pub(in crate::store) struct Ready {
    fence: Params,
    statements: Vec<(Arc<str>, Params, Option<u64>)>,
}

impl Raw for Mysql {
    type Ready = Ready;

    async fn connect(url: &str) -> Result<Self> {
        let options = OptsBuilder::from_opts(Opts::from_url(url)?)
            .prefer_socket(false)
            .client_found_rows(true)
            .stmt_cache_size(256)
            .setup(SETUP.to_vec());
        Ok(Self { conn: Conn::new(options).await?, texts: Default::default() })
    }

    async fn read(&mut self, table: &'static str) -> Result<Rows> {
        let found: Vec<Row> = self.conn.exec(format!("SELECT * FROM {table}"), ()).await?;
        let names = found.first().map(|row| row.columns_ref().to_vec()).unwrap_or_default();
        let column = |column: &mysql_async::Column| Column { name: column.name_str().into(), element: "" };
        let cell = |value| {
            Ok(match value {
                Value::NULL => Cell::Null,
                Value::Int(int) => Cell::Int(int),
                Value::UInt(int) => Cell::Int(int as i64),
                Value::Bytes(bytes) => Cell::Bytes(bytes),
                _ => bail!("a value of an unexpected type"),
            })
        };
        let rows = found.into_iter().map(|row| row.unwrap().into_iter().map(cell).collect());
        Ok(Rows { columns: names.iter().map(column).collect(), rows: rows.collect::<Result<_>>()? })
    }

    async fn prepare(&mut self, sample: &Sample) -> Result<()> {
        let tables: [(&[Column], Text); 3] = [
            (&sample.run_columns, texts::insert),
            (&sample.update_columns, texts::update),
            (&sample.counter_columns, texts::add),
        ];
        self.texts = tables.map(|(columns, text)| {
            let sizes = (0..=ROWS_MAX.ilog2()).map(|power| 1 << power);
            sizes.map(|size| (size, text(columns, size).into())).collect()
        });
        Ok(())
    }

    fn ready(&self, batch: Batch) -> Result<Ready> {
        let mut statements = Vec::new();
        for ((texts, rows), counted) in
            self.texts.iter().zip([batch.inserts, batch.updates, batch.counts]).zip([true, true, false])
        {
            let mut left = rows.as_slice();
            while !left.is_empty() {
                let size = 1 << left.len().min(ROWS_MAX).ilog2();
                let (these, rest) = left.split_at(size);
                let Some(text) = texts.get(&size) else { bail!("no text for {size} rows") };
                let values = these.iter().flatten().map(value).collect();
                statements.push((
                    Arc::clone(text),
                    Params::Positional(values),
                    counted.then_some(size as u64),
                ));
                left = rest;
            }
        }
        Ok(Ready { fence: Params::Positional(batch.fence.map(Value::Int).into()), statements })
    }

    async fn commit(&mut self, ready: Ready) -> Result<()> {
        let conn = &mut self.conn;
        conn.query_drop("START TRANSACTION").await?;
        conn.exec_drop(ADVANCE, ready.fence).await?;
        ensure!(conn.affected_rows() == 1, "the fence did not match");
        for (text, params, count) in ready.statements {
            conn.exec_drop(&*text, params).await?;
            ensure!(count.is_none_or(|count| conn.affected_rows() == count), "a row was not written");
        }
        conn.query_drop("COMMIT").await?;
        Ok(())
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::NULL,
        Cell::Int(int) => Value::Int(*int),
        Cell::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}
