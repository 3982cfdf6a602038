//! The books of a box office: where they are, and that they can be used.

use std::{error::Error, time::Duration};

use ropeline_boxoffice::{BoxOffice, Database, Rules};
use ropeline_core::Timestamp;
use ropeline_server::config::{DatabaseUrl, Settings};
use ropeline_store::private;
use tokio::time::sleep;

use crate::failure::Failure;

/// The books of a box office for which no database is named.
const BOOKS: &str = "boxoffice.db";
/// How often a database that is away is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// A box office that can sell.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) office: BoxOffice,
    /// Signs the logins, the same for all who sell from these books.
    pub(crate) secret: [u8; 32],
    /// Where the books are, for people.
    pub(crate) place: String,
    database: Database,
}

impl Books {
    /// Opens the books, or begins them with the demo concert.
    pub(crate) async fn open(settings: &Settings, now: Timestamp) -> Result<Self, Failure> {
        let (url, place) = if let Some(url) = &settings.database {
            (url.clone(), url.to_string())
        } else {
            let file = settings.data.join(BOOKS);
            (DatabaseUrl::of_file(&file), file.display().to_string())
        };
        let cannot_use = |cause: String| {
            Failure::Server(format!("cannot use the database {place}: {cause}").into())
        };
        let cannot_open = |error: ropeline_boxoffice::Error| cannot_use(whole(&error));
        let url = match url.file() {
            Some(file) => {
                let prepared = private::prepare_database(&file);
                prepared.map_err(|error| cannot_use(error.to_string()))?;
                DatabaseUrl::of_file(&file)
            }
            None => url,
        };
        let database = open(&url, &place).await.map_err(cannot_open)?;
        let rules = Rules {
            hold_ttl: settings.boxoffice.hold_ttl,
            holds_max: settings.boxoffice.holds_max,
            tickets_max: settings.boxoffice.tickets_max,
            hold_cooldown: settings.boxoffice.hold_cooldown,
            holds_per_minute: settings.boxoffice.holds_per_minute,
            late_payment: settings.boxoffice.late_payment,
        };
        let office = BoxOffice::new(database.clone(), rules);
        office.put_up_demo(now).await.map_err(cannot_open)?;
        let secret = office.login_secret(now).await.map_err(cannot_open)?;
        Ok(Self {
            office,
            secret,
            place,
            database,
        })
    }

    pub(crate) async fn close(self) {
        self.database.close().await;
    }
}

/// Whether nobody sells from books that are there, only because the settings file does not mention the box office.
pub(crate) fn has_idle_books(settings: &Settings) -> bool {
    let books = || settings.database.is_some() || settings.data.join(BOOKS).exists();
    settings.boxoffice.left_out && books()
}

/// A server that is away is waited for, as the rooms' own store is; a file that cannot be used is not going to be.
async fn open(url: &DatabaseUrl, place: &str) -> Result<Database, ropeline_boxoffice::Error> {
    let mut told = false;
    loop {
        match Database::open(url.reveal()).await {
            Err(error) if url.is_of_server() && error.is_away() => {
                if !told {
                    let cause = whole(&error);
                    tracing::warn!(
                        database = place,
                        cause,
                        "waiting for the box office's database"
                    );
                    told = true;
                }
                sleep(AGAIN).await;
            }
            opened => return opened,
        }
    }
}

/// An error with what caused it.
fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
