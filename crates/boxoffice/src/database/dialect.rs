//! Everything in which the two databases differ, side by side.

use std::borrow::Cow;

use sqlx::error::DatabaseError;

/// Which of the two databases it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// A database in memory is refused: every connection would have one of its own.
    pub(crate) fn of(url: &str) -> Option<Self> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Some(Self::Postgres)
        } else if url.starts_with("sqlite:") && !in_memory(url) {
            Some(Self::Sqlite)
        } else {
            None
        }
    }

    /// The address, with the wish that a missing file be made.
    pub(crate) fn address(self, url: &str) -> Cow<'_, str> {
        match self {
            Self::Sqlite if !url.contains('?') => format!("{url}?mode=rwc").into(),
            Self::Sqlite | Self::Postgres => url.into(),
        }
    }

    /// SQLite has one writer, and waiting for a connection is fairer than waiting for its lock.
    pub(crate) fn writers_max(self) -> u32 {
        match self {
            Self::Sqlite => 1,
            // A few for each core of an ordinary server; more only queue inside it.
            Self::Postgres => 16,
        }
    }

    pub(crate) fn readers_max(self) -> u32 {
        match self {
            Self::Sqlite => 4,
            Self::Postgres => self.writers_max(),
        }
    }

    /// Whether a connection can end while nobody uses it, so that it is tried before it is used.
    pub(crate) fn may_hang_up(self) -> bool {
        match self {
            Self::Sqlite => false,
            Self::Postgres => true,
        }
    }

    /// Said once on every connection that writes.
    pub(crate) fn writer_settings(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &[
                "PRAGMA journal_mode = WAL",
                // With NORMAL, the last commits may be lost with the power.
                "PRAGMA synchronous = FULL",
                "PRAGMA foreign_keys = ON",
                // Only another process can be in the way.
                "PRAGMA busy_timeout = 5000",
                // The log is moved into the file beside the writer, which does the rest at 16 MB.
                "PRAGMA wal_autocheckpoint = 4000",
            ],
            Self::Postgres => &[
                // A snapshot taken before a lock was granted would not see what the lock was for.
                "SET default_transaction_isolation = 'read committed'",
                "SET lock_timeout = '5s'",
                "SET statement_timeout = '10s'",
                "SET idle_in_transaction_session_timeout = '30s'",
            ],
        }
    }

    /// Said once on every connection that only reads.
    pub(crate) fn reader_settings(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &["PRAGMA busy_timeout = 5000", "PRAGMA query_only = ON"],
            Self::Postgres => self.writer_settings(),
        }
    }

    /// Begins a transaction that writes.
    ///
    /// On SQLite it takes the write lock at once: a transaction that reads first and writes later is
    /// refused without waiting when somebody else wrote between the two.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
        }
    }

    /// The current time in milliseconds: `parameter` if it is given, and otherwise the server's own clock. It is read
    /// once and when it is needed, which in a SELECT around one FOR UPDATE is after the lock was granted.
    pub(crate) fn now(self, parameter: &str) -> String {
        match self {
            Self::Sqlite => parameter.to_owned(),
            Self::Postgres => format!(
                "COALESCE({parameter}, \
                 (SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)))"
            ),
        }
    }

    /// Ends a SELECT whose rows nobody else may change until the transaction ends. On SQLite nobody
    /// can anyway.
    pub(crate) fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE",
        }
    }

    /// As [`Dialect::for_update`], but rows that somebody else is at are left out.
    pub(crate) fn for_update_of_untouched(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Whether the database gave up a transaction for the sake of another, and asks to repeat it.
    pub(crate) fn asks_to_repeat(self, error: &dyn DatabaseError) -> bool {
        let code = error.code();
        match self {
            // Once a transaction of the one writer has begun, nobody is in its way.
            Self::Sqlite => false,
            // A serialization failure, a deadlock.
            Self::Postgres => matches!(code.as_deref(), Some("40001" | "40P01")),
        }
    }
}

fn in_memory(url: &str) -> bool {
    url.contains(":memory:") || url.contains("mode=memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_which_database_it_is() {
        assert_eq!(Dialect::of("sqlite:box.db"), Some(Dialect::Sqlite));
        assert_eq!(Dialect::of("sqlite:/memory/a"), Some(Dialect::Sqlite));
        assert_eq!(Dialect::of("postgres://db/box"), Some(Dialect::Postgres));
        assert_eq!(Dialect::of("postgresql://db/box"), Some(Dialect::Postgres));
        for bad in [
            "sqlite::memory:",
            "sqlite:x?mode=memory",
            "mysql://db",
            "box.db",
            "",
        ] {
            assert_eq!(Dialect::of(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_missing_file_is_made_unless_the_address_says_otherwise() {
        assert_eq!(
            Dialect::Sqlite.address("sqlite:a.db"),
            "sqlite:a.db?mode=rwc"
        );
        assert_eq!(
            Dialect::Sqlite.address("sqlite:a.db?mode=rw"),
            "sqlite:a.db?mode=rw"
        );
    }
}
