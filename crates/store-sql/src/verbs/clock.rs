//! The server's clock. The only statement that asks for it; SQLite has no server, so its clock is the machine's.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use mainspring_model::Timestamp;
use mainspring_store::Error;

use crate::dialect::Dialect;
use crate::session::{Backend, Fault, Result, Session};

/// The text that reads it; none where the machine's clock is meant.
const fn text(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Sqlite => None,
        Dialect::Postgres => Some("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"),
        Dialect::Mysql => Some("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)"),
    }
}

/// Reads it by itself.
pub(crate) async fn now<B: Backend>(backend: &B) -> Result<Timestamp> {
    let Some(text) = text(B::DIALECT) else { return machine() };
    let rows = backend.read(Cow::Borrowed(text), Vec::new(), |row| row.int(0)).await?;
    match rows.into_iter().next() {
        Some(row) => Ok(Timestamp::from_micros(row?)),
        None => Err(unanswered()),
    }
}

/// Reads it within a transaction.
pub(crate) async fn read<S: Session>(session: &mut S) -> Result<Timestamp, Fault> {
    let Some(text) = text(S::DIALECT) else { return machine().map_err(Fault::Refused) };
    let rows = session.query(text, &[], |row| row.int(0)).await?;
    rows.into_iter().next().map(Timestamp::from_micros).ok_or_else(|| Fault::Refused(unanswered()))
}

fn machine() -> Result<Timestamp> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Error::unavailable)?;
    Ok(Timestamp::from_micros(i64::try_from(now.as_micros()).unwrap_or(i64::MAX)))
}

fn unanswered() -> Error {
    Error::unavailable("the server's clock did not answer")
}
