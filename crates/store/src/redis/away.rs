//! Whether something cannot be reached, and why.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use crate::StoreError;

/// Why something cannot be reached, while it cannot.
#[derive(Debug, Default)]
pub(super) struct Away {
    reason: ArcSwapOption<Arc<str>>,
}

impl Away {
    pub(super) fn begin(&self, reason: Arc<str>) {
        self.reason.store(Some(Arc::new(reason)));
    }

    /// Says whether it had begun.
    pub(super) fn end(&self) -> bool {
        self.reason.load().is_some() && self.reason.swap(None).is_some()
    }

    pub(super) fn reason(&self) -> Option<Arc<str>> {
        let reason = self.reason.load();
        reason.as_ref().map(|reason| Arc::clone(&**reason))
    }

    /// While something is known to be away, nobody waits for it. What refuses is asked, since nobody else finds
    /// out that it no longer does.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.reason() {
            None => Ok(()),
            Some(reason) => Err(StoreError::Unavailable(reason)),
        }
    }
}
