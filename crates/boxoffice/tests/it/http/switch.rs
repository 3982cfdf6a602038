//! A way to a real room that a test can cut.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use async_trait::async_trait;
use ropeline_core::{Holder, RoomId, UserId};
use ropeline_gate::{Decision, GateError, Gatekeeper, Ticket};
use tokio::sync::watch;

const AWAY: GateError = GateError::Away(Duration::from_secs(1));

/// The gatekeeper of a real room. What the box office tells the room can be cut, or the room be out of reach as a whole.
#[derive(Debug)]
pub(crate) struct Switch {
    room: Arc<dyn Gatekeeper>,
    way: Mutex<Way>,
    tries: AtomicUsize,
    kept: watch::Sender<usize>,
    finished: watch::Sender<usize>,
    stocked: watch::Sender<Vec<Option<u64>>>,
}

/// Whether the room hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    /// It is said at once that it does not.
    Cut,
    /// Nothing is ever said.
    Silent,
    /// Not even questions are answered.
    Gone,
}

impl Switch {
    pub(crate) fn before(room: Arc<dyn Gatekeeper>) -> Self {
        Self {
            room,
            way: Mutex::new(Way::Open),
            tries: AtomicUsize::new(0),
            kept: watch::Sender::new(0),
            finished: watch::Sender::new(0),
            stocked: watch::Sender::default(),
        }
    }

    pub(crate) fn turn(&self, way: Way) {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner) = way;
    }

    /// How many passes the room has finished.
    pub(crate) fn finished(&self) -> watch::Receiver<usize> {
        self.finished.subscribe()
    }

    /// How often the room was told for how long somebody has business inside.
    pub(crate) fn kept(&self) -> watch::Receiver<usize> {
        self.kept.subscribe()
    }

    /// What the room was told to be left.
    pub(crate) fn stocked(&self) -> watch::Receiver<Vec<Option<u64>>> {
        self.stocked.subscribe()
    }

    /// How often the room should have been told something, heard or not.
    pub(crate) fn tries(&self) -> usize {
        self.tries.load(SeqCst)
    }

    fn asked(&self) -> Result<&dyn Gatekeeper, GateError> {
        match *self.way.lock().unwrap_or_else(PoisonError::into_inner) {
            Way::Gone => Err(AWAY),
            Way::Open | Way::Cut | Way::Silent => Ok(&*self.room),
        }
    }

    async fn way(&self) -> Result<&dyn Gatekeeper, GateError> {
        self.tries.fetch_add(1, SeqCst);
        let way = *self.way.lock().unwrap_or_else(PoisonError::into_inner);
        match way {
            Way::Open => Ok(&*self.room),
            Way::Cut | Way::Gone => Err(AWAY),
            Way::Silent => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Gatekeeper for Switch {
    async fn verify(&self, room: &RoomId, token: &str) -> Result<Decision, GateError> {
        self.asked()?.verify(room, token).await
    }

    async fn join(&self, room: &RoomId, user: Option<&UserId>) -> Result<Ticket, GateError> {
        self.asked()?.join(room, user).await
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: &Holder,
        business: Duration,
    ) -> Result<(), GateError> {
        self.way().await?.keep(room, holder, business).await?;
        self.kept.send_modify(|kept| *kept += 1);
        Ok(())
    }

    async fn finish(&self, room: &RoomId, holder: &Holder) -> Result<(), GateError> {
        self.way().await?.finish(room, holder).await?;
        self.finished.send_modify(|finished| *finished += 1);
        Ok(())
    }

    async fn ready(&self, room: &RoomId) -> Result<(), GateError> {
        self.asked()?.ready(room).await
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), GateError> {
        self.way().await?.stock(room, left).await?;
        self.stocked.send_modify(|stocked| stocked.push(left));
        Ok(())
    }
}
