//! A way to a real room that a test can cut.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use ropeline_core::{Holder, RoomId, UserId};
use ropeline_gate::{Decision, GateError, Gatekeeper, Ticket};

/// The gatekeeper of a real room, out of reach while it is cut off.
#[derive(Debug)]
pub(crate) struct Switch {
    room: Arc<dyn Gatekeeper>,
    cut: AtomicBool,
    finishes: AtomicUsize,
}

impl Switch {
    pub(crate) fn before(room: Arc<dyn Gatekeeper>) -> Self {
        Self {
            room,
            cut: AtomicBool::new(false),
            finishes: AtomicUsize::new(0),
        }
    }

    pub(crate) fn cut(&self) {
        self.cut.store(true, SeqCst);
    }

    pub(crate) fn mend(&self) {
        self.cut.store(false, SeqCst);
    }

    /// How many passes the room has been asked to finish and has acknowledged.
    pub(crate) fn finishes(&self) -> usize {
        self.finishes.load(SeqCst)
    }

    fn way(&self) -> Result<&dyn Gatekeeper, GateError> {
        if self.cut.load(SeqCst) {
            Err(GateError::Away(Duration::from_secs(1)))
        } else {
            Ok(&*self.room)
        }
    }
}

#[async_trait]
impl Gatekeeper for Switch {
    async fn verify(&self, room: &RoomId, token: &str) -> Result<Decision, GateError> {
        self.way()?.verify(room, token).await
    }

    async fn join(&self, room: &RoomId, user: Option<&UserId>) -> Result<Ticket, GateError> {
        self.way()?.join(room, user).await
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: &Holder,
        business: Duration,
    ) -> Result<(), GateError> {
        self.way()?.keep(room, holder, business).await
    }

    async fn finish(&self, room: &RoomId, holder: &Holder) -> Result<(), GateError> {
        self.way()?.finish(room, holder).await?;
        self.finishes.fetch_add(1, SeqCst);
        Ok(())
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), GateError> {
        self.way()?.stock(room, left).await
    }
}
