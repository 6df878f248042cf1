//! Which addresses a URL that a stranger chose may reach (I36).
//!
//! Public ones, and those that the operator lists. Names are checked by what they resolve to, in the same step that
//! connects: a name that resolves to something else a moment later gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses that may be reached although they are not public.
#[derive(Debug, Clone, Default)]
pub struct Networks {
    allowed: Vec<(IpAddr, u8)>,
}

impl Networks {
    /// Reads `10.0.0.0/8`, `192.168.1.7`, `fd00::/8`. The error names what is none.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let one = |text: &'a str| {
            let wrong = || format!("`{text}` is not an address or a network such as 10.0.0.0/8");
            let (address, bits) = text.split_once('/').unwrap_or((text, ""));
            let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = if bits.is_empty() { most } else { bits.trim().parse::<u8>().map_err(|_| wrong())? };
            if bits > most { Err(wrong()) } else { Ok((address, bits)) }
        };
        Ok(Self { allowed: texts.into_iter().map(one).collect::<Result<_, _>>()? })
    }

    /// Whether this address may be reached.
    pub fn allow(&self, address: IpAddr) -> bool {
        is_public(address.to_canonical()) || self.lists(address)
    }

    /// Whether this address is one of those that were listed.
    pub fn lists(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.allowed.iter().any(|(network, bits)| contains(*network, *bits, address))
    }

    /// Whether the host of a URL may be asked for at all. A name may; what it resolves to is checked when it does.
    pub(crate) fn allow_host(&self, host: &str) -> bool {
        match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) => self.allow(address),
            Err(_) => !host.is_empty(),
        }
    }
}

fn contains(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    let same = |network: u128, address: u128, width: u32| {
        let shift = width - u32::from(bits);
        bits == 0 || network >> shift == address >> shift
    };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            same(network.to_bits().into(), address.to_bits().into(), 32)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => same(network.to_bits(), address.to_bits(), 128),
        _ => false,
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Ways to write an IPv4 address: NAT64, 6to4.
    let [_, _, _, _, _, _, high, low] = segments;
    let embedded = match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some((high, low)),
        [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = embedded {
        return is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    }
    // Only 2000::/3 is public, without what is kept for documentation and tunnels.
    let global = segments[0] & 0xe000 == 0x2000;
    global
        && !(segments[0] == 0x2001 && (segments[1] == 0xdb8 || segments[1] < 0x200))
        && segments[0] != 0x3fff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_and_listed_ones_are_reached() {
        let networks = Networks::parse(["10.1.0.0/16", "192.168.1.7", "fd00:1::/32"]).unwrap();
        let check = |address: &str, may: bool| {
            assert_eq!(networks.allow(address.parse().unwrap()), may, "{address}");
        };
        for public in ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8"] {
            check(public, true);
        }
        for listed in ["10.1.2.3", "192.168.1.7", "fd00:1::5", "::ffff:10.1.0.1"] {
            check(listed, true);
        }
        for private in [
            "127.0.0.1",
            "0.0.0.0",
            "10.2.0.1",
            "192.168.1.8",
            "169.254.169.254",
            "100.64.0.1",
            "172.16.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.192",
            "::1",
            "::",
            "fe80::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
        ] {
            check(private, false);
        }
        assert!(
            networks.allow_host("files.example") && !networks.allow_host("[::1]") && !networks.allow_host("")
        );
    }

    #[test]
    fn nonsense_is_named() {
        for bad in ["", "ten", "10.0.0.0/33", "10.0.0.0/x", "::1/129"] {
            assert!(Networks::parse([bad]).is_err(), "{bad}");
        }
        assert!(Networks::parse(["0.0.0.0/0"]).unwrap().allow("127.0.0.1".parse().unwrap()));
    }
}
