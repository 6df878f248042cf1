//! The socket that the server listens on.
//!
//! A word for a node, or an event for a watcher, leaves at once. By default a small message waits until the other machine
//! has acknowledged the one before, which may take it 40 ms.

use axum::serve::{ListenerExt, TapIo};
use tokio::net::{TcpListener, TcpStream};
use tracing::debug;

/// Accepts connections whose messages leave at once.
pub(crate) fn prompt(listener: TcpListener) -> TapIo<TcpListener, fn(&mut TcpStream)> {
    listener.tap_io(hurry)
}

fn hurry(connection: &mut TcpStream) {
    if let Err(error) = connection.set_nodelay(true) {
        debug!(%error, "small messages of a connection may be late");
    }
}

#[cfg(test)]
mod tests {
    use axum::serve::Listener;

    use super::*;

    #[tokio::test]
    async fn small_messages_do_not_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let mut listener = prompt(listener);
        let (connected, (accepted, _)) = tokio::join!(TcpStream::connect(address), listener.accept());
        connected.expect("somebody listens");
        assert!(accepted.nodelay().expect("the connection is open"));
    }
}
