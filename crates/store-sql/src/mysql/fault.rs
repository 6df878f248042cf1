//! What MySQL's errors mean for a transaction.

use mysql_async::{DriverError, Error};

use crate::session::Fault;

const DUPLICATE: u16 = 1062;
/// Deadlock, lock waited for too long, row changed since it was read.
const IN_THE_WAY: [u16; 3] = [1213, 1205, 1020];

/// Too many connections, the server stops.
const NOT_READY: [u16; 3] = [1040, 1053, 1203];

/// An error of a statement: nothing is written.
pub(super) fn of_statement(error: Error) -> Fault {
    match &error {
        Error::Server(server) if IN_THE_WAY.contains(&server.code) || server.code == DUPLICATE => {
            Fault::Again(error.into())
        }
        _ => Fault::Failed(error.into()),
    }
}

/// An error of the commit. A cluster may refuse a commit as a deadlock; any other error leaves it open.
pub(super) fn of_commit(error: Error) -> Fault {
    match &error {
        Error::Server(server) if IN_THE_WAY.contains(&server.code) => Fault::Again(error.into()),
        _ => Fault::Unknown(error.into()),
    }
}

/// Whether a connection failed because the server is not there, or not ready yet. A wrong name, password or database is none
/// of these.
pub(super) fn is_away(error: &Error) -> bool {
    match error {
        Error::Server(server) => NOT_READY.contains(&server.code),
        Error::Driver(DriverError::ConnectionClosed) => true,
        error => crate::away::is_away(error),
    }
}

/// Whether a row met another with the same unique key.
pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error, Error::Server(server) if server.code == DUPLICATE)
}
