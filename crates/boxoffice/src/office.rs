//! The box office and its rules.

use std::time::Duration;

use crate::{Database, Error};

/// How many seats a user can have, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long a reservation holds its seat. It is never extended.
    pub hold_ttl: Duration,
    /// How many seats a user can hold at once, bought ones not counted.
    pub holds_max: u32,
    /// How many seats of one date a user can have, live holds and bought seats together.
    pub tickets_max: u32,
    /// How long a user cannot hold a seat again after their hold on it ended without payment; zero is no wait.
    pub hold_cooldown: Duration,
    /// How many holds a user can make within a minute; zero is no limit.
    pub holds_per_minute: u32,
    /// How long after its end a hold can still be paid for, while the seat is free; zero is not at all.
    pub late_payment: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            hold_ttl: Duration::from_secs(300),
            holds_max: 4,
            tickets_max: 4,
            hold_cooldown: Duration::from_secs(60),
            holds_per_minute: 20,
            late_payment: Duration::from_secs(60),
        }
    }
}

/// Sells seats for points.
///
/// Every method that changes something is one transaction; see the crate's documentation.
#[derive(Debug, Clone)]
pub struct BoxOffice {
    pub(crate) database: Database,
    pub(crate) rules: Rules,
}

impl BoxOffice {
    /// Sells from a database.
    pub fn new(database: Database, rules: Rules) -> Self {
        Self { database, rules }
    }

    /// Whether the database answers. The caller limits the time.
    pub(crate) async fn probe(&self) -> Result<(), Error> {
        Ok(self.database.probe().await?)
    }

    /// The rules it sells by.
    pub fn rules(&self) -> Rules {
        self.rules
    }
}
