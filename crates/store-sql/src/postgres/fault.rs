//! What PostgreSQL's errors mean for a transaction.

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
    let closing = |code: &SqlState| code.code().starts_with("57P");
    if error.is_closed() || error.code().is_some_and(closing) {
        Fault::Again(error.into())
    } else {
        of_statement(error)
    }
}

/// An error of a statement that was sent together with the commit. When the server answered with an error the
/// commit became a rollback; when it did not answer, nobody knows.
pub(super) fn of_statement_before_commit(error: Error) -> Fault {
    if error.as_db_error().is_some() { of_statement(error) } else { Fault::Unknown(error.into()) }
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

/// Whether a guard, or a batch that counts, said that it did not touch what it should.
pub(super) fn is_unmatched(error: &Error) -> bool {
    error.code() == Some(&SqlState::DIVISION_BY_ZERO)
}

/// Whether a row met another with the same unique key.
pub(super) fn is_duplicate(error: &Error) -> bool {
    error.code() == Some(&SqlState::UNIQUE_VIOLATION)
}

/// Whether the prepared statements of the connection are out of date: a migration changed a table.
pub(super) fn is_stale_statement(error: &Error) -> bool {
    matches!(error.code(), Some(code) if *code == SqlState::FEATURE_NOT_SUPPORTED || *code == SqlState::INVALID_SQL_STATEMENT_NAME)
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
