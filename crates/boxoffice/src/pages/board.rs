//! The dates as everybody sees them, asked of the database once for all.

use std::{sync::Arc, time::Duration};

use ropeline_core::Timestamp;
use ropeline_gate::GateError;
use tokio::sync::Mutex;

use crate::{
    ConcertDate,
    http::{ApiError, Service},
};

/// How old what the board shows may be: less than a person notices, and a thousand loads of the home page in it are
/// one question to the database.
const FRESH: Duration = Duration::from_secs(1);

/// What was last seen of the dates.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// Whoever finds it too old looks again while the others wait for what they see.
    seen: Mutex<Option<Seen>>,
}

#[derive(Debug, Clone)]
struct Seen {
    at: Timestamp,
    /// None if nothing could be seen yet.
    dates: Option<Arc<[ConcertDate]>>,
}

impl Board {
    /// All dates, at most a second old; older ones while the database is away.
    pub(super) async fn dates(&self, service: &Service) -> Result<Arc<[ConcertDate]>, ApiError> {
        let now = service.now();
        let mut seen = self.seen.lock().await;
        if seen.as_ref().is_none_or(|seen| !seen.is_fresh(now)) {
            let dates = look(service, now).await;
            let dates = dates.or_else(|| seen.take()?.dates);
            *seen = Some(Seen { at: now, dates });
        }
        let dates = seen.as_ref().and_then(|seen| seen.dates.clone());
        // Nobody has ever seen the dates: a moment later somebody may.
        dates.ok_or(ApiError::Gate(GateError::Away(FRESH)))
    }
}

impl Seen {
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.at <= now && self.at.until(now) < FRESH
    }
}

async fn look(service: &Service, now: Timestamp) -> Option<Arc<[ConcertDate]>> {
    match service.office.dates(now).await {
        Ok(dates) => Some(dates.into()),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "the dates for the home page cannot be read");
            None
        }
    }
}
