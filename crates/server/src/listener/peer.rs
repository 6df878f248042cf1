//! Who sent a request: the connection, and the address of the caller, also behind a trusted reverse proxy.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::http::{Extensions, HeaderMap};
use mainspring_blob::Networks;

use super::connection::Connection;

/// Where a request comes from. An extension of every request.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(super) connection: Arc<Connection>,
}

impl Peer {
    /// The peer of a request; none in a test that calls the router directly.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// Whether a good credential was shown on this connection.
    pub(crate) fn is_authenticated(&self) -> bool {
        self.connection.is_authenticated()
    }

    /// A good credential was shown on this connection: the limits for strangers no longer apply to it.
    pub(crate) fn authenticated(&self) {
        self.connection.authenticated();
    }
}

/// The unit of limits per address: an IPv4 address, or the /64 of an IPv6 address, which one machine usually has whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Subnet(IpAddr);

impl Subnet {
    pub(super) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                Self(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))))
            }
            v4 => Self(v4),
        }
    }
}

/// Reverse proxies whose `X-Forwarded-For` is believed.
#[derive(Debug, Clone, Default)]
pub(super) struct Proxies(Networks);

impl Proxies {
    pub(super) fn new(texts: &[String]) -> Result<Self, String> {
        Networks::parse(texts.iter().map(String::as_str)).map(Self)
    }

    pub(super) fn contain(&self, address: IpAddr) -> bool {
        self.0.lists(address)
    }

    /// The address of the caller: the last one in `X-Forwarded-For` that is not a proxy itself. What callers write there
    /// by themselves stands before it. The connection's own address where no proxy is in between.
    pub(super) fn client(&self, connected: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.contain(connected) {
            return connected.to_canonical();
        }
        let values = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let texts: Vec<&str> = values.flat_map(|text| text.split(',')).map(str::trim).collect();
        let mut client = connected;
        for text in texts.into_iter().rev() {
            let Some(address) = parse(text) else { break };
            client = address;
            if !self.contain(address) {
                break;
            }
        }
        client.to_canonical()
    }
}

/// `10.1.2.3`, `2001:db8::1`, also with a port or in brackets.
fn parse(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(text, |(inner, _)| inner);
    bare.parse().ok().or_else(|| text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(connected: &str, header: Option<&'static str>, client: &str) {
        let proxies = Proxies::new(&["10.0.0.0/8".to_owned(), "::1".to_owned()]).expect("networks");
        let mut headers = HeaderMap::new();
        headers.extend(header.map(|value| {
            let name = axum::http::HeaderName::from_static("x-forwarded-for");
            (name, axum::http::HeaderValue::from_static(value))
        }));
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert_eq!(proxies.client(address(connected), &headers), address(client), "{header:?}");
    }

    #[test]
    fn only_a_trusted_proxy_names_the_caller() {
        check("192.0.2.1", None, "192.0.2.1");
        check("192.0.2.1", Some("198.51.100.7"), "192.0.2.1");
        check("10.1.1.1", Some("198.51.100.7"), "198.51.100.7");
        check("::1", Some("198.51.100.7:4711"), "198.51.100.7");
        check("10.1.1.1", None, "10.1.1.1");
    }

    #[test]
    fn what_a_caller_writes_into_the_header_does_not_count() {
        check("10.1.1.1", Some("1.2.3.4, 198.51.100.7"), "198.51.100.7");
        check("10.1.1.1", Some("1.2.3.4, 198.51.100.7, 10.2.2.2"), "198.51.100.7");
        check("10.1.1.1", Some("nonsense"), "10.1.1.1");
        check("10.1.1.1", Some("[2001:db8::1]:9, 10.2.2.2"), "2001:db8::1");
    }

    #[test]
    fn one_machine_of_ipv6_is_one() {
        let subnet = |text: &str| Subnet::of(text.parse().expect("an address"));
        assert_eq!(subnet("2001:db8::1"), subnet("2001:db8::ffff:2"));
        assert_ne!(subnet("2001:db8::1"), subnet("2001:db8:0:1::1"));
        assert_eq!(subnet("::ffff:10.0.0.1"), subnet("10.0.0.1"));
        assert_ne!(subnet("10.0.0.2"), subnet("10.0.0.1"));
    }
}
