//! Connections to the one database that holds everything.

mod alone;
mod away;
mod checkpoint;
mod dialect;
mod migrations;
mod now;
mod session;
mod together;

use std::{fmt, time::Duration};

use ropeline_core::Timestamp;
use sqlx::{
    Any, AnyConnection, AnyPool, Connection, Executor, TransactionManager,
    any::{AnyPoolOptions, install_default_drivers},
    query,
};
use tokio::{select, time::timeout};
use tokio_util::task::TaskTracker;

pub(crate) use away::is_away;
pub(crate) use dialect::Dialect;
pub use now::DatabaseTime;
pub(crate) use now::Now;
pub(crate) use session::{Session, Work};

use self::together::{Line, Writer, line};
use crate::Error;

type AnyTransactionManager = <Any as sqlx::Database>::TransactionManager;

/// Longer than a queue for the one writer of SQLite gets in any load that a single file can bear.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that does not answer by then is away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The database of a box office: a file of SQLite, or a database of its own on PostgreSQL.
#[derive(Clone)]
pub struct Database {
    dialect: Dialect,
    time: DatabaseTime,
    /// One connection on SQLite, which allows one writer; on PostgreSQL the same pool as `reader`.
    writer: AnyPool,
    reader: AnyPool,
    /// One connection that is only made to find out whether the database answers.
    probe: AnyPool,
    writing: Writing,
}

/// How requests come to a transaction.
#[derive(Clone)]
enum Writing {
    /// Each to its own.
    Alone,
    /// Those who are in line together to the same.
    Together(Line),
}

impl Database {
    /// Opens `sqlite:<file>`, made if it does not exist, or `postgres://…`, and brings its tables up
    /// to date.
    pub async fn open(url: &str) -> Result<Self, Error> {
        Self::open_with(url, DatabaseTime::Own).await
    }

    /// As [`Database::open`], with the time from elsewhere.
    pub async fn open_with(url: &str, time: DatabaseTime) -> Result<Self, Error> {
        install_default_drivers();
        let dialect = Dialect::of(url).ok_or_else(|| Error::Address(hide_password(url)))?;
        let url = dialect.address(url);
        try_once(&url, dialect.writer_settings()).await?;
        let writer = connect(
            &url,
            dialect,
            dialect.writers_max(),
            dialect.writer_settings(),
        )
        .await?;
        migrations::run(dialect, &writer).await?;
        let reader = match dialect {
            Dialect::Postgres => writer.clone(),
            Dialect::Sqlite => {
                connect(
                    &url,
                    dialect,
                    dialect.readers_max(),
                    dialect.reader_settings(),
                )
                .await?
            }
        };
        let writing = match dialect {
            Dialect::Postgres => Writing::Alone,
            Dialect::Sqlite => Writing::Together(write_together(&writer, &reader)),
        };
        let probe = options(1, dialect, dialect.reader_settings()).connect_lazy(&url)?;
        Ok(Self {
            dialect,
            time,
            writer,
            reader,
            probe,
            writing,
        })
    }

    /// Asks the database for a row, on a connection of its own: a queue for the others is no outage. The caller limits
    /// the time.
    pub(crate) async fn probe(&self) -> Result<(), sqlx::Error> {
        let row = query("SELECT 1 FROM milestones LIMIT 1");
        row.fetch_optional(&self.probe).await.map(drop)
    }

    /// Carries out `work` in a transaction, and answers when it is committed. `clock` is what the caller's clock shows.
    pub(crate) async fn write<W: Work>(&self, work: W, clock: Timestamp) -> Result<W::Done, Error> {
        let time = self.now(clock);
        match &self.writing {
            Writing::Alone => alone::write(&self.writer, time, &work).await,
            Writing::Together(line) => line.write(work, time).await,
        }
    }

    /// The time, for a statement that only reads. `clock` is what the caller's clock shows.
    pub(crate) fn now(&self, clock: Timestamp) -> Now {
        Now::new(self.dialect, self.time, clock)
    }

    /// Closes all connections, after what is under way.
    pub async fn close(&self) {
        self.probe.close().await;
        self.reader.close().await;
        self.writer.close().await;
    }

    /// For single statements that only read.
    pub(crate) fn reader(&self) -> &AnyPool {
        &self.reader
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The pools know the address, and with it a password.
        f.debug_tuple("Database").field(&self.dialect).finish()
    }
}

/// Starts the writer of SQLite, and what spares it from moving its log. They end when the last database that holds
/// the line is gone.
fn write_together(writer: &AnyPool, reader: &AnyPool) -> Line {
    let (line, waiting) = line();
    let writer = Writer {
        pool: writer.clone(),
        dialect: Dialect::Sqlite,
        waiting,
    };
    let reader = reader.clone();
    TaskTracker::new().spawn(async move {
        select! {
            () = writer.run() => {}
            never = checkpoint::run(reader) => match never {},
        }
    });
    line
}

/// Finds out at once what is wrong: a pool would try again for as long as it waits, and then not say why.
async fn try_once(url: &str, settings: &[&str]) -> Result<(), sqlx::Error> {
    let attempt = async {
        let mut connection = AnyConnection::connect(url).await?;
        for setting in settings {
            connection.execute(*setting).await?;
        }
        connection.close().await
    };
    let tried = timeout(CONNECT_TIMEOUT, attempt).await;
    tried.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

async fn connect(
    url: &str,
    dialect: Dialect,
    connections_max: u32,
    settings: &'static [&'static str],
) -> Result<AnyPool, sqlx::Error> {
    options(connections_max, dialect, settings)
        .connect(url)
        .await
}

fn options(
    connections_max: u32,
    dialect: Dialect,
    settings: &'static [&'static str],
) -> AnyPoolOptions {
    AnyPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(dialect.may_hang_up())
        .after_connect(move |connection, _| {
            Box::pin(async move {
                for setting in settings {
                    connection.execute(*setting).await?;
                }
                Ok(())
            })
        })
        .after_release(|connection, _| Box::pin(end_abandoned(connection)))
}

/// Undoes a transaction that nobody holds. A caller that goes away while a transaction begins can
/// leave one behind on SQLite, and the one writer would be stuck in it for ever.
async fn end_abandoned(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    if AnyTransactionManager::get_transaction_depth(connection) > 0 {
        AnyTransactionManager::rollback(connection).await?;
    }
    Ok(true)
}

/// What may be shown of an address: not what stands before its `@`.
fn hide_password(url: &str) -> Box<str> {
    url.rsplit_once('@').map_or(url, |(_, host)| host).into()
}

#[cfg(test)]
mod tests {
    use ropeline_testing::TestPostgres;

    use super::*;

    #[tokio::test]
    async fn every_commit_on_sqlite_is_on_the_disk_before_it_is_answered() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("box.db").display());
        let database = Database::open(&url).await.unwrap();
        let mode: String = say(&database.writer, "PRAGMA journal_mode").await;
        assert_eq!(mode, "wal");
        for (pragma, full) in [
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("busy_timeout", 5_000),
        ] {
            let set: i64 = say(&database.writer, &format!("PRAGMA {pragma}")).await;
            assert_eq!(set, full, "{pragma}");
        }
        let read_only: i64 = say(&database.reader, "PRAGMA query_only").await;
        assert_eq!(read_only, 1);
    }

    #[tokio::test]
    async fn nothing_waits_for_ever_on_postgresql() {
        let server = TestPostgres::start();
        let careless = "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'";
        server.execute("postgres", careless);
        let database = Database::open(&server.url("postgres")).await.unwrap();
        for (setting, value) in [
            ("transaction_isolation", "read committed"),
            ("lock_timeout", "5s"),
            ("statement_timeout", "10s"),
        ] {
            let set: String = say(&database.writer, &format!("SHOW {setting}")).await;
            assert_eq!(set, value, "{setting}");
        }
    }

    async fn say<T>(pool: &AnyPool, question: &str) -> T
    where
        T: for<'r> sqlx::Decode<'r, Any> + sqlx::Type<Any> + Send + Unpin,
    {
        sqlx::query_scalar(question).fetch_one(pool).await.unwrap()
    }
}
