//! Where rooms are kept, and what the gate does while that is away.

use std::{fmt, ops::RangeInclusive, time::Duration};

use ropeline_store::{Durability, RedisUrl, RedisUrlError};
use toml::de::DeValue;

use super::{
    section::Section,
    value::{Wrong, count, duration_within, text},
};

/// The same bounds as a pass's, in whose place a lease stands.
const LEASE_MAX: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(30 * 24 * 3600);

/// Where rooms are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    /// In the data directory of this one server.
    Embedded,
    /// On a Redis that any number of servers share.
    Redis(RedisUrl),
}

impl StoreChoice {
    /// Takes the name or address of a store. An address may hold a password, so it is not repeated.
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        if text == "embedded" {
            return Ok(Self::Embedded);
        }
        match text.parse() {
            Ok(url) => Ok(Self::Redis(url)),
            Err(RedisUrlError::Scheme) => Err(Wrong::new(
                "must be \"embedded\", or an address that begins with redis://, rediss://, redis+sentinel://, redis+cluster:// or redis+unix://",
            )),
            Err(error) => Err(Wrong::meant(
                error.to_string(),
                format!("\"{}\"", error.instead()),
            )),
        }
    }
}

/// As it is written in the file, but for a password.
impl fmt::Display for StoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Redis(url) => write!(f, "{url}"),
        }
    }
}

/// Who must have what is written to Redis before it is answered, as it is written in the file.
pub(super) fn durability_word(durability: Durability) -> &'static str {
    match durability {
        Durability::Master => "0",
        Durability::Replica => "1",
        Durability::Strict => "\"strict\"",
        Durability::All => "\"all\"",
    }
}

fn durability(value: &DeValue<'_>) -> Result<Durability, Wrong> {
    let written = match value {
        DeValue::String(text) => format!("\"{text}\""),
        number => count(number)?.to_string(),
    };
    let known = [
        Durability::Master,
        Durability::Replica,
        Durability::Strict,
        Durability::All,
    ];
    let mut known = known.into_iter();
    known
        .find(|durability| durability_word(*durability) == written)
        .ok_or_else(|| Wrong::new("must be 0, 1, \"strict\" or \"all\""))
}

/// What the gate does with those whom it would have to ask the store about, while the store is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutageSettings {
    /// What it does.
    pub gate: GateRule,
    /// The longest time after the last news from the store that a lease holds; without it, the room's
    /// `pass_ttl`.
    pub lease_max: Option<Duration>,
}

/// Whom the gate lets in while the store is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRule {
    /// Nobody whom it would have to ask the store about.
    Closed,
    /// Everybody.
    Open,
    /// Those who may have been inside when the store was last heard of, for a while.
    Lease,
}

impl GateRule {
    /// As it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Lease => "lease",
        }
    }

    fn parse(text: &str) -> Result<Self, Wrong> {
        let rules = [Self::Closed, Self::Open, Self::Lease];
        let found = rules.into_iter().find(|rule| rule.as_str() == text);
        found.ok_or_else(|| Wrong::new("must be \"closed\", \"open\" or \"lease\""))
    }
}

/// Reads the settings of this file into their defaults.
pub(super) fn read(
    file: &mut Section<'_>,
    store: &mut StoreChoice,
    durability: &mut Option<Durability>,
    outage: &mut OutageSettings,
) {
    file.set(store, "store", |value| StoreChoice::parse(text(value)?));
    file.set(durability, "durability", |value| {
        self::durability(value).map(Some)
    });
    file.set(&mut outage.gate, "on_store_error", |value| {
        GateRule::parse(text(value)?)
    });
    file.set(&mut outage.lease_max, "lease_max", |value| {
        duration_within(LEASE_MAX)(value).map(Some)
    });
}
