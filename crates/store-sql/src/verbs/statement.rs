//! Reads put together from conditions, and single statements as transactions.

use std::borrow::Cow;
use std::fmt::Write;

use mainspring_model::Namespace;
use mainspring_store::Error;

use crate::dialect::Dialect;
use crate::session::{Backend, Fault, ReadRows, Result, Session, Work};
use crate::value::{Decode, Param, Value};

/// A read under construction.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    text: String,
    params: Vec<Param>,
    conditions: usize,
}

impl Query {
    /// Begins with `SELECT … FROM …`.
    pub(crate) fn new(select: &str) -> Self {
        Self { text: select.to_owned(), params: Vec::new(), conditions: 0 }
    }

    /// Begins with `SELECT … FROM … WHERE …`.
    pub(crate) fn with_condition(select: &str) -> Self {
        Self { text: select.to_owned(), params: Vec::new(), conditions: 1 }
    }

    /// Only rows of which this is true.
    pub(crate) fn and(&mut self, condition: &str, params: impl IntoIterator<Item = Param>) -> &mut Self {
        self.text.push_str(if self.conditions == 0 { " WHERE " } else { " AND " });
        self.text.push_str(condition);
        self.params.extend(params);
        self.conditions += 1;
        self
    }

    /// Only rows in the namespace or below it. `0` follows `/`, so this is two ranges of bytes.
    pub(crate) fn within(&mut self, namespace: &Namespace) -> &mut Self {
        let name = namespace.as_str();
        let (from, until) = (format!("{name}/"), format!("{name}0"));
        self.and(
            "(namespace = ? OR (namespace > ? AND namespace < ?))",
            [name.into(), Param::from(from.as_str()), Param::from(until.as_str())],
        )
    }

    /// The order, and at most so many rows.
    pub(crate) fn page(&mut self, order: &str, limit: usize) -> &mut Self {
        self.text.push_str(" ORDER BY ");
        self.text.push_str(order);
        self.text.push_str(" LIMIT ?");
        self.params.push(Param::Int(i64::try_from(limit).unwrap_or(i64::MAX)));
        self
    }

    /// The order of all rows.
    pub(crate) fn order(&mut self, order: &str) -> &mut Self {
        self.text.push_str(" ORDER BY ");
        self.text.push_str(order);
        self
    }

    /// One more parameter, for what the last part of the text asks.
    pub(crate) fn bind(&mut self, param: Param) -> &mut Self {
        self.params.push(param);
        self
    }

    /// Reads it, with damaged rows told apart.
    pub(crate) async fn read<B: Backend, T: Send + 'static>(
        self,
        backend: &B,
        decode: Decode<T>,
    ) -> Result<ReadRows<T>> {
        backend.read(Cow::Owned(self.text), self.params, decode).await
    }

    /// Reads it; a damaged row is an error.
    pub(crate) async fn all<B: Backend, T: Send + 'static>(
        self,
        backend: &B,
        decode: Decode<T>,
    ) -> Result<Vec<T>> {
        self.read(backend, decode).await?.into_iter().map(|row| row.map_err(Error::from)).collect()
    }

    /// Reads it; a damaged row is left out and logged, so that it never stops the rest (I20).
    pub(crate) async fn sound<B: Backend, T: Send + 'static>(
        self,
        backend: &B,
        decode: Decode<T>,
    ) -> Result<Vec<T>> {
        Ok(self.read(backend, decode).await?.into_iter().filter_map(sound).collect())
    }

    /// The rows of all of these reads.
    pub(crate) fn union(reads: impl Iterator<Item = Self>) -> Self {
        let mut union = Self { text: String::new(), params: Vec::new(), conditions: 0 };
        for (at, read) in reads.enumerate() {
            let and = if at == 0 { "" } else { " UNION ALL " };
            // Writing to a string cannot fail.
            let _ = write!(union.text, "{and}SELECT * FROM ({}) AS r{at}", read.text);
            union.params.extend(read.params);
        }
        union
    }

    /// The text with its parameters written into it, for a look at the server's plan.
    pub(crate) fn with_literals(&self, dialect: Dialect) -> String {
        let mut parts = self.text.split('?');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for (part, param) in parts.zip(&self.params) {
            out.push_str(&literal(param, dialect));
            out.push_str(part);
        }
        out
    }

    /// The text and its parameters, for a read inside a transaction.
    pub(crate) fn parts(&self) -> (&str, Vec<Value<'_>>) {
        (&self.text, self.params.iter().map(Param::value).collect())
    }
}

fn literal(param: &Param, dialect: Dialect) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match (param, dialect) {
        (Param::Null, _) => "NULL".to_owned(),
        (Param::Int(int), _) => int.to_string(),
        (Param::Bytes(bytes), Dialect::Sqlite | Dialect::Mysql) => format!("x'{}'", hex(bytes)),
        (Param::Bytes(bytes), Dialect::Postgres) if bytes.len() == 16 => format!("'{}'::uuid", hex(bytes)),
        (Param::Bytes(bytes), Dialect::Postgres) => format!("'\\x{}'::bytea", hex(bytes)),
    }
}

/// The row, unless it is damaged, which is logged.
pub(crate) fn sound<T>(row: Result<T, crate::value::Damage>) -> Option<T> {
    match row {
        Ok(row) => Some(row),
        Err(damage) => {
            tracing::error!(row = %damage.row, what = %damage.what, "a stored row is damaged and was left out");
            None
        }
    }
}

/// One statement as a transaction; answers how many rows it found.
pub(crate) struct Statement {
    /// The text.
    pub(crate) text: &'static str,
    /// Its parameters.
    pub(crate) params: Vec<Param>,
}

impl Work for Statement {
    type Answer = u64;

    async fn run<S: Session>(&self, session: &mut S) -> Result<u64, Fault> {
        let params: Vec<Value<'_>> = self.params.iter().map(Param::value).collect();
        session.execute(self.text, &params).await
    }
}
