//! The socket that the server listens on.
//!
//! A word for a node, or an event for a watcher, leaves at once. By default a small message waits until the other machine
//! has acknowledged the one before, which may take it 40 ms.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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

/// How an address is reached from this machine.
pub(crate) fn from_here(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// How an address is reached from other machines, when nobody says: a server that listens everywhere is reached by the
/// machine's name.
pub(crate) fn from_elsewhere(address: SocketAddr) -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        name if address.ip().is_unspecified() && !name.is_empty() => format!("{name}:{}", address.port()),
        _ => from_here(address).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use axum::serve::Listener;

    use super::*;

    #[test]
    fn nobody_is_sent_to_an_address_that_means_everywhere() {
        let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
        assert_eq!(from_here(address("0.0.0.0:7468")), address("127.0.0.1:7468"));
        assert_eq!(from_here(address("[::]:7468")), address("[::1]:7468"));
        assert_eq!(from_elsewhere(address("10.1.2.3:7468")), "10.1.2.3:7468");
        let named = from_elsewhere(address("0.0.0.0:7468"));
        assert!(named.ends_with(":7468") && !named.starts_with("0.0.0.0"), "{named}");
    }

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
