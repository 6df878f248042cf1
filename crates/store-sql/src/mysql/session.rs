//! A connection as a session. The driver sends one request at a time, so a flight is as many round trips as it has
//! statements.

use std::sync::Arc;

use mysql_async::prelude::Queryable;
use mysql_async::{Params, Row};

use super::fault;
use super::lent::Lent;
use super::param::{MysqlRow, params};
use crate::batch_text::Texts;
use crate::dialect::Dialect;
use crate::session::{Applied, Fault, Op, Result, Session};
use crate::transact::Ending;
use crate::value::{Decode, Value};

/// A connection within a transaction.
pub(super) struct MysqlSession {
    pub(super) lent: Lent,
    pub(super) texts: Arc<Texts>,
    /// Whether rows are read and locked before they are compared and set.
    pub(super) careful: bool,
    begun: bool,
}

impl MysqlSession {
    pub(super) fn new(lent: Lent, texts: Arc<Texts>, careful: bool) -> Self {
        Self { lent, texts, careful, begun: false }
    }

    async fn begin(&mut self) -> Result<(), Fault> {
        if !self.begun {
            self.begun = true;
            self.control("START TRANSACTION").await.map_err(fault::of_statement)?;
        }
        Ok(())
    }

    async fn control(&mut self, text: &'static str) -> mysql_async::Result<()> {
        self.lent.conn()?.query_drop(text).await
    }

    async fn statement(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        self.begin().await?;
        self.found(text, params(values.iter().copied())).await.map_err(fault::of_statement)
    }

    /// Runs a prepared statement; tells how many rows it found.
    pub(super) async fn found(&mut self, text: &str, params: Params) -> mysql_async::Result<u64> {
        let conn = self.lent.conn()?;
        conn.exec_drop(text, params).await?;
        Ok(conn.affected_rows())
    }

    /// Reads rows.
    pub(super) async fn rows(&mut self, text: &str, params: Params) -> mysql_async::Result<Vec<Row>> {
        self.lent.conn()?.exec(text, params).await
    }
}

impl Ending for MysqlSession {
    /// Ends the transaction. After a failure the connection is closed, which also lets go of what the work may still
    /// hold, such as the lock of migrations.
    async fn end(mut self, keep: bool) -> Result<(), Fault> {
        let ended = match (self.begun, keep) {
            (false, _) => Ok(()),
            (true, true) => self.control("COMMIT").await.map_err(fault::of_commit),
            (true, false) => self.control("ROLLBACK").await.map_err(fault::of_statement),
        };
        if ended.is_ok() && keep {
            self.lent.give_back();
        }
        ended
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
                Op::Batch { batch, rows, .. } => self.batch(batch, *rows).await?,
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
        let rows = self.rows(text, params(values.iter().copied())).await.map_err(fault::of_statement)?;
        rows.into_iter().map(|row| decode(&MysqlRow(row)).map_err(Fault::from)).collect()
    }
}
