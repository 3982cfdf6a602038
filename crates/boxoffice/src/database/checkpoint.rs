//! Moves what SQLite has committed from its log into the file.
//!
//! SQLite would do so itself inside every so many commits, and whoever waits for one of those would wait for it. Here it
//! is done beside the writer.

use std::{convert::Infallible, time::Duration};

use sqlx::{AnyPool, query_as};
use tokio::time::sleep;

/// So often that there is never much to move.
const EVERY: Duration = Duration::from_secs(1);
/// A log that is longer is begun anew, for which the writer has to pause: 16 MB of pages.
const PAGES_MAX: i64 = 4_000;

/// Goes on for ever. What fails is tried again the next time: nothing is lost meanwhile, and the writer has a limit of
/// its own.
pub(super) async fn run(pool: AnyPool) -> Infallible {
    loop {
        sleep(EVERY).await;
        if pages(&pool, "PRAGMA wal_checkpoint(PASSIVE)").await >= PAGES_MAX {
            pages(&pool, "PRAGMA wal_checkpoint(RESTART)").await;
        }
    }
}

/// How many pages the log has.
async fn pages(pool: &AnyPool, checkpoint: &str) -> i64 {
    let done: Result<(i64, i64, i64), _> = query_as(checkpoint).fetch_one(pool).await;
    match done {
        Ok((_busy, pages, _moved)) => pages,
        Err(error) => {
            tracing::debug!(%error, "the log of the database was not moved into its file");
            0
        }
    }
}
