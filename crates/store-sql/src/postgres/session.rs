//! A connection as a session. `BEGIN` goes out with the first flight and `COMMIT` with the last, so that an
//! ordinary transaction is one round trip.

use std::future::Future;
use std::ops::Range;

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use tokio_postgres::{Error, Statement};

use super::fault;
use super::flight::{Request, together};
use super::param::{BatchParam, ColumnArray, PostgresRow, Scalar};
use crate::batch::{self, Action, Batch, Column};
use crate::batch_text::{self, Texts};
use crate::dialect::{Dialect, numbered};
use crate::session::{Applied, Fault, Op, Result, Session};
use crate::value::{Decode, Row, Rows, Value};

/// Rows and bytes of one statement; a message may not be larger than a gigabyte.
const ROWS_MAX: usize = 10_000;
const BYTES_MAX: usize = 64 << 20;

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
    texts: &'p Texts,
    /// Whether rows in the way are looked for, because hoping for none failed.
    careful: bool,
    phase: Phase,
}

/// What a request in a flight was for.
enum Part<'a> {
    Begin,
    Guard,
    Execute,
    Hopeful,
    Careful(usize, &'static Batch, &'a dyn Rows, Range<usize>),
    Commit,
}

/// What a request answers: how many rows it touched, and the keys of those it returned.
#[derive(Default)]
struct Touched {
    rows: u64,
    returned: Vec<tokio_postgres::Row>,
}

type Reply = Result<Touched, Error>;

impl<'p> PostgresSession<'p> {
    pub(super) fn new(client: Client, texts: &'p Texts, careful: bool) -> Self {
        Self { client: Some(client), texts, careful, phase: Phase::New }
    }

    /// Ends the transaction, if its last flight did not.
    pub(super) async fn end(mut self, keep: bool) -> Result<(), Fault> {
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

    fn client(&self) -> Result<&Client, Fault> {
        self.client.as_ref().ok_or_else(|| Fault::failed("the connection is gone"))
    }

    async fn prepare(&self, text: &str) -> Result<Statement, Fault> {
        self.client()?.prepare_cached(text).await.map_err(fault::of_statement)
    }

    /// What adds has nothing in the way.
    fn form(&self, batch: &Batch, contested: bool) -> usize {
        let looks = (self.careful || contested) && batch.action != Action::Add;
        if looks { batch_text::CAREFUL } else { batch_text::HOPEFUL }
    }

    async fn begin(&mut self) -> Result<(), Fault> {
        if self.phase == Phase::New {
            self.phase = Phase::Open;
            self.client()?.batch_execute("BEGIN").await.map_err(fault::of_statement)?;
        }
        Ok(())
    }

    async fn send(&mut self, ops: &[Op<'_>], last: bool) -> Result<Vec<Applied>, Fault> {
        let mut statements = Vec::with_capacity(ops.len());
        for op in ops {
            statements.push(match op {
                Op::Guard(sql, _) | Op::Execute(sql, _) => {
                    self.prepare(&numbered(sql.text(Dialect::Postgres))).await?
                }
                Op::Batch { batch, contested, .. } => {
                    let form = self.form(batch, *contested);
                    self.prepare(&self.texts.of(batch, form)).await?
                }
            });
        }
        let begins = std::mem::replace(&mut self.phase, Phase::Open) == Phase::New;
        let client = self.client()?;
        let mut parts = Vec::with_capacity(ops.len() + 2);
        let mut requests: Vec<Request<'_, Reply>> = Vec::with_capacity(ops.len() + 2);
        if begins {
            parts.push(Part::Begin);
            requests.push(control(client, "BEGIN"));
        }
        for (at, (op, statement)) in ops.iter().zip(&statements).enumerate() {
            match op {
                Op::Guard(_, params) => {
                    parts.push(Part::Guard);
                    requests.push(scalars(client, statement, params));
                }
                Op::Execute(_, params) => {
                    parts.push(Part::Execute);
                    requests.push(scalars(client, statement, params));
                }
                Op::Batch { batch, rows, contested } => {
                    let form = self.form(batch, *contested);
                    for range in batch::cut(*rows, ROWS_MAX, BYTES_MAX) {
                        parts.push(match form {
                            batch_text::HOPEFUL => Part::Hopeful,
                            _ => Part::Careful(at, batch, *rows, range.clone()),
                        });
                        requests.push(columns(
                            client,
                            statement,
                            Columns { batch, rows: *rows, range, form },
                        ));
                    }
                }
            }
        }
        if last {
            parts.push(Part::Commit);
            requests.push(control(client, "COMMIT"));
        }
        let replies = together(requests).await;
        if last {
            self.phase = Phase::Over;
        }
        let answers = answers(parts, replies, ops.len(), last);
        if let Err(Unanswered { stale: true, .. }) = &answers {
            self.client()?.statement_cache.clear();
        }
        answers.map_err(|unanswered| unanswered.fault)
    }
}

impl Drop for PostgresSession<'_> {
    fn drop(&mut self) {
        if let (Phase::Open, Some(client)) = (self.phase, self.client.take()) {
            drop(Client::take(client));
        }
    }
}

fn control<'a>(client: &'a Client, text: &'static str) -> Request<'a, Reply> {
    Box::pin(async move { client.batch_execute(text).await.map(|()| Touched::default()) })
}

fn scalars<'a>(client: &'a Client, statement: &'a Statement, params: &'a [Value<'a>]) -> Request<'a, Reply> {
    Box::pin(async move {
        let stream = client.query_raw(statement, params.iter().map(|param| Scalar(*param))).await?;
        collect(stream).await
    })
}

/// Some rows of a batch.
struct Columns<'a> {
    batch: &'static Batch,
    rows: &'a dyn Rows,
    range: Range<usize>,
    form: usize,
}

fn columns<'a>(client: &'a Client, statement: &'a Statement, columns: Columns<'a>) -> Request<'a, Reply> {
    let Columns { batch, rows, range, form } = columns;
    let count = range.len() as i64;
    let is_counted = form == batch_text::HOPEFUL && batch.action == Action::CompareAndSet;
    Box::pin(async move {
        let params = (0..batch.columns.len() + usize::from(is_counted)).map(|column| {
            match batch.columns.get(column) {
                Some(Column { kind, .. }) => {
                    BatchParam::Column(ColumnArray { rows, range: range.clone(), column, kind: *kind })
                }
                None => BatchParam::Count(Scalar(Value::Int(count))),
            }
        });
        collect(client.query_raw(statement, params).await?).await
    })
}

/// Reads rows outside of a transaction.
pub(super) async fn read<'a>(
    client: &Client,
    statement: &Statement,
    params: impl ExactSizeIterator<Item = Scalar<'a>>,
) -> Result<Vec<tokio_postgres::Row>, Error> {
    Ok(collect(client.query_raw(statement, params).await?).await?.returned)
}

async fn collect(stream: tokio_postgres::RowStream) -> Reply {
    let mut stream = std::pin::pin!(stream);
    let mut returned = Vec::new();
    while let Some(row) = stream.try_next().await? {
        returned.push(row);
    }
    Ok(Touched { rows: stream.rows_affected().unwrap_or_default(), returned })
}

/// The first error of a flight.
struct Unanswered {
    fault: Fault,
    stale: bool,
}

/// One answer for each operation, or what the first error means: those after it are its echo.
fn answers(
    parts: Vec<Part<'_>>,
    replies: Vec<Reply>,
    ops: usize,
    last: bool,
) -> Result<Vec<Applied>, Unanswered> {
    let mut answers = vec![Applied::All; ops];
    for (part, reply) in parts.into_iter().zip(replies) {
        match (part, reply) {
            (Part::Careful(at, batch, rows, range), Ok(touched)) => {
                if touched.rows < range.len() as u64 {
                    note_refused(&mut answers[at], batch, rows, range, touched.returned);
                }
            }
            (_, Ok(_)) => {}
            (Part::Guard, Err(error)) if fault::is_unmatched(&error) => {
                return Err(Unanswered { fault: Fault::Unmatched, stale: false });
            }
            (Part::Hopeful, Err(error)) if fault::is_unmatched(&error) || fault::is_duplicate(&error) => {
                return Err(Unanswered { fault: Fault::Contested, stale: false });
            }
            (part, Err(error)) => {
                let stale = fault::is_stale_statement(&error);
                let fault = match part {
                    Part::Commit => fault::of_commit(error),
                    _ if last => fault::of_statement_before_commit(error),
                    _ => fault::of_statement(error),
                };
                return Err(Unanswered { fault, stale });
            }
        }
    }
    Ok(answers)
}

/// Notes which rows did not return their key.
fn note_refused(
    answer: &mut Applied,
    batch: &'static Batch,
    rows: &dyn Rows,
    range: Range<usize>,
    returned: Vec<tokio_postgres::Row>,
) {
    let key_of = |row: &dyn Row| -> Vec<Vec<u8>> {
        (0..batch.key).map(|column| row.value(column).map(sortable).unwrap_or_default()).collect()
    };
    let mut written: Vec<Vec<Vec<u8>>> = returned.into_iter().map(|row| key_of(&PostgresRow(row))).collect();
    written.sort_unstable();
    if *answer == Applied::All {
        *answer = Applied::Some(vec![true; rows.len()]);
    }
    if let Applied::Some(applied) = answer {
        for row in range {
            let key: Vec<Vec<u8>> = (0..batch.key).map(|column| sortable(rows.value(row, column))).collect();
            applied[row] = written.binary_search(&key).is_ok();
        }
    }
}

fn sortable(value: Value<'_>) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        Value::Int(int) => int.to_be_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.to_vec(),
    }
}

impl Session for PostgresSession<'_> {
    const DIALECT: Dialect = Dialect::Postgres;

    fn flight(
        &mut self,
        ops: &[Op<'_>],
        last: bool,
    ) -> impl Future<Output = Result<Vec<Applied>, Fault>> + Send {
        self.send(ops, last)
    }

    async fn execute(&mut self, text: &str, params: &[Value<'_>]) -> Result<u64, Fault> {
        self.begin().await?;
        let statement = self.prepare(&numbered(text)).await?;
        let stream = self.client()?.query_raw(&statement, params.iter().map(|param| Scalar(*param))).await;
        let touched = collect(stream.map_err(fault::of_statement)?).await.map_err(fault::of_statement)?;
        Ok(touched.rows)
    }

    async fn query<T: Send + 'static>(
        &mut self,
        text: &str,
        params: &[Value<'_>],
        decode: Decode<T>,
    ) -> Result<Vec<T>, Fault> {
        self.begin().await?;
        let statement = self.prepare(&numbered(text)).await?;
        let stream = self.client()?.query_raw(&statement, params.iter().map(|param| Scalar(*param))).await;
        let touched = collect(stream.map_err(fault::of_statement)?).await.map_err(fault::of_statement)?;
        touched.returned.into_iter().map(|row| decode(&PostgresRow(row)).map_err(Fault::from)).collect()
    }
}
