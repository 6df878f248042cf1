//! PostgreSQL through `tokio-postgres`: the whole transaction is sent before the first answer is awaited.

use anyhow::{Context, Result, bail, ensure};
use futures_util::future::{BoxFuture, try_join_all};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Statement};
use uuid::Uuid;

use super::{Batch, Raw};
use crate::store::sample::{Cell, Column, Rows, Sample};
use crate::store::statements::{ADVANCE_POSTGRES, postgres as texts};

/// What the store tells its connections.
const SETTINGS: &str = "-c statement_timeout=60000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=60000 \
     -c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off \
     -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
     -c enable_bitmapscan=off -c jit=off -c client_min_messages=warning";

type Param = Box<dyn ToSql + Sync + Send>;

/// One connection.
pub(in crate::store) struct Postgres {
    client: Client,
    prepared: Option<Prepared>,
}

struct Prepared {
    advance: Statement,
    insert: Statement,
    update: Statement,
    add: Statement,
    elements: [Vec<&'static str>; 3],
}

/// The parameters of each statement, and how many rows it must touch.
pub(in crate::store) struct Ready {
    fence: Vec<Param>,
    inserts: Option<(Vec<Param>, u64)>,
    updates: Option<(Vec<Param>, u64)>,
    counts: Option<(Vec<Param>, u64)>,
}

impl Raw for Postgres {
    type Ready = Ready;

    async fn connect(url: &str) -> Result<Self> {
        let mut config: Config = url.parse()?;
        let (client, connection) = config.options(SETTINGS).connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(Self { client, prepared: None })
    }

    async fn read(&mut self, table: &'static str) -> Result<Rows> {
        let statement = self.client.prepare(&format!("SELECT * FROM {table}")).await?;
        let column = |column: &tokio_postgres::Column| {
            let element = match *column.type_() {
                Type::UUID => "uuid",
                Type::BYTEA => "bytea",
                Type::INT2 => "int2",
                Type::INT4 => "int4",
                Type::INT8 => "int8",
                _ => bail!("the column {} has an unexpected type", column.name()),
            };
            Ok(Column { name: column.name().to_owned(), element })
        };
        let columns = statement.columns().iter().map(column).collect::<Result<Vec<Column>>>()?;
        let found = self.client.query(&statement, &[]).await?;
        let rows = found.iter().map(|row| (0..row.len()).map(|at| cell(row, at)).collect());
        Ok(Rows { rows: rows.collect::<Result<_>>()?, columns })
    }

    async fn prepare(&mut self, sample: &Sample) -> Result<()> {
        let elements = |columns: &[Column]| columns.iter().map(|column| column.element).collect();
        self.prepared = Some(Prepared {
            advance: self.client.prepare(ADVANCE_POSTGRES).await?,
            insert: self.client.prepare(&texts::insert(&sample.run_columns)).await?,
            update: self.client.prepare(&texts::update(&sample.update_columns)).await?,
            add: self.client.prepare(&texts::add(&sample.counter_columns)).await?,
            elements: [&sample.run_columns, &sample.update_columns, &sample.counter_columns]
                .map(|columns| elements(columns)),
        });
        Ok(())
    }

    fn ready(&self, batch: Batch) -> Result<Ready> {
        let Prepared { elements: [run, update, counter], .. } =
            self.prepared.as_ref().context("not prepared")?;
        let [seq, cell, epoch, before] = batch.fence;
        let count = batch.updates.len() as i64;
        let updates = columns(update, batch.updates)?.map(|(mut params, _)| {
            params.push(Box::new(count));
            (params, 1)
        });
        Ok(Ready {
            fence: vec![Box::new(seq), Box::new(i32::try_from(cell)?), Box::new(epoch), Box::new(before)],
            inserts: columns(run, batch.inserts)?,
            updates,
            counts: columns(counter, batch.counts)?,
        })
    }

    async fn commit(&mut self, ready: Ready) -> Result<()> {
        let client = &self.client;
        let prepared = self.prepared.as_ref().context("not prepared")?;
        let Ready { fence, inserts, updates, counts } = ready;
        let mut flight: Vec<BoxFuture<'_, Result<()>>> = Vec::with_capacity(6);
        flight.push(Box::pin(async { Ok(client.batch_execute("BEGIN").await?) }));
        flight.push(Box::pin(execute(client, &prepared.advance, fence, 1)));
        for (statement, rows) in
            [(&prepared.insert, inserts), (&prepared.update, updates), (&prepared.add, counts)]
        {
            if let Some((params, count)) = rows {
                flight.push(Box::pin(execute(client, statement, params, count)));
            }
        }
        flight.push(Box::pin(async { Ok(client.batch_execute("COMMIT").await?) }));
        try_join_all(flight).await?;
        Ok(())
    }
}

async fn execute(client: &Client, statement: &Statement, params: Vec<Param>, rows: u64) -> Result<()> {
    let borrowed = params.iter().map(|param| -> &(dyn ToSql + Sync) { &**param });
    ensure!(client.execute_raw(statement, borrowed).await? == rows, "a row was not written");
    Ok(())
}

fn cell(row: &tokio_postgres::Row, at: usize) -> Result<Cell> {
    let int = match *row.columns()[at].type_() {
        Type::UUID => {
            let id: Option<Uuid> = row.try_get(at)?;
            return Ok(id.map_or(Cell::Null, |id| Cell::Bytes(id.as_bytes().to_vec())));
        }
        Type::BYTEA => {
            let bytes: Option<Vec<u8>> = row.try_get(at)?;
            return Ok(bytes.map_or(Cell::Null, Cell::Bytes));
        }
        Type::INT2 => row.try_get::<_, Option<i16>>(at)?.map(i64::from),
        Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map(i64::from),
        _ => row.try_get::<_, Option<i64>>(at)?,
    };
    Ok(int.map_or(Cell::Null, Cell::Int))
}

/// Rows as one array for each column; nothing when there are no rows.
fn columns(elements: &[&'static str], rows: Vec<Vec<Cell>>) -> Result<Option<(Vec<Param>, u64)>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let mut params = Vec::with_capacity(elements.len() + 1);
    for (at, element) in elements.iter().enumerate() {
        let cells = rows.iter().map(|row| &row[at]);
        params.push(match *element {
            "uuid" => array(cells.map(id))?,
            "bytea" => array(cells.map(|cell| bytes(cell).map(|bytes| bytes.map(<[u8]>::to_vec))))?,
            "int2" => array(cells.map(int::<i16>))?,
            "int4" => array(cells.map(int::<i32>))?,
            _ => array(cells.map(int::<i64>))?,
        });
    }
    Ok(Some((params, rows.len() as u64)))
}

fn array<T>(cells: impl Iterator<Item = Result<Option<T>>>) -> Result<Param>
where
    T: ToSql + Sync + Send + 'static,
{
    Ok(Box::new(cells.collect::<Result<Vec<Option<T>>>>()?))
}

fn bytes(cell: &Cell) -> Result<Option<&[u8]>> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Bytes(bytes) => Ok(Some(bytes)),
        Cell::Int(_) => bail!("a number where bytes belong"),
    }
}

fn id(cell: &Cell) -> Result<Option<Uuid>> {
    Ok(bytes(cell)?.map(Uuid::from_slice).transpose()?)
}

fn int<T: TryFrom<i64>>(cell: &Cell) -> Result<Option<T>> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Int(int) => Ok(Some(T::try_from(*int).ok().context("a number does not fit")?)),
        Cell::Bytes(_) => bail!("bytes where a number belongs"),
    }
}
