//! Whose clock counts.

use ropeline_core::Timestamp;

use super::Dialect;
use crate::time::millis;

/// Where the box office takes the time from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseTime {
    /// PostgreSQL's own clock, so that the clocks of the box offices that share it do not matter. On SQLite the clock
    /// of the box office, since one process has the file.
    Own,
    /// The time that each call is given, which a test moves.
    Given,
}

/// The current time, as a statement asks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(super) dialect: Dialect,
    /// None if the database is to say.
    pub(super) given: Option<Timestamp>,
}

impl Now {
    /// `clock` is what the caller's own clock shows.
    pub(super) fn new(dialect: Dialect, time: DatabaseTime, clock: Timestamp) -> Self {
        let given = match (dialect, time) {
            (Dialect::Postgres, DatabaseTime::Own) => None,
            (Dialect::Sqlite, DatabaseTime::Own) | (_, DatabaseTime::Given) => Some(clock),
        };
        Self { dialect, given }
    }

    /// The current time in milliseconds, for a statement that binds [`Now::bound`] to `parameter`.
    pub(crate) fn sql(self, parameter: &str) -> String {
        self.dialect.now(parameter)
    }

    pub(crate) fn bound(self) -> Option<i64> {
        self.given.map(millis)
    }
}
