//! Tells the room how many seats are left, for those who wait to see.

use std::time::Duration;

use ropeline_core::Timestamp;

use super::{Duty, Service, Trouble};

/// How often the room is told what it should know already, since it may have forgotten.
const AGAIN: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct Stock {
    /// What the room was last told, and when.
    told: Option<(Option<u64>, Timestamp)>,
}

impl Duty for Stock {
    const WHAT: &'static str = "telling the waiting room how many seats are left";

    async fn round(&mut self, service: &Service) -> Result<(), Trouble> {
        let now = service.now();
        let left = service.office.stock(now).await?;
        let known = self
            .told
            .is_some_and(|(told, at)| told == left && now.since(at) < AGAIN);
        if !known {
            service.gatekeeper.stock(&service.room, left).await?;
            self.told = Some((left, now));
        }
        Ok(())
    }
}
