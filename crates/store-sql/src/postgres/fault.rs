//! What PostgreSQL's errors mean for a transaction.

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::session::Fault;

/// An error of a statement, before the end was asked for: nothing is written.
pub(super) fn of_statement(error: Error) -> Fault {
    match error.code() {
        Some(code) if is_worth_another_try(code) => Fault::Again(error.into()),
        _ => Fault::Failed(error.into()),
    }
}

/// An error of a read: a connection that was closed is worth trying another.
pub(super) fn of_read(error: Error) -> Fault {
    if error.is_closed() || error.code().is_some_and(is_shutdown) {
        Fault::Again(error.into())
    } else {
        of_statement(error)
    }
}

/// An error of a statement that commits by itself. When the server answered, nothing was written: a check divided
/// by zero, a duplicate was met, or it could not be done. When it did not answer, or was shutting down, perhaps
/// after the commit, nobody knows.
pub(super) fn of_fused(error: Error) -> Fault {
    match error.code() {
        Some(code) if [SqlState::DIVISION_BY_ZERO, SqlState::UNIQUE_VIOLATION].contains(code) => {
            Fault::Contested
        }
        Some(code) if !is_shutdown(code) => of_statement(error),
        _ => Fault::Unknown(error.into()),
    }
}

/// An error of the commit itself. Only some say that nothing was written: a server that shuts down, or stops
/// waiting for its replicas, may have written.
pub(super) fn of_commit(error: Error) -> Fault {
    match error.code() {
        Some(code) if is_worth_another_try(code) => Fault::Again(error.into()),
        Some(code) if ["23", "25", "53"].contains(&&code.code()[..2]) => Fault::Failed(error.into()),
        _ => Fault::Unknown(error.into()),
    }
}

/// Whether a connection failed because the server is not there, or not ready yet: it starts, stops, or has no connection
/// left. A wrong name, password or database is none of these.
pub(super) fn is_away(error: &PoolError) -> bool {
    match error {
        PoolError::Timeout(_) => true,
        PoolError::Backend(error) => match error.code() {
            Some(code) => is_shutdown(code) || ["08", "53"].contains(&&code.code()[..2]),
            None => error.is_closed() || crate::away::is_away(error),
        },
        _ => false,
    }
}

/// Whether the prepared statements of the connection are out of date: a migration changed a table.
pub(super) fn is_stale_statement(error: &Error) -> bool {
    matches!(error.code(), Some(code) if *code == SqlState::FEATURE_NOT_SUPPORTED || *code == SqlState::INVALID_SQL_STATEMENT_NAME)
}

fn is_shutdown(code: &SqlState) -> bool {
    code.code().starts_with("57P")
}

/// Another transaction was in the way: a deadlock, a lock waited for too long, a unique key taken in between.
fn is_worth_another_try(code: &SqlState) -> bool {
    [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::INVALID_SQL_STATEMENT_NAME,
    ]
    .contains(code)
}
