//! What an address is counted as.
//!
//! A host picks any address of its /64, but many are given more: homes a /56, sites and customers of
//! tunnels a /48, which is 65,536 times a /64. So an address of IPv6 is counted on all three levels.
//!
//! Mobile networks give each phone a /64, so a /48 of theirs may be tens of thousands of people. The wider
//! blocks have more for that, but not 65,536 times as much: what one phone asks is little, and carriers
//! spread their phones over many /48s. IPv4 is counted by single addresses; a NAT64 is one of them.

use std::{net::IpAddr, ops::Deref};

use super::meter::Share;
use crate::client::Block;

/// Times the limit for a /56, and for a /48.
const TIMES_56: u32 = 2;
const TIMES_48: u32 = 4;

/// The blocks in which an address is counted, the smallest first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Levels {
    V4([Share<Block>; 1]),
    V6([Share<Block>; 3]),
}

impl Levels {
    pub(super) fn of(address: IpAddr) -> Self {
        let block = Block::of(address);
        let share = |times, bits| Share {
            key: block.widened(bits),
            times,
        };
        match block {
            Block::V4(_) => Self::V4([share(1, 64)]),
            Block::V6 { .. } => Self::V6([share(1, 64), share(TIMES_56, 56), share(TIMES_48, 48)]),
        }
    }
}

impl Deref for Levels {
    type Target = [Share<Block>];

    fn deref(&self) -> &[Share<Block>] {
        match self {
            Self::V4(one) => one,
            Self::V6(three) => three,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> Vec<String> {
        let levels = Levels::of(text.parse().unwrap());
        levels.iter().map(|share| share.key.to_string()).collect()
    }

    #[test]
    fn an_address_of_ipv6_counts_in_three_blocks_and_one_of_ipv4_in_one() {
        assert_eq!(
            levels("2001:db8:7:1234::5"),
            [
                "2001:db8:7:1234::/64",
                "2001:db8:7:1200::/56",
                "2001:db8:7::/48"
            ]
        );
        assert_eq!(levels("198.51.100.7"), ["198.51.100.7"]);
        assert_eq!(levels("::ffff:198.51.100.7"), ["198.51.100.7"]);
    }
}
