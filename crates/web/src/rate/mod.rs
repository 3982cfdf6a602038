//! How much one address may ask of what is dear: joins, and guesses at the keys of operators and services.

mod meter;

use std::net::IpAddr;

use ropeline_core::Timestamp;

use self::meter::Meter;
pub use self::meter::RetryAfter;
use crate::Client;

/// Addresses that are remembered for each limit: about 5 MB where all of them are in debt.
const ADDRESSES_MAX: usize = 100_000;
/// All addresses together may try this many times as many wrong keys as one.
const FAILURES_FACTOR: u32 = 10;

/// What one address may ask in a minute; 0 is any number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Joins.
    pub joins_per_minute: u32,
    /// Requests to the admin API.
    pub admin_per_minute: u32,
    /// Wrong admin keys, and likewise wrong service keys.
    pub admin_failures_per_minute: u32,
}

/// What every address has asked lately.
#[derive(Debug)]
pub struct Rates {
    joins: Meter<Block>,
    admin: Meter<Block>,
    admin_keys: Guesses,
    /// Counted apart, so that a service with a wrong key keeps no operator out who has its address.
    service_keys: Guesses,
}

impl Rates {
    /// Has counted nothing yet.
    pub fn new(limits: RateLimits) -> Self {
        let RateLimits {
            joins_per_minute,
            admin_per_minute,
            admin_failures_per_minute: failures,
        } = limits;
        Self {
            joins: Meter::new(joins_per_minute, ADDRESSES_MAX),
            admin: Meter::new(admin_per_minute, ADDRESSES_MAX),
            admin_keys: Guesses::new("admin", failures),
            service_keys: Guesses::new("service", failures),
        }
    }

    /// Counts a join. This machine itself may join as often as it likes: behind a proxy on it that nobody
    /// declared, the whole crowd has one address.
    pub fn join(&self, client: Client, now: Timestamp) -> Result<(), RetryAfter> {
        if client.is_this_machine() {
            return Ok(());
        }
        self.joins.take(Block::of(client.address), now)
    }

    /// Counts a request to the admin API, before its key is looked at. An address that has shown too many
    /// wrong keys is refused whatever it shows, so that it cannot go on guessing.
    pub fn admin(&self, client: Client, now: Timestamp) -> Result<(), RetryAfter> {
        self.admin_keys.check(client, now)?;
        self.admin.take(Block::of(client.address), now)
    }

    /// Counts a wrong admin key, and says what to answer it with.
    pub fn admin_failed(&self, client: Client, now: Timestamp) -> KeyRefused {
        self.admin_keys.wrong(client, now)
    }

    /// Refuses an address that has shown too many wrong service keys, whatever it shows now. Nothing else is counted.
    pub fn service(&self, client: Client, now: Timestamp) -> Result<(), RetryAfter> {
        self.service_keys.check(client, now)
    }

    /// Counts a wrong service key, and says what to answer it with.
    pub fn service_failed(&self, client: Client, now: Timestamp) -> KeyRefused {
        self.service_keys.wrong(client, now)
    }
}

/// Wrong keys of one kind.
#[derive(Debug)]
struct Guesses {
    what: &'static str,
    of_one: Meter<Block>,
    of_all: Meter<()>,
}

impl Guesses {
    fn new(what: &'static str, per_minute: u32) -> Self {
        Self {
            what,
            of_one: Meter::new(per_minute, ADDRESSES_MAX),
            of_all: Meter::new(per_minute.saturating_mul(FAILURES_FACTOR), 1),
        }
    }

    fn check(&self, client: Client, now: Timestamp) -> Result<(), RetryAfter> {
        self.of_one.check(&Block::of(client.address), now)
    }

    /// The wrong keys of all addresses together are counted here only, after the comparison: however many
    /// others guess, they keep out nobody who has the key.
    fn wrong(&self, client: Client, now: Timestamp) -> KeyRefused {
        let block = Block::of(client.address);
        let alone = self.of_one.take(block, now);
        let together = self.of_all.take((), now);
        if alone.is_ok() && self.of_one.check(&block, now).is_err() {
            tracing::warn!(
                client.address = %client.address,
                "too many wrong {} keys: this address has to wait before it may try again",
                self.what
            );
        }
        match alone.and(together) {
            Ok(()) => KeyRefused::Wrong,
            Err(retry) => KeyRefused::TooMany(retry),
        }
    }
}

/// What a wrong key is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRefused {
    /// It is wrong.
    Wrong,
    /// Too many were wrong.
    TooMany(RetryAfter),
}

/// What counts as one address: one of IPv4, or the 64 bits of IPv6 that a household or a host is given,
/// within which it may take any address it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Block {
    V4(u32),
    V6(u64),
}

impl Block {
    fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 64) as u64),
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
    }

    #[test]
    fn every_address_of_ipv4_is_its_own() {
        assert_ne!(block("198.51.100.7"), block("198.51.100.8"));
        assert_ne!(block("0.0.0.1"), block("0:0:0:1::"));
    }
}
