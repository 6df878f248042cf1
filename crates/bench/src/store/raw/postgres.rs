//! PostgreSQL through `tokio-postgres`: a transaction is one statement, prepared before, with its parameters in the
//! server's own form before the clock runs.

use anyhow::{Context, Result, bail, ensure};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, Kind, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::{Batch, Raw};
use crate::store::sample::{Cell, Column, Rows, Sample};
use crate::store::statements::postgres as texts;

/// What the store tells its connections.
const SETTINGS: &str = "-c statement_timeout=60000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=60000 \
     -c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off \
     -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
     -c enable_bitmapscan=off -c jit=off -c client_min_messages=warning";

/// One connection.
pub(in crate::store) struct Postgres {
    client: Client,
    prepared: Option<Prepared>,
}

struct Prepared {
    insert: Statement,
    update: Statement,
    update_and_count: Statement,
}

/// A statement and its parameters.
pub(in crate::store) struct Ready {
    statement: Statement,
    params: Vec<Encoded>,
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
        let columns = statement.columns().iter().map(|found| column(found.name(), found.type_()));
        let columns = columns.collect::<Result<Vec<Column>>>()?;
        let found = self.client.query(&statement, &[]).await?;
        let rows = found.iter().map(|row| (0..row.len()).map(|at| cell(row, at)).collect());
        Ok(Rows { rows: rows.collect::<Result<_>>()?, columns })
    }

    async fn columns(&mut self, row_type: &'static str) -> Result<Option<Vec<Column>>> {
        let statement = self.client.prepare(&format!("SELECT $1::{row_type}")).await?;
        let Kind::Composite(fields) = statement.params()[0].kind() else { bail!("{row_type} is no row") };
        let columns = fields.iter().map(|field| column(field.name(), field.type_()));
        Ok(Some(columns.collect::<Result<_>>()?))
    }

    async fn prepare(&mut self, sample: &Sample) -> Result<()> {
        let (update, counters) = (&sample.update_columns, &sample.counter_columns);
        self.prepared = Some(Prepared {
            insert: self.client.prepare(&texts::insert(&sample.run_columns)).await?,
            update: self.client.prepare(&texts::update(update, None)).await?,
            update_and_count: self.client.prepare(&texts::update(update, Some(counters))).await?,
        });
        Ok(())
    }

    fn ready(&self, batch: Batch) -> Result<Ready> {
        let Prepared { insert, update, update_and_count } = self.prepared.as_ref().context("not prepared")?;
        let Batch { fence, inserts, updates, counts } = batch;
        ensure!(inserts.is_empty() || updates.is_empty(), "runs are inserted and ended by different commits");
        let statement = match (inserts.is_empty(), counts.is_empty()) {
            (false, _) => insert,
            (true, true) => update,
            (true, false) => update_and_count,
        };
        let rows = if inserts.is_empty() { &updates } else { &inserts };
        let types = statement.params();
        let mut params = Vec::with_capacity(types.len());
        for (int, ty) in fence.iter().zip(types) {
            params.push(Encoded::of(|out| value(&Cell::Int(*int), ty, out))?);
        }
        params.push(Encoded::of(|out| {
            array(&types[4], rows.len(), out, |at, ty, out| row(&rows[at], ty, out))
        })?);
        if inserts.is_empty() {
            params.push(Encoded::of(|out| value(&Cell::Int(updates.len() as i64), &Type::INT8, out))?);
        }
        for (at, ty) in types.iter().skip(params.len()).enumerate() {
            let one = |row: usize, ty: &Type, out: &mut BytesMut| sized(&counts[row][at], ty, out);
            params.push(Encoded::of(|out| array(ty, counts.len(), out, one))?);
        }
        Ok(Ready { statement: statement.clone(), params })
    }

    async fn commit(&mut self, ready: Ready) -> Result<()> {
        let Ready { statement, params } = ready;
        ensure!(self.client.execute_raw(&statement, params).await? == 1, "a row was not written");
        Ok(())
    }
}

fn column(name: &str, ty: &Type) -> Result<Column> {
    let element = match *ty {
        Type::UUID => "uuid",
        Type::BYTEA => "bytea",
        Type::INT2 => "int2",
        Type::INT4 => "int4",
        Type::INT8 => "int8",
        _ => bail!("the column {name} has an unexpected type"),
    };
    // The type of an update names the version that the row must have by another name, because it has two.
    let name = if name == "expected" { "version" } else { name };
    Ok(Column { name: name.to_owned(), element })
}

fn cell(row: &tokio_postgres::Row, at: usize) -> Result<Cell> {
    let int = match *row.columns()[at].type_() {
        Type::UUID => {
            let id: Option<uuid::Uuid> = row.try_get(at)?;
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

/// An array of so many elements, each written by `element` with its length.
fn array(
    ty: &Type,
    count: usize,
    out: &mut BytesMut,
    element: impl Fn(usize, &Type, &mut BytesMut) -> Result<()>,
) -> Result<()> {
    let Kind::Array(of) = ty.kind() else { bail!("{ty} is no array") };
    for head in [1, 1, of.oid() as i32, i32::try_from(count)?, 1] {
        out.extend_from_slice(&head.to_be_bytes());
    }
    (0..count).try_for_each(|at| element(at, of, out))
}

/// A row of a type of rows, with its length.
fn row(cells: &[Cell], ty: &Type, out: &mut BytesMut) -> Result<()> {
    let Kind::Composite(fields) = ty.kind() else { bail!("{ty} is no row") };
    ensure!(fields.len() == cells.len(), "{ty} has {} columns, not {}", fields.len(), cells.len());
    let mut inner = BytesMut::new();
    inner.extend_from_slice(&(fields.len() as i32).to_be_bytes());
    for (field, cell) in fields.iter().zip(cells) {
        inner.extend_from_slice(&field.type_().oid().to_be_bytes());
        sized(cell, field.type_(), &mut inner)?;
    }
    out.extend_from_slice(&i32::try_from(inner.len())?.to_be_bytes());
    out.extend_from_slice(&inner);
    Ok(())
}

/// A value with its length.
fn sized(cell: &Cell, ty: &Type, out: &mut BytesMut) -> Result<()> {
    let mut inner = BytesMut::new();
    value(cell, ty, &mut inner)?;
    let length = if *cell == Cell::Null { -1 } else { i32::try_from(inner.len())? };
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&inner);
    Ok(())
}

fn value(cell: &Cell, ty: &Type, out: &mut BytesMut) -> Result<()> {
    match (cell, ty) {
        (Cell::Null, _) => {}
        (Cell::Bytes(bytes), _) => out.extend_from_slice(bytes),
        (Cell::Int(int), &Type::INT2) => out.extend_from_slice(&i16::try_from(*int)?.to_be_bytes()),
        (Cell::Int(int), &Type::INT4) => out.extend_from_slice(&i32::try_from(*int)?.to_be_bytes()),
        (Cell::Int(int), _) => out.extend_from_slice(&int.to_be_bytes()),
    }
    Ok(())
}

/// A parameter in the server's own form.
#[derive(Debug)]
struct Encoded(BytesMut);

impl Encoded {
    fn of(write: impl FnOnce(&mut BytesMut) -> Result<()>) -> Result<Self> {
        let mut bytes = BytesMut::new();
        write(&mut bytes)?;
        Ok(Self(bytes))
    }
}

impl ToSql for Encoded {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
