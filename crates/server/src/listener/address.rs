//! Addresses of the listener as others reach it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
}
