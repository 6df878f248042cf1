//! Whether a server cannot be reached at the moment, by the error of the operating system that a driver's error has in it.

use std::error::Error;
use std::io::{self, ErrorKind};

/// Whether trying again later may help. A name that does not resolve and a certificate that is not trusted do not count: the
/// URL is wrong then.
pub(crate) fn is_away(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return is_transient(error.kind());
        }
        cause = error.source();
    }
    false
}

fn is_transient(kind: ErrorKind) -> bool {
    use ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, NetworkDown,
        NetworkUnreachable, NotFound, TimedOut, UnexpectedEof,
    };
    // Not found is the socket of a server on this machine.
    let transient = [
        BrokenPipe,
        ConnectionAborted,
        ConnectionRefused,
        ConnectionReset,
        HostUnreachable,
        NetworkDown,
        NetworkUnreachable,
        NotFound,
        TimedOut,
        UnexpectedEof,
    ];
    transient.contains(&kind)
}
