//! Addresses of the public internet, and all others: this machine's, private, link-local, multicast, reserved ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public internet: not this machine's, not of a private or local
/// network, not reserved for something else.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped().or_else(|| embedded_v4(address)) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && second & 0xc0 == 64;
    // 192.88.99.0/24 was that of relays of 6to4.
    let is_protocol = first == 192 && (second == 0 && third == 0 || second == 88 && third == 99);
    let is_benchmark = first == 198 && second & 0xfe == 18;
    let is_reserved = first == 0 || first >= 240;
    !(address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || is_shared
        || is_protocol
        || is_benchmark
        || is_reserved)
}

/// The IPv4 address that an IPv6 address of a translator (NAT64, 6to4) leads to.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_documentation = first == 0x2001 && second == 0xdb8 || first == 0x3fff && second & 0xf000 == 0;
    // 2001::/23 belongs to protocols: Teredo leads to an IPv4 address, others to nobody who takes calls.
    let is_protocol = first == 0x2001 && second & 0xfe00 == 0;
    // All that is public today is in 2000::/3.
    first & 0xe000 == 0x2000 && !is_documentation && !is_protocol
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_told_from_others() {
        for (address, expected) in [
            ("8.8.8.8", true),
            ("2001:4860:4860::8888", true),
            ("64:ff9b::808:808", true),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("192.0.0.8", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("::ffff:169.254.169.254", false),
            ("::ffff:0:127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b:1::808:808", false),
            ("2002:808:808::1", true),
            ("2002:a00:1::", false),
            ("2001:0:808:808::", false),
            ("fec0::1", false),
            ("fd00:ec2::254", false),
            ("ff0e::1", false),
            ("5f00::1", false),
            ("192.88.99.1", false),
            ("100::1", false),
            ("2002:7f00:1::", false),
            ("2001:db8::1", false),
            ("2001:0:7f00:1::", false),
            ("3fff::1", false),
            ("::127.0.0.1", false),
            ("fc00::1", false),
            ("fe80::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public_address(address.parse().unwrap()), expected, "{address}");
        }
    }
}
