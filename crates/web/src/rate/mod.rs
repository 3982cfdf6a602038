//! How much one address may ask of what is dear: joins, and guesses at the keys of operators and services.

mod levels;
mod meter;

use ropeline_core::Timestamp;

pub use self::meter::RetryAfter;
use self::{
    levels::Levels,
    meter::{Meter, Share},
};
use crate::{Client, client::Block};

/// Blocks of addresses that are remembered for each limit: about 6 MB where all of them are in debt.
const ADDRESSES_MAX: usize = 100_000;
/// All addresses together, as one key.
const ALL: [Share<()>; 1] = [Share { key: (), times: 1 }];
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

    /// Allows this much from now on.
    pub fn set(&self, limits: RateLimits) {
        let RateLimits {
            joins_per_minute,
            admin_per_minute,
            admin_failures_per_minute: failures,
        } = limits;
        self.joins.set(joins_per_minute);
        self.admin.set(admin_per_minute);
        self.admin_keys.set(failures);
        self.service_keys.set(failures);
    }

    /// Counts a join. This machine itself may join as often as it likes: behind a proxy on it that nobody
    /// declared, the whole crowd has one address.
    pub fn join(&self, client: Client, now: Timestamp) -> Result<(), RetryAfter> {
        if client.is_this_machine() {
            return Ok(());
        }
        self.joins.take(&Levels::of(client.address), now)
    }

    /// Counts a request of an operator, whose key was right. Wrong keys are counted apart: whoever shows the right one is
    /// never kept out by those who guess from the same address, as all do behind a proxy that nobody declared.
    pub fn admin(&self, client: Client, now: Timestamp) -> Result<(), RetryAfter> {
        self.admin.take(&Levels::of(client.address), now)
    }

    /// Counts a wrong admin key, and says what to answer it with.
    pub fn admin_failed(&self, client: Client, now: Timestamp) -> KeyRefused {
        self.admin_keys.wrong(client, now)
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

    fn set(&self, per_minute: u32) {
        self.of_one.set(per_minute);
        self.of_all.set(per_minute.saturating_mul(FAILURES_FACTOR));
    }

    /// Beyond the limits of one address and of all together, a wrong key is answered as too many and not as wrong. The
    /// right key is compared first and always taken, so what keeps guessers from finding it is its length.
    fn wrong(&self, client: Client, now: Timestamp) -> KeyRefused {
        let levels = Levels::of(client.address);
        let alone = self.of_one.take(&levels, now);
        let together = self.of_all.take(&ALL, now);
        if alone.is_ok() && self.of_one.check(&levels, now).is_err() {
            tracing::warn!(
                client.address = %client.address,
                "too many wrong {} keys from this address",
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
