//! Carrying out a command: called, called again where the answer was lost, and healed first where the store has
//! forgotten.

use std::{
    sync::{Arc, atomic::AtomicU64, atomic::Ordering},
    time::Duration,
};

use redis::RedisError;
use ropeline_core::{Bounds, Command, RoomId, Timestamp};

use super::{
    StoreTime, Unreached,
    encode::{Call, Caller, Done, Sending},
    keys::Lane,
    link::{Link, is_refusal, unavailable},
    picture::{Asked, Looked},
    room::RoomNode,
    servers::{Freshness, Lost, Servers},
    wire::{Answer, Status, Unreadable},
};
use crate::{Clock, Freeze, StoreError, loops::Loops};

/// How long a caller waits while an answer is awaited, asked for again, or joins are held.
const PATIENCE: Duration = Duration::from_secs(4);
/// Pause before something is asked again; twice as long each time.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// While joins are held it is looked this often whether they still are.
const HELD_LOOK: Duration = Duration::from_millis(100);

/// The connections of a node, and what its calls have in common.
#[derive(Debug)]
pub(super) struct Transit {
    pub(super) servers: Arc<Servers>,
    pub(super) writer: Link,
    pub(super) joins: Vec<Link>,
    gates: Vec<Link>,
    pub(super) feed: Link,
    pub(super) loops: Loops,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) time: StoreTime,
    pub(super) bounds: Bounds,
    pub(super) node: String,
    numbers: AtomicU64,
}

/// Connections for what must not wait for each other.
#[derive(Debug)]
pub(super) struct Links {
    /// For departures and operators: what must be durable.
    pub(super) writer: Link,
    /// For joins, which must be durable too. Each lane has its own, since Redis hears nothing over a connection while
    /// it waits for replicas to confirm what came over it.
    pub(super) joins: Vec<Link>,
    /// For holders who ask, so that they never wait behind a slow write. Each event loop has its own.
    pub(super) gates: Vec<Link>,
    /// For following, settling and marks.
    pub(super) feed: Link,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(super) enum Failed {
    /// Nothing was done.
    Refused(StoreError),
    /// It may have been done.
    Unknown(StoreError),
    /// Nothing was done, and Redis is well: the room is being moved elsewhere.
    Frozen(StoreError),
}

impl From<RedisError> for Failed {
    fn from(error: RedisError) -> Self {
        if is_refusal(&error) {
            Self::Refused(unavailable(&error))
        } else {
            Self::Unknown(unavailable(&error))
        }
    }
}

impl From<Lost> for Failed {
    fn from(lost: Lost) -> Self {
        let error = StoreError::Unavailable(lost.to_string().into());
        if lost.is_refusal() {
            Self::Refused(error)
        } else {
            Self::Unknown(error)
        }
    }
}

impl From<Unreadable> for Failed {
    fn from(error: Unreadable) -> Self {
        Self::Refused(StoreError::Unavailable(error.to_string().into()))
    }
}

impl From<Failed> for Unreached {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(error) | Failed::Frozen(error) => Self::Refused(error.to_string()),
            Failed::Unknown(error) => Self::Away(error.to_string()),
        }
    }
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(error) | Failed::Unknown(error) | Failed::Frozen(error) => error,
        }
    }
}

impl Transit {
    pub(super) fn new(
        links: Links,
        servers: Arc<Servers>,
        clock: Arc<dyn Clock>,
        time: StoreTime,
        bounds: Bounds,
        node: String,
    ) -> Self {
        let Links {
            writer,
            joins,
            gates,
            feed,
        } = links;
        Self {
            servers,
            writer,
            joins,
            gates,
            feed,
            loops: Loops::default(),
            clock,
            time,
            bounds,
            node,
            numbers: AtomicU64::new(1),
        }
    }

    /// The connection for holders who ask here.
    pub(super) fn gate(&self) -> &Link {
        &self.gates[self.loops.current().0]
    }

    /// A caller whose calls have a number of their own.
    pub(super) fn caller<'a>(&self, room: &'a RoomNode) -> Caller<'a> {
        Caller {
            room,
            clock: self.given_time(),
            bounds: self.bounds,
            term: self.term(room),
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
            lane: Lane(0),
            sending: Sending::First,
        }
    }

    /// The term of the room's server. Where a test gives the time, it is compared with core, where nobody watches.
    pub(super) fn term(&self, room: &RoomNode) -> u64 {
        match self.time {
            StoreTime::Redis => self.servers.term(room.keys.slot()),
            StoreTime::Given => 0,
        }
    }

    fn given_time(&self) -> Option<Timestamp> {
        match self.time {
            StoreTime::Redis => None,
            StoreTime::Given => Some(self.clock.now()),
        }
    }

    /// Calls a function on a server that is vouched for. Its answer counts only if the same server is still in charge
    /// when it comes; otherwise it may have been done, or be lost with a server that was replaced.
    pub(super) async fn run(&self, link: &Link, call: &Call) -> Result<Answer, Failed> {
        let fresh = match link.durability() {
            Some(_) => Freshness::Acknowledge,
            None => Freshness::Lease,
        };
        let before = self.servers.vouch(call.slot, fresh).await?;
        let said = link.run(call).await?;
        let answer = Answer::read(&said, call.known.clone())?;
        if self.servers.vouch(call.slot, fresh).await? != before {
            return Err(Failed::Unknown(StoreError::Unavailable(
                "another Redis was put in charge before the answer came".into(),
            )));
        }
        Ok(answer)
    }

    /// Looks at a room over the given connection. `None` if there is no such room.
    pub(super) async fn look(
        &self,
        link: &Link,
        room: &RoomNode,
        known: Known,
    ) -> Result<Option<(Looked, Asked)>, Failed> {
        let view = match known {
            Known::Picture => room.view(),
            Known::Nothing => None,
        };
        let call = self.caller(room).look(view);
        let from = self.clock.now();
        let answer = self.run(link, &call).await?;
        let to = self.clock.now();
        if answer.status == Status::Missing {
            return Ok(None);
        }
        let looked = Looked::read(answer, call.known.as_deref(), to)?;
        Ok(Some((looked, Asked { from, to })))
    }

    /// Carries out a command and follows the room up to it. A lost answer is asked for again; the functions make
    /// sure that nothing is done twice.
    pub(super) async fn perform(
        &self,
        link: &Link,
        room: &RoomNode,
        command: &Command,
    ) -> Result<Done, Failed> {
        self.perform_as(self.caller(room), link, command).await
    }

    pub(super) async fn perform_as(
        &self,
        caller: Caller<'_>,
        link: &Link,
        command: &Command,
    ) -> Result<Done, Failed> {
        let attempt = |caller: Caller<'_>| caller.transition(command);
        let answer = self.insist(link, caller, attempt).await?;
        let done = Done::read(command, answer)?;
        caller.room.note_more(done.outcome.more);
        Ok(done)
    }

    /// Calls until there is an answer that settles the matter, or patience ends.
    pub(super) async fn insist(
        &self,
        link: &Link,
        mut caller: Caller<'_>,
        attempt: impl Fn(Caller<'_>) -> Call,
    ) -> Result<Answer, Failed> {
        let mut last = None;
        let insisting = async {
            let mut pause = PAUSE_MIN;
            loop {
                caller.clock = self.given_time();
                caller.term = self.term(caller.room);
                let answered = self.once(link, caller.room, &attempt(caller)).await;
                caller.sending = Sending::Again;
                match answered {
                    Ok(Some(answer)) => return Ok(answer),
                    Ok(None) => {}
                    Err(failed @ (Failed::Refused(_) | Failed::Frozen(_))) => return Err(failed),
                    Err(unknown) => {
                        last = Some(unknown);
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(PAUSE_MAX);
                    }
                }
            }
        };
        let outcome = tokio::time::timeout(PATIENCE, insisting).await;
        outcome.unwrap_or_else(|_| {
            let late = || {
                Failed::Unknown(StoreError::Unavailable(
                    "Redis does not answer in time".into(),
                ))
            };
            Err(last.take().unwrap_or_else(late))
        })
    }

    /// One call. `None` means that it is to be made again.
    async fn once(
        &self,
        link: &Link,
        room: &RoomNode,
        call: &Call,
    ) -> Result<Option<Answer>, Failed> {
        let from = self.clock.now();
        let mut answer = self.run(link, call).await?;
        let to = self.clock.now();
        match answer.status {
            Status::Ok => {
                let known = call.known.as_deref();
                let news = known.and_then(|known| Looked::of_news(&mut answer, known, to).ok()?);
                self.take_in(room, answer.version, news, Asked { from, to })
                    .await;
                Ok(Some(answer))
            }
            Status::Held(wait) => {
                tokio::time::sleep(wait.min(HELD_LOOK)).await;
                Ok(None)
            }
            Status::Missing | Status::Fenced => {
                // Boxed, as is `follow`: both are large and seldom needed, and every call would carry them.
                Box::pin(self.heal(room)).await?;
                Ok(None)
            }
            Status::Again => Ok(None),
            Status::Deleted => Err(Failed::Refused(StoreError::NoSuchRoom(room.name.clone()))),
            Status::Frozen => Err(frozen(&room.name, answer)),
        }
    }

    /// Shows what a call did before it is answered: from its news, if the picture is one that they build on, or else
    /// by looking.
    async fn take_in(&self, room: &RoomNode, version: u64, news: Option<Looked>, asked: Asked) {
        let news = news.filter(|news| room.knows_generation(news));
        if let Some(news) = &news {
            room.publish(news, asked, &[]);
        }
        if news.is_none() || room.version() < version {
            Box::pin(self.follow(room)).await.ok();
        }
    }
}

/// What a look is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Known {
    /// The node's picture.
    Picture,
    /// Nothing: a snapshot is wanted.
    Nothing,
}

/// The refusal of a room that takes no change.
pub(super) fn frozen(room: &RoomId, mut answer: Answer) -> Failed {
    let why = match answer.rest.text() {
        Ok(why) => Freeze::of_text(&why),
        Err(unreadable) => return unreadable.into(),
    };
    Failed::Frozen(StoreError::Frozen {
        room: room.clone(),
        why,
    })
}
