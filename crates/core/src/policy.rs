//! What an operator says about a room: how many, how fast, for how long.

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Ticks shorter than this would only burn processor time.
const EVERY_MIN: Duration = Duration::from_millis(100);
/// No span of a policy may be longer.
const SPAN_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// The line is asked to poll at least three times per `presence_ttl`, and no faster than once a second.
const PRESENCE_MIN: Duration = Duration::from_secs(3);
/// Beyond this nothing here has been tried.
const COUNT_MAX: u64 = 1_000_000_000;

/// Which setting is wrong, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// Name of the setting, as in `ropeline.toml`.
    pub field: &'static str,
    /// What it must be.
    pub message: String,
}

impl FieldError {
    fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self {
            field,
            message: message.into(),
        }
    }
}

/// Whose word is taken for who a visitor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Identity {
    /// The `userId` of a join is believed: the caller is the site's own back end, or this is a trial.
    Open,
    /// Nobody has a name; a join with a `userId` is refused.
    Anonymous,
    /// The site's login token is verified, and its subject is the user.
    Jwt,
}

impl Identity {
    /// As it is written in `ropeline.toml`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Anonymous => "anonymous",
            Self::Jwt => "jwt",
        }
    }
}

impl FromStr for Identity {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        match text {
            "open" => Ok(Self::Open),
            "anonymous" => Ok(Self::Anonymous),
            "jwt" => Ok(Self::Jwt),
            _ => Err(FieldError::new(
                "identity",
                "must be \"open\", \"anonymous\" or \"jwt\"",
            )),
        }
    }
}

/// How a room lets people in. Valid by construction: see [`Policy::validated`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Length of a tick.
    pub every: Duration,
    /// At most this many are admitted per tick; `None` is no such limit.
    pub batch: Option<u64>,
    /// At most this many are inside; `None` is no such limit.
    pub active_max: Option<u64>,
    /// A pass lasts this long after its last use.
    pub pass_ttl: Duration,
    /// And at most this long in all; zero is no bound.
    pub pass_max: Duration,
    /// Absent for longer than this is stepped over; zero is never.
    pub presence_ttl: Duration,
    /// How long a place that missed its turn is kept.
    pub missed_turn_ttl: Duration,
    /// Joins beyond this many in line are refused.
    pub waiting_max: u64,
    /// Whose word is taken for who a visitor is.
    pub identity: Identity,
}

impl Policy {
    /// The policy itself if it makes sense, else every field that does not.
    pub fn validated(self) -> Result<Self, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut check = |fine: bool, field, message: &str| {
            if !fine {
                errors.push(FieldError::new(field, message));
            }
        };
        let count = |n: Option<u64>| n.is_none_or(|n| (1..=COUNT_MAX).contains(&n));
        check(
            (EVERY_MIN..=SPAN_MAX).contains(&self.every),
            "every",
            "must be between 100 ms and 30 days",
        );
        check(
            count(self.batch),
            "batch",
            "must be between 1 and 1,000,000,000",
        );
        check(
            count(self.active_max),
            "active_max",
            "must be between 1 and 1,000,000,000",
        );
        check(
            self.batch.is_some() || self.active_max.is_some(),
            "batch",
            "batch or active_max must be set: without either, everybody would be let in",
        );
        check(
            (Duration::from_secs(1)..=SPAN_MAX).contains(&self.pass_ttl),
            "pass_ttl",
            "must be between 1 second and 30 days",
        );
        check(
            self.pass_max.is_zero() || (self.pass_ttl..=SPAN_MAX).contains(&self.pass_max),
            "pass_max",
            "must be 0 (no bound), or at least pass_ttl and at most 30 days",
        );
        check(
            self.presence_ttl.is_zero() || (PRESENCE_MIN..=SPAN_MAX).contains(&self.presence_ttl),
            "presence_ttl",
            "must be 0 (off), or between 3 seconds and 30 days",
        );
        check(
            self.missed_turn_ttl <= SPAN_MAX,
            "missed_turn_ttl",
            "must be at most 30 days",
        );
        check(
            (1..=COUNT_MAX).contains(&self.waiting_max),
            "waiting_max",
            "must be between 1 and 1,000,000,000",
        );
        if errors.is_empty() {
            Ok(self)
        } else {
            Err(errors)
        }
    }

    /// Length of a presence round, of which the last three are kept.
    pub(crate) fn round(&self) -> Duration {
        self.presence_ttl / 2
    }
}

/// A policy with the figures of one of the documents that Ropeline was built from.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name to use in a room's section.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    every_s: u64,
    batch: Option<u64>,
    active_max: Option<u64>,
    pass_ttl_s: u64,
}

/// The presets, in the order of the documents.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "seed-000",
        summary: "theme park: 3333 every 10 s (1000 TPS, 3 calls each), passes of 300 s",
        every_s: 10,
        batch: Some(3333),
        active_max: None,
        pass_ttl_s: 300,
    },
    Preset {
        name: "seed-001",
        summary: "theme park: 50 every 5 s, found by trial",
        every_s: 5,
        batch: Some(50),
        active_max: None,
        pass_ttl_s: 300,
    },
    Preset {
        name: "seed-002",
        summary: "theme park: 2200 every 10 s (660 TPS, 3 calls each), passes of 300 s",
        every_s: 10,
        batch: Some(2200),
        active_max: None,
        pass_ttl_s: 300,
    },
    Preset {
        name: "seed-004",
        summary: "bank counter: 200 inside, looked at every 10 s, passes of 600 s",
        every_s: 10,
        batch: None,
        active_max: Some(200),
        pass_ttl_s: 600,
    },
];

impl Preset {
    /// The preset of that name.
    pub fn named(name: &str) -> Result<&'static Self, FieldError> {
        PRESETS
            .iter()
            .find(|preset| preset.name == name)
            .ok_or_else(|| {
                let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
                FieldError::new("preset", format!("must be one of {}", names.join(", ")))
            })
    }

    /// The preset's figures, with the rest taken from `base`.
    pub fn over(&self, base: &Policy) -> Policy {
        Policy {
            every: Duration::from_secs(self.every_s),
            batch: self.batch,
            active_max: self.active_max,
            pass_ttl: Duration::from_secs(self.pass_ttl_s),
            ..base.clone()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A policy that no test needs to know in full.
    pub(crate) fn policy() -> Policy {
        Policy {
            every: Duration::from_secs(10),
            batch: Some(3),
            active_max: Some(5),
            pass_ttl: Duration::from_secs(30),
            pass_max: Duration::from_secs(120),
            presence_ttl: Duration::from_secs(20),
            missed_turn_ttl: Duration::from_secs(60),
            waiting_max: 1_000_000,
            identity: Identity::Open,
        }
    }

    #[test]
    fn every_wrong_field_is_named() {
        type Change = fn(&mut Policy);
        let cases: [(&str, Change); 10] = [
            ("every", |p| p.every = Duration::ZERO),
            ("batch", |p| p.batch = Some(0)),
            ("active_max", |p| p.active_max = Some(0)),
            ("batch", |p| (p.batch, p.active_max) = (None, None)),
            ("pass_ttl", |p| p.pass_ttl = Duration::ZERO),
            ("pass_max", |p| p.pass_max = Duration::from_secs(29)),
            ("presence_ttl", |p| p.presence_ttl = Duration::from_secs(2)),
            ("missed_turn_ttl", |p| p.missed_turn_ttl = SPAN_MAX * 2),
            ("waiting_max", |p| p.waiting_max = 0),
            ("waiting_max", |p| p.waiting_max = u64::MAX),
        ];
        for (field, change) in cases {
            let mut bad = policy();
            change(&mut bad);
            let errors = bad.validated().unwrap_err();
            assert_eq!(errors.iter().map(|e| e.field).collect::<Vec<_>>(), [field]);
        }
        assert!(policy().validated().is_ok());
    }

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        for identity in [Identity::Open, Identity::Anonymous, Identity::Jwt] {
            assert_eq!(identity.as_str().parse(), Ok(identity));
        }
        assert_eq!("JWT".parse::<Identity>().unwrap_err().field, "identity");
    }

    #[test]
    fn presets_carry_the_figures_of_the_seeds() {
        let figures = |name: &str| {
            let base = Policy {
                pass_max: Duration::ZERO,
                ..policy()
            };
            let p = Preset::named(name)
                .unwrap()
                .over(&base)
                .validated()
                .unwrap();
            (
                p.batch,
                p.active_max,
                p.every.as_secs(),
                p.pass_ttl.as_secs(),
            )
        };
        assert_eq!(figures("seed-000"), (Some(3333), None, 10, 300));
        assert_eq!(figures("seed-001"), (Some(50), None, 5, 300));
        assert_eq!(figures("seed-002"), (Some(2200), None, 10, 300));
        assert_eq!(figures("seed-004"), (None, Some(200), 10, 600));
        assert_eq!(Preset::named("seed-003").unwrap_err().field, "preset");
    }
}
