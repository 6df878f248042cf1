//! A connection as a session. The driver sends one request at a time, so a flight is as many round trips as it has
//! statements.

use std::sync::Arc;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};

use super::fault;
use super::param::{MysqlRow, params};
use crate::batch_text::Texts;
use crate::dialect::Dialect;
use crate::session::{Applied, Fault, Op, Result, Session};
use crate::value::{Decode, Value};

/// A connection within a transaction.
pub(super) struct MysqlSession {
    pub(super) conn: Conn,
    pub(super) texts: Arc<Texts>,
    /// Whether rows are read and locked before they are compared and set, because doing both at once missed one.
    pub(super) careful: bool,
    begun: bool,
}

impl MysqlSession {
    pub(super) fn new(conn: Conn, texts: Arc<Texts>, careful: bool) -> Self {
        Self { conn, texts, careful, begun: false }
    }

    async fn begin(&mut self) -> Result<(), Fault> {
        if !self.begun {
            self.conn.query_drop("START TRANSACTION").await.map_err(fault::of_statement)?;
            self.begun = true;
        }
        Ok(())
    }

    /// Ends the transaction. A connection in doubt is closed, never given back.
    pub(super) async fn end(mut self, keep: bool) -> Result<(), Fault> {
        let ended = match (self.begun, keep) {
            (false, _) => Ok(()),
            (true, true) => self.conn.query_drop("COMMIT").await.map_err(fault::of_commit),
            (true, false) => self.conn.query_drop("ROLLBACK").await.map_err(fault::of_statement),
        };
        if ended.is_err() || !keep {
            // Closing also lets go of what a failed work may still hold, such as the lock of migrations.
            let _ = self.conn.disconnect().await;
        }
        ended
    }

    async fn statement(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        self.begin().await?;
        self.conn.exec_drop(text, params(values.iter().copied())).await.map_err(fault::of_statement)?;
        Ok(self.conn.affected_rows())
    }
}

impl Session for MysqlSession {
    const DIALECT: Dialect = Dialect::Mysql;

    async fn flight(&mut self, ops: &[Op<'_>], _last: bool) -> Result<Vec<Applied>, Fault> {
        self.begin().await?;
        let mut answers = Vec::with_capacity(ops.len());
        for op in ops {
            answers.push(match op {
                Op::Guard(sql, values) => match self.statement(sql.text(Dialect::Mysql), values).await? {
                    0 => return Err(Fault::Unmatched),
                    _ => Applied::All,
                },
                Op::Execute(sql, values) => {
                    self.statement(sql.text(Dialect::Mysql), values).await?;
                    Applied::All
                }
                Op::Batch(batch, rows) => self.batch(batch, *rows).await?,
            });
        }
        Ok(answers)
    }

    async fn execute(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        self.statement(text, values).await
    }

    async fn query<T: Send + 'static>(
        &mut self,
        text: &str,
        values: &[Value<'_>],
        decode: Decode<T>,
    ) -> Result<Vec<T>, Fault> {
        self.begin().await?;
        let rows: Vec<Row> =
            self.conn.exec(text, params(values.iter().copied())).await.map_err(fault::of_statement)?;
        rows.into_iter().map(|row| decode(&MysqlRow(row)).map_err(Fault::from)).collect()
    }
}
