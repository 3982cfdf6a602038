//! What is done without being asked: passes are finished and kept, holds that ran out are ended, and the room is told
//! how many seats are left.

mod holds;
mod outage;
mod outbox;
mod stock;

use std::time::Duration;

use ropeline_web::Tasks;
use tokio::time::sleep;

use self::{holds::Holds, outage::Outage, outbox::Outbox, stock::Stock};
use super::{Service, business::Trouble};

/// How often there is a look whether something is to be done.
const LOOK: Duration = Duration::from_millis(500);

/// Something to be done again and again.
trait Duty: Send + 'static {
    /// What is not done during an outage, as the log says it.
    const WHAT: &'static str;

    /// Does what there is to do now.
    fn round(&mut self, service: &Service) -> impl Future<Output = Result<(), Trouble>> + Send;
}

impl Service {
    /// Does what is owed to the waiting room, until the tasks are asked to stop.
    pub fn run(&self, tasks: &Tasks) {
        self.take_on(tasks, Outbox);
        self.take_on(tasks, Holds::default());
        self.take_on(tasks, Stock::default());
    }

    fn take_on<D: Duty>(&self, tasks: &Tasks, duty: D) {
        let (service, stopping) = (self.clone(), tasks.stopping());
        tasks.spawn(async move {
            stopping.run_until_cancelled(service.go_on(duty)).await;
        });
    }

    async fn go_on<D: Duty>(self, mut duty: D) {
        let mut outage = Outage::of(D::WHAT);
        loop {
            let outcome = duty.round(&self).await;
            sleep(LOOK.max(outage.note(&outcome))).await;
        }
    }
}
