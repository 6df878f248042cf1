//! A connection as a session. A transaction whose only flight can be fused (`fused`) is one statement; any other
//! begins, asks step by step which rows were in the way, and commits.

use std::ops::Range;

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement};

use super::fault;
use super::fused::{Fused, FusedTexts};
use super::param::{PostgresRow, Scalar, batch_params};
use crate::batch::{self, Action, Batch};
use crate::batch_text::{self, Texts};
use crate::dialect::{Dialect, numbered};
use crate::session::{Applied, Fault, Op, Result, Session};
use crate::transact::Ending;
use crate::value::{Decode, Row, Rows, Value};

/// Rows and bytes of one statement; a message may not be larger than a gigabyte.
pub(super) const ROWS_MAX: usize = 10_000;
pub(super) const BYTES_MAX: usize = 64 << 20;

/// The texts that all sessions share.
pub(super) struct PostgresTexts {
    batches: Texts,
    fused: FusedTexts,
}

impl Default for PostgresTexts {
    fn default() -> Self {
        Self { batches: Texts::new(batch_text::postgres), fused: FusedTexts::default() }
    }
}

/// How far the transaction has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Open,
    Over,
}

/// A connection within a transaction. Dropped before its end, it is closed and not given back to the pool.
pub(super) struct PostgresSession<'p> {
    client: Option<Client>,
    texts: &'p PostgresTexts,
    /// Whether rows in the way are looked for, because hoping for none failed.
    careful: bool,
    phase: Phase,
}

/// What a statement answers: how many rows it touched, and those it returned.
struct Touched {
    rows: u64,
    returned: Vec<tokio_postgres::Row>,
}

impl<'p> PostgresSession<'p> {
    pub(super) fn new(client: Client, texts: &'p PostgresTexts, careful: bool) -> Self {
        Self { client: Some(client), texts, careful, phase: Phase::New }
    }

    fn client(&self) -> Result<&Client, Fault> {
        self.client.as_ref().ok_or_else(|| Fault::failed("the connection is gone"))
    }

    async fn begin(&mut self) -> Result<(), Fault> {
        if self.phase == Phase::New {
            self.phase = Phase::Open;
            self.client()?.batch_execute("BEGIN").await.map_err(fault::of_statement)?;
        }
        Ok(())
    }

    async fn ask<'a, P: ToSql + 'a>(
        &mut self,
        text: &str,
        params: impl ExactSizeIterator<Item = P> + Send,
    ) -> Result<Touched, Fault> {
        self.begin().await?;
        let client = self.client()?;
        let statement = client.prepare_cached(text).await.map_err(fault::of_statement)?;
        touched(client, &statement, params).await.map_err(|error| self.noting(error, fault::of_statement))
    }

    /// What an error means, after forgetting statements that it says are stale.
    fn noting(&self, error: Error, meaning: fn(Error) -> Fault) -> Fault {
        if let (true, Some(client)) = (fault::is_stale_statement(&error), &self.client) {
            client.statement_cache.clear();
        }
        meaning(error)
    }

    /// Does everything in one statement that commits by itself.
    async fn fused(&mut self, fused: Fused<'_>, ops: usize) -> Result<Vec<Applied>, Fault> {
        let text = self.texts.fused.of(&fused);
        let client = self.client()?;
        let statement = client.prepare_cached(&text).await.map_err(fault::of_statement)?;
        let Fused { params, answering, .. } = fused;
        self.phase = Phase::Open;
        let reply = touched(self.client()?, &statement, params.into_iter()).await;
        self.phase = Phase::Over;
        let Touched { returned, .. } = reply.map_err(|error| self.noting(error, fault::of_fused))?;
        let mut answers = vec![Applied::All; ops];
        if let Some((at, batch, rows)) = answering {
            // The first row is that of the checks; the key comes second in each.
            let keys = returned.into_iter().skip(1).map(|row| key(&PostgresRow(row), 1..2));
            note_refused(&mut answers[at], batch, rows, 0..rows.len(), keys.collect());
        }
        Ok(answers)
    }

    async fn batch(&mut self, batch: &'static Batch, rows: &dyn Rows) -> Result<Applied, Fault> {
        let text = self.texts.batches.of(batch, 1);
        let mut answer = Applied::All;
        for range in batch::cut(rows, ROWS_MAX, BYTES_MAX) {
            let params = batch_params(batch, rows, range.clone());
            let Touched { rows: count, returned } = self.ask(&text, params).await?;
            let answers = matches!(batch.action, Action::InsertAbsent { .. }) || batch.action.compares();
            if answers && count < range.len() as u64 {
                let keys = returned.into_iter().map(|row| key(&PostgresRow(row), 0..batch.key));
                note_refused(&mut answer, batch, rows, range, keys.collect());
            }
        }
        Ok(answer)
    }
}

impl Drop for PostgresSession<'_> {
    fn drop(&mut self) {
        if let (Phase::Open, Some(client)) = (self.phase, self.client.take()) {
            drop(Client::take(client));
        }
    }
}

async fn touched<P: ToSql>(
    client: &Client,
    statement: &Statement,
    params: impl ExactSizeIterator<Item = P>,
) -> Result<Touched, Error> {
    let mut stream = std::pin::pin!(client.query_raw(statement, params).await?);
    let mut returned = Vec::new();
    while let Some(row) = stream.try_next().await? {
        returned.push(row);
    }
    Ok(Touched { rows: stream.rows_affected().unwrap_or_default(), returned })
}

/// Reads rows outside of a transaction.
pub(super) async fn read<'a>(
    client: &Client,
    statement: &Statement,
    params: impl ExactSizeIterator<Item = Scalar<'a>>,
) -> Result<Vec<tokio_postgres::Row>, Error> {
    Ok(touched(client, statement, params).await?.returned)
}

/// The columns of a primary key.
type Key = Vec<Vec<u8>>;

/// Notes which rows did not answer with their key.
fn note_refused(
    answer: &mut Applied,
    batch: &Batch,
    rows: &dyn Rows,
    range: Range<usize>,
    mut written: Vec<Key>,
) {
    if written.len() == range.len() {
        return;
    }
    written.sort_unstable();
    if *answer == Applied::All {
        *answer = Applied::Some(vec![true; rows.len()]);
    }
    if let Applied::Some(applied) = answer {
        for row in range {
            let key: Key = (0..batch.key).map(|column| sortable(rows.value(row, column))).collect();
            applied[row] = written.binary_search(&key).is_ok();
        }
    }
}

fn key(row: &dyn Row, columns: Range<usize>) -> Key {
    columns.map(|column| row.value(column).map(sortable).unwrap_or_default()).collect()
}

fn sortable(value: Value<'_>) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        Value::Int(int) => int.to_be_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.to_vec(),
    }
}

impl Ending for PostgresSession<'_> {
    /// Ends the transaction, if its last flight did not.
    async fn end(mut self, keep: bool) -> Result<(), Fault> {
        if self.phase == Phase::Open {
            if keep {
                self.client()?.batch_execute("COMMIT").await.map_err(fault::of_commit)?;
            } else {
                self.client()?.batch_execute("ROLLBACK").await.map_err(fault::of_statement)?;
            }
            self.phase = Phase::Over;
        }
        Ok(())
    }
}

impl Session for PostgresSession<'_> {
    const DIALECT: Dialect = Dialect::Postgres;

    async fn flight(&mut self, ops: &[Op<'_>], last: bool) -> Result<Vec<Applied>, Fault> {
        if last
            && self.phase == Phase::New
            && !self.careful
            && let Some(fused) = Fused::of(ops)
        {
            return self.fused(fused, ops.len()).await;
        }
        let mut answers = Vec::with_capacity(ops.len());
        for op in ops {
            answers.push(match op {
                Op::Guard(sql, params) => match self.execute(sql.text(Dialect::Postgres), params).await? {
                    0 => return Err(Fault::Unmatched),
                    _ => Applied::All,
                },
                Op::Execute(sql, params) => {
                    self.execute(sql.text(Dialect::Postgres), params).await?;
                    Applied::All
                }
                Op::Batch { batch, rows, .. } => self.batch(batch, *rows).await?,
            });
        }
        Ok(answers)
    }

    async fn execute(&mut self, text: &str, params: &[Value<'_>]) -> Result<u64, Fault> {
        let params = params.iter().map(|param| Scalar(*param));
        Ok(self.ask(&numbered(text, 1), params).await?.rows)
    }

    async fn query<T: Send + 'static>(
        &mut self,
        text: &str,
        params: &[Value<'_>],
        decode: Decode<T>,
    ) -> Result<Vec<T>, Fault> {
        let params = params.iter().map(|param| Scalar(*param));
        let Touched { returned, .. } = self.ask(&numbered(text, 1), params).await?;
        returned.into_iter().map(|row| decode(&PostgresRow(row)).map_err(Fault::from)).collect()
    }
}
