//! Connections to the one database that holds everything.

mod dialect;
mod migrations;
mod session;

use std::{fmt, time::Duration};

use sqlx::{
    Any, AnyConnection, AnyPool, Executor, TransactionManager,
    any::{AnyPoolOptions, install_default_drivers},
};

pub(crate) use dialect::Dialect;
pub(crate) use session::{Session, Work};

use crate::Error;

type AnyTransactionManager = <Any as sqlx::Database>::TransactionManager;

/// Longer than a queue for the one writer of SQLite gets in any load that a single file can bear.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// The database of a box office: a file of SQLite, or a database of its own on PostgreSQL.
#[derive(Clone)]
pub struct Database {
    dialect: Dialect,
    /// One connection on SQLite, which allows one writer; on PostgreSQL the same pool as `reader`.
    writer: AnyPool,
    reader: AnyPool,
}

impl Database {
    /// Opens `sqlite:<file>`, made if it does not exist, or `postgres://…`, and brings its tables up
    /// to date.
    pub async fn open(url: &str) -> Result<Self, Error> {
        install_default_drivers();
        let dialect = Dialect::of(url).ok_or_else(|| Error::Address(hide_password(url)))?;
        let url = dialect.address(url);
        let writer = connect(&url, dialect.writers_max(), dialect.writer_settings()).await?;
        migrations::run(dialect, &writer).await?;
        let reader = match dialect {
            Dialect::Postgres => writer.clone(),
            Dialect::Sqlite => {
                connect(&url, dialect.readers_max(), dialect.reader_settings()).await?
            }
        };
        Ok(Self {
            dialect,
            writer,
            reader,
        })
    }

    /// Closes all connections, after what is under way.
    pub async fn close(&self) {
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

async fn connect(
    url: &str,
    connections_max: u32,
    settings: &'static [&'static str],
) -> Result<AnyPool, sqlx::Error> {
    AnyPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(move |connection, _| {
            Box::pin(async move {
                for setting in settings {
                    connection.execute(*setting).await?;
                }
                Ok(())
            })
        })
        .after_release(|connection, _| Box::pin(end_abandoned(connection)))
        .connect(url)
        .await
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
