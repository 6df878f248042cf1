//! A connection on loan from the pool. It goes back only when its work has ended in an orderly way: a request that
//! was given up half way would leave its answer for the next borrower, and its transaction open.

use std::time::Duration;

use mysql_async::{Conn, DriverError, Result};

/// How long a goodbye may take.
const GOODBYE_WAIT: Duration = Duration::from_secs(1);

/// A connection. Dropped without [`Lent::give_back`] it is closed.
pub(super) struct Lent(Option<Conn>);

impl Lent {
    pub(super) fn new(conn: Conn) -> Self {
        Self(Some(conn))
    }

    /// The connection.
    pub(super) fn conn(&mut self) -> Result<&mut Conn> {
        self.0.as_mut().ok_or_else(|| DriverError::ConnectionClosed.into())
    }

    /// Back to the pool.
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(conn) = self.0.take() {
            let goodbye = tokio::time::timeout(GOODBYE_WAIT, conn.disconnect());
            tokio::spawn(async move { drop(goodbye.await) });
        }
    }
}
