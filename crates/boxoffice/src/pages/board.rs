//! The dates as everybody sees them, asked of the database once for all.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ropeline_core::Timestamp;
use ropeline_gate::GateError;
use tokio::{sync::Mutex as Turn, time::timeout};

use crate::{
    ConcertDate,
    http::{ApiError, Service},
};

/// How old what the board shows may be: less than a person notices, and a thousand loads of the home page in it are
/// one question to the database.
const FRESH: Duration = Duration::from_secs(1);

/// What has not answered by then is unavailable. The pool would try for much longer, and a crowd that waits with it
/// takes the connections of everybody else.
const LOOK_MAX: Duration = Duration::from_secs(1);

/// What was last seen of the dates.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// Never held across a look.
    seen: Mutex<Seen>,
    /// One request at a time looks. The others get what was seen before, or wait if nobody has ever seen the dates.
    turn: Turn<()>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    /// When the last look ended; none before the first.
    at: Option<Timestamp>,
    /// None if nothing could be seen yet.
    dates: Option<Arc<[ConcertDate]>>,
    /// Whether the last look failed, which is logged once.
    failed: bool,
}

impl Board {
    /// All dates, at most a second old; older ones while the database is slow or does not answer.
    pub(super) async fn dates(&self, service: &Service) -> Result<Arc<[ConcertDate]>, ApiError> {
        let seen = self.seen();
        if seen.is_fresh(service.now()) {
            return seen.dates();
        }
        let _turn = match (self.turn.try_lock(), &seen.dates) {
            (Ok(turn), _) => turn,
            (Err(_), Some(_)) => return seen.dates(),
            (Err(_), None) => self.turn.lock().await,
        };
        // Another request may have looked while this one waited for its turn.
        let seen = self.seen();
        if seen.is_fresh(service.now()) {
            return seen.dates();
        }
        let dates = look(service, &seen).await;
        let seen = Seen {
            at: Some(service.now()),
            failed: dates.is_none(),
            dates: dates.or(seen.dates),
        };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen.clone();
        seen.dates()
    }

    fn seen(&self) -> Seen {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

impl Seen {
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.at.is_some_and(|at| at <= now && at.until(now) < FRESH)
    }

    /// Nobody has ever seen the dates: a moment later somebody may.
    fn dates(self) -> Result<Arc<[ConcertDate]>, ApiError> {
        let none = ApiError::Gate(GateError::Away(FRESH));
        self.dates.ok_or(none)
    }
}

/// Asks the database. A failure is logged unless the last look failed too.
async fn look(service: &Service, before: &Seen) -> Option<Arc<[ConcertDate]>> {
    let error: Box<dyn std::error::Error> =
        match timeout(LOOK_MAX, service.office.dates(service.now())).await {
            Ok(Ok(dates)) => return Some(dates.into()),
            Ok(Err(error)) => error.into(),
            Err(late) => late.into(),
        };
    if !before.failed {
        tracing::warn!(
            error = &*error,
            "the dates for the home page cannot be read; older ones are shown"
        );
    }
    None
}
