//! Ends holds that ran out, and tells the room what it has not been told of holders' business.

use super::{Duty, Service, Trouble};

#[derive(Default)]
pub(super) struct Holds {
    /// Whether it is known who held seats when this process started: the one before may have died between a sale
    /// and telling the room of it.
    looked_back: bool,
}

impl Duty for Holds {
    const WHAT: &'static str = "ending holds and keeping the passes of holders";

    async fn round(&mut self, service: &Service) -> Result<(), Trouble> {
        if !self.looked_back {
            let holders = service.office.holders(service.now()).await?;
            service.owed.extend(holders);
            self.looked_back = true;
        }
        sweep(service).await?;
        while let Some(user) = service.owed.take() {
            if let Err(trouble) = service.keep(user).await {
                service.owed.extend([user]);
                return Err(trouble);
            }
        }
        Ok(())
    }
}

async fn sweep(service: &Service) -> Result<(), Trouble> {
    loop {
        let swept = service.office.sweep(service.now()).await?;
        let more = swept.is_full();
        service.owed.extend(swept.holds);
        if !more {
            return Ok(());
        }
    }
}
