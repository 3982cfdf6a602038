//! Moves what SQLite has committed from its log into the file.
//!
//! SQLite does so inside a commit once the log is long, and whoever waits for that commit waits for it. Here it is done
//! beside the writer: mostly the log is empty again before it is long, and otherwise little is left for the writer.

use std::{convert::Infallible, time::Duration};

use sqlx::{AnyPool, query_as};
use tokio::time::sleep;

/// So often that there is never much to move.
const EVERY: Duration = Duration::from_millis(500);

/// Waits for nobody, and nobody waits for it.
const MOVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Goes on for ever. What fails is tried again the next time, and then by the writer.
pub(super) async fn run(pool: AnyPool) -> Infallible {
    loop {
        sleep(EVERY).await;
        if let Err(error) = once(&pool).await {
            tracing::debug!(%error, "the log of the database was not moved into its file");
        }
    }
}

/// Gives how many pages the log has, and how many of these are in the file as well.
async fn once(pool: &AnyPool) -> Result<(i64, i64), sqlx::Error> {
    let (_busy, pages, moved): (i64, i64, i64) = query_as(MOVE).fetch_one(pool).await?;
    Ok((pages, moved))
}

#[cfg(test)]
mod tests {
    use ropeline_core::Timestamp;

    use super::*;
    use crate::{BoxOffice, Database, Rules};

    #[tokio::test]
    async fn a_log_that_was_moved_is_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("box.db").display());
        let database = Database::open(&url).await.unwrap();
        let office = BoxOffice::new(database.clone(), Rules::default());
        for _ in 0..20 {
            office.create_user("Kim", Timestamp(1)).await.unwrap();
        }
        let (pages, moved) = once(database.reader()).await.unwrap();
        assert_eq!(moved, pages);
        office.create_user("Kim", Timestamp(1)).await.unwrap();
        let (begun_anew, _) = once(database.reader()).await.unwrap();
        assert!((1..20).contains(&begun_anew), "{begun_anew} pages");
    }
}
