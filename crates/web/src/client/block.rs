//! Addresses that are likely to belong to one party.

use std::net::IpAddr;

/// Bits of an IPv6 address that a network is given at least; within it a host may take any address.
const V6_BITS: u8 = 64;

/// A network whose addresses count as one: a single address of IPv4, or a prefix of IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Block {
    V4(u32),
    V6 { prefix: u64, bits: u8 },
}

impl Block {
    /// The smallest block: one address of IPv4, or a /64 of IPv6.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => Self::V6 {
                prefix: (address.to_bits() >> 64) as u64,
                bits: V6_BITS,
            },
        }
    }

    /// The block of so many bits, 64 at most, that contains this one of IPv6.
    pub(crate) fn widened(self, bits: u8) -> Self {
        match self {
            Self::V4(_) => self,
            Self::V6 { prefix, .. } => {
                let mask = u64::MAX << (V6_BITS - bits);
                let prefix = prefix & mask;
                Self::V6 { prefix, bits }
            }
        }
    }
}

impl std::fmt::Display for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::V4(address) => std::net::Ipv4Addr::from_bits(address).fmt(f),
            Self::V6 { prefix, bits } => {
                let address = std::net::Ipv6Addr::from_bits(u128::from(prefix) << 64);
                write!(f, "{address}/{bits}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        Block::of(text.parse().unwrap())
    }

    #[test]
    fn addresses_within_64_bits_of_ipv6_are_one() {
        assert_eq!(block("2001:db8::1"), block("2001:db8::ffff:1:2:3"));
        assert_ne!(block("2001:db8::1"), block("2001:db8:0:1::1"));
        assert_eq!(block("2001:db8::1").to_string(), "2001:db8::/64");
    }

    #[test]
    fn every_address_of_ipv4_is_its_own() {
        assert_ne!(block("198.51.100.7"), block("198.51.100.8"));
        assert_ne!(block("0.0.0.1"), block("0:0:0:1::"));
        assert_eq!(block("::ffff:198.51.100.7"), block("198.51.100.7"));
        assert_eq!(block("198.51.100.7").to_string(), "198.51.100.7");
    }
}
