//! What SQLite's errors mean.

use rusqlite::{Error, ErrorCode};

use crate::session::Fault;

/// An error of a statement. There is one writer, so nothing is worth trying again at once: a lock that another
/// process holds was waited for already.
pub(super) fn of_statement(error: Error) -> Fault {
    Fault::failed(error)
}

/// An error of a commit. A full disk or a busy file is known to have written nothing; a commit whose sync
/// failed may be in the log or not.
pub(super) fn of_commit(error: &Error) -> Fault {
    let source = error.to_string();
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::OutOfMemory,
        ) => Fault::failed(source),
        _ => Fault::Unknown(source.into()),
    }
}
