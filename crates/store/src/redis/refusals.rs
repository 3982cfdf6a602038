//! What Redis says no to although it answers: it is full, a replica, or does not allow it.
//!
//! Following a room only reads, so that it goes on as if nothing were wrong. Those who write hear of it first.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use ropeline_core::Timestamp;

use super::transit::Failed;
use crate::StoreError;

/// Whoever was refused tries again sooner than this. If nobody has for so long, nothing is known to be wrong.
const HOLDS_FOR: Duration = Duration::from_secs(10);

/// The last refusal, until something is written or nobody has been refused for a while.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    last: ArcSwapOption<Refusal>,
}

#[derive(Debug)]
struct Refusal {
    reason: Arc<str>,
    at: Timestamp,
}

impl Refusals {
    /// Takes note of what became of a request that may write.
    pub(super) fn note(&self, failed: &Failed, now: Timestamp) {
        let Failed::Refused(StoreError::Unavailable(reason)) = failed else {
            return;
        };
        if self.reason(now).is_none() {
            tracing::error!(%reason, "Redis refuses what is to be written; joins are refused as long as it does");
        }
        let (reason, at) = (Arc::clone(reason), now);
        self.last.store(Some(Arc::new(Refusal { reason, at })));
    }

    /// Something was written.
    pub(super) fn end(&self) {
        if self.last.load().is_some() && self.last.swap(None).is_some() {
            tracing::info!("Redis takes what is written again");
        }
    }

    /// Why Redis refuses what is to be written, if it does.
    pub(super) fn reason(&self, now: Timestamp) -> Option<Arc<str>> {
        let last = self.last.load();
        let last = last.as_ref().filter(|last| now < last.at + HOLDS_FOR);
        last.map(|last| Arc::clone(&last.reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn unavailable() -> StoreError {
        StoreError::Unavailable("Redis is full".into())
    }

    #[test]
    fn a_refusal_holds_until_something_is_written_or_nobody_is_refused_any_more() {
        let refusals = Refusals::default();
        assert_eq!(refusals.reason(NOW), None);
        refusals.note(&Failed::Refused(unavailable()), NOW);
        let last = NOW + HOLDS_FOR - Duration::from_millis(1);
        assert_eq!(refusals.reason(last).as_deref(), Some("Redis is full"));
        assert_eq!(refusals.reason(NOW + HOLDS_FOR), None);
        refusals.note(&Failed::Refused(unavailable()), last);
        assert!(refusals.reason(NOW + HOLDS_FOR).is_some());
        refusals.end();
        assert_eq!(refusals.reason(last), None);
    }

    #[test]
    fn a_lost_answer_and_a_missing_room_are_no_refusals() {
        use ropeline_core::RoomId;
        let refusals = Refusals::default();
        for failed in [
            Failed::Unknown(unavailable()),
            Failed::Frozen(unavailable()),
            Failed::Refused(StoreError::NoSuchRoom(RoomId::main())),
        ] {
            refusals.note(&failed, NOW);
            assert_eq!(refusals.reason(NOW), None, "{failed:?}");
        }
    }
}
