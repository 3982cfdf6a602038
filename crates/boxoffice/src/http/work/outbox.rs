//! Finishes the passes of those who have paid, until the room has acknowledged each.

use std::time::Duration;

use ropeline_core::Timestamp;

use super::{Duty, Service, Trouble};
use crate::PassToFinish;

/// So few that another process gets some too.
const ROWS_MAX: u32 = 100;
/// After so long another process tries those of one that is gone.
const LEASE: Duration = Duration::from_secs(30);
/// The first and the longest wait between two tries of one pass.
const WAIT: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(30);

pub(super) struct Outbox;

impl Duty for Outbox {
    const WHAT: &'static str = "finishing the passes of those who have paid";

    async fn round(&mut self, service: &Service) -> Result<(), Trouble> {
        loop {
            let now = service.now();
            let due = service.office.take_due(ROWS_MAX, LEASE, now).await?;
            if due.is_empty() {
                return Ok(());
            }
            deliver(service, &due, now).await?;
        }
    }
}

/// After the first that cannot be told, the others are not tried: they would wait for the same.
async fn deliver(service: &Service, due: &[PassToFinish], now: Timestamp) -> Result<(), Trouble> {
    for (index, pass) in due.iter().enumerate() {
        let Err(trouble) = service.finish(pass).await else {
            continue;
        };
        for later in &due[index..] {
            let wait = wait(later.attempts);
            service.office.retry(later.id, wait, now).await?;
        }
        return Err(trouble);
    }
    Ok(())
}

fn wait(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts - 1).unwrap_or_default().min(5);
    (WAIT * (1 << doublings)).min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_half_a_minute() {
        let waits: Vec<_> = [0, 1, 2, 3, 6, 1_000]
            .map(wait)
            .map(|wait| wait.as_secs())
            .into();
        assert_eq!(waits, [1, 1, 2, 4, 30, 30]);
    }
}
