//! Requests of the same kind are gathered: whatever has queued up while a call was on its way is the next. Those of a
//! crowd do not wait for it: with enough of them there are several calls on their way. Every event loop gathers its own.

use std::sync::Arc;

use futures_util::{StreamExt, stream::FuturesUnordered};
use ropeline_core::{Command, Holder, Joined, Joiner, Reply, Standing};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{
    Inner,
    encode::{Caller, Sending},
    keys::Lane,
    room::RoomNode,
    transit::{Failed, Transit},
};
use crate::{StoreError, loops::LoopNumber};

/// Requests that one call takes at the most, so that none keeps Redis for long.
const JOINS_PER_CALL: usize = 256;
const ASKS_PER_CALL: usize = 256;
/// Calls for holders who ask that are on their way from an event loop at the same time.
const ASKS_AT_A_TIME: usize = 2;
/// While a call is on its way, another is made only for so many: what a call costs Redis before its first visitor is
/// as much as some thirty visitors cost it, so that small ones in a row would be slower than fewer and larger ones.
const WORTH_A_CALL: usize = 48;
/// A batch of joins is made again in as many generations before it is refused.
const GENERATIONS_MAX: u32 = 3;
/// How often others are let go first before a call is made.
const TURNS_MAX: u32 = 4;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;
/// Ends without one if the store is closed meanwhile.
pub(super) type Awaited<T> = oneshot::Receiver<Result<T, StoreError>>;

/// A visitor who asks for a place.
#[derive(Debug)]
pub(super) struct Joining {
    pub(super) joiner: Joiner,
    pub(super) answer: Answer<(Joined, Standing)>,
}

/// A holder who asks.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) how: How,
    pub(super) holder: Holder,
    pub(super) answer: Answer<Standing>,
}

/// Whether a live pass is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Renew,
    Ask,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            Self::Renew => "renew",
            Self::Ask => "ask",
        }
    }
}

impl Inner {
    /// Lets a visitor join with those who ask here meanwhile.
    pub(super) fn queue_join(
        self: &Arc<Self>,
        room: &Arc<RoomNode>,
        joiner: Joiner,
    ) -> Result<Awaited<(Joined, Standing)>, StoreError> {
        let at = self.transit.loops.current();
        let begin = |queue| self.spawn(Arc::clone(self).pump_joins(Arc::clone(room), at, queue));
        room.joins.open(at, begin);
        awaited(|answer| room.joins.send(at, Joining { joiner, answer }))
    }

    /// Hears a holder with those who ask here meanwhile.
    pub(super) fn queue_ask(
        self: &Arc<Self>,
        room: &Arc<RoomNode>,
        how: How,
        holder: Holder,
    ) -> Result<Awaited<Standing>, StoreError> {
        let at = self.transit.loops.current();
        let begin = |queue| self.spawn(Arc::clone(self).pump_asks(Arc::clone(room), queue));
        room.asks.open(at, begin);
        let asking = |answer| Asking {
            how,
            holder,
            answer,
        };
        awaited(|answer| room.asks.send(at, asking(answer)))
    }

    /// Runs a pump on the event loop that asks, until the store is closed.
    fn spawn(&self, pump: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        self.tasks.spawn(stopping.run_until_cancelled_owned(pump));
    }

    async fn pump_joins(
        self: Arc<Self>,
        room: Arc<RoomNode>,
        at: LoopNumber,
        queue: mpsc::Receiver<Joining>,
    ) {
        let join = |lane, joining| self.join(&room, lane, joining);
        pump(queue, Lane::of(at), JOINS_PER_CALL, join).await;
    }

    /// Makes one call, and gives back the lane that it took.
    async fn join(&self, room: &RoomNode, lane: Lane, joining: Vec<Joining>) -> Lane {
        let each = joining.into_iter().map(|one| (one.joiner, one.answer));
        let (joiners, answers): (Vec<_>, Vec<_>) = each.unzip();
        let joined = self.transit.join(room, lane, joiners).await;
        if joined.is_ok() {
            self.refusals.end();
        }
        self.answer_all(answers, joined);
        lane
    }

    async fn pump_asks(self: Arc<Self>, room: Arc<RoomNode>, queue: mpsc::Receiver<Asking>) {
        let hear = |(), asking| self.hear(&room, asking);
        pump(queue, [(); ASKS_AT_A_TIME], ASKS_PER_CALL, hear).await;
    }

    async fn hear(&self, room: &RoomNode, asking: Vec<Asking>) {
        let standings = self.transit.hear(room, &asking).await;
        let answers = asking.into_iter().map(|one| one.answer).collect();
        self.answer_all(answers, standings);
    }

    /// Whoever asked may have gone; what was done stays done.
    fn answer_all<T>(&self, answers: Vec<Answer<T>>, results: Result<Vec<T>, Failed>) {
        match results {
            Ok(results) => {
                for (answer, result) in answers.into_iter().zip(results) {
                    answer.send(Ok(result)).ok();
                }
            }
            Err(failed) => {
                self.refusals.note(&failed, self.transit.clock.now());
                let error = StoreError::from(failed);
                for answer in answers {
                    answer.send(Err(error.clone())).ok();
                }
            }
        }
    }
}

/// Queues a request; its answer is awaited without holding on to anything.
fn awaited<T, Q>(
    queue: impl FnOnce(Answer<T>) -> Result<(), TrySendError<Q>>,
) -> Result<Awaited<T>, StoreError> {
    let (sender, answer) = oneshot::channel();
    queue(sender).map_err(|error| match error {
        TrySendError::Full(_) => StoreError::Overloaded,
        TrySendError::Closed(_) => closed(),
    })?;
    Ok(answer)
}

/// Waits for an answer.
pub(super) async fn answered<T>(answer: Awaited<T>) -> Result<T, StoreError> {
    answer.await.unwrap_or_else(|_| Err(closed()))
}

/// What becomes of a request that nobody hears any more.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable("it is closed".into())
}

/// Makes calls of what comes in, each with `most` at the most, as many at a time as there are ways; a call gives back the
/// way that it took.
async fn pump<T, W, C: Future<Output = W>>(
    mut queue: mpsc::Receiver<T>,
    ways: impl IntoIterator<Item = W>,
    most: usize,
    call: impl Fn(W, Vec<T>) -> C,
) {
    let mut free: Vec<_> = ways.into_iter().collect();
    let (mut calls, mut batch, mut open) = (FuturesUnordered::new(), Vec::new(), true);
    // Once the store is closed nobody asks any more; those who did are answered still.
    loop {
        let wanted = if calls.is_empty() { 1 } else { WORTH_A_CALL };
        if batch.len() >= wanted
            && let Some(way) = free.pop()
        {
            linger(&mut queue, &mut batch, most).await;
            calls.push(call(way, std::mem::take(&mut batch)));
        }
        let space = most - batch.len();
        tokio::select! {
            Some(way) = calls.next() => free.push(way),
            asked = queue.recv_many(&mut batch, space), if open && space > 0 => open = asked > 0,
            else => return,
        }
    }
}

/// One call with many costs little more than one with few, so as long as others ask meanwhile, whoever is about to ask
/// is let ask first.
async fn linger<T>(queue: &mut mpsc::Receiver<T>, batch: &mut Vec<T>, most: usize) {
    for _ in 0..TURNS_MAX {
        let before = batch.len();
        tokio::task::yield_now().await;
        while batch.len() < most
            && let Ok(one) = queue.try_recv()
        {
            batch.push(one);
        }
        if batch.len() == before {
            break;
        }
    }
}

impl Transit {
    async fn join(
        &self,
        room: &RoomNode,
        lane: Lane,
        joiners: Vec<Joiner>,
    ) -> Result<Vec<(Joined, Standing)>, Failed> {
        let command = Command::Join(joiners);
        let mut caller = Caller {
            lane,
            ..self.caller(room)
        };
        for _ in 0..GENERATIONS_MAX {
            let done = self.perform_as(caller, &self.joins[lane.0], &command);
            let done = done.await?;
            let Reply::Joined(joined) = &done.outcome.reply else {
                let unexpected = format!("the room answered {:?}", done.outcome.reply);
                return Err(Failed::Refused(StoreError::Unavailable(unexpected.into())));
            };
            let given = given(&command, joined);
            if room.acknowledge(done.generation(), done.outcome.issued, given) {
                let each = joined.iter().copied();
                return Ok(each.zip(done.standings).collect());
            }
            caller.sending = Sending::Again;
        }
        Err(Failed::Unknown(StoreError::Unavailable(
            "Redis is being replaced again and again".into(),
        )))
    }

    async fn hear(&self, room: &RoomNode, asking: &[Asking]) -> Result<Vec<Standing>, Failed> {
        let standings = self.hear_once(room, asking).await?;
        let disputed = room.disputed(asking.iter().map(|one| &one.holder).zip(&standings));
        if disputed.is_empty() {
            return Ok(standings);
        }
        // A genuine token is proof; whoever else has the place may never have been told of it.
        let retell = Command::Retell(disputed);
        self.perform(&self.writer, room, &retell).await?;
        self.hear_once(room, asking).await
    }

    async fn hear_once(&self, room: &RoomNode, asking: &[Asking]) -> Result<Vec<Standing>, Failed> {
        let caller = self.caller(room);
        let holders = || asking.iter().map(|one| (one.how.word(), &one.holder));
        let attempt = |caller: Caller<'_>| caller.hear_all(holders());
        let mut answer = self.insist(self.gate(), caller, attempt).await?;
        room.note_more(answer.more);
        let mut values = answer.rest.list()?;
        let each = asking.iter().map(|_| values.standing());
        let standings: Vec<_> = each.collect::<Result<_, _>>()?;
        for (one, standing) in asking.iter().zip(&standings) {
            if matches!(standing, Standing::Live(_)) {
                room.confirm(&one.holder);
            }
        }
        Ok(standings)
    }
}

/// The places that a batch of joins is answered with.
fn given(command: &Command, joined: &[Joined]) -> Vec<Holder> {
    let Command::Join(joiners) = command else {
        return Vec::new();
    };
    let each = joiners.iter().zip(joined);
    let each = each.filter_map(|(joiner, joined)| {
        let ordinal = match joined {
            Joined::New(ordinal)
            | Joined::Already(ordinal)
            | Joined::Repeated(ordinal)
            | Joined::Claimed(ordinal) => *ordinal,
            Joined::KeyReused | Joined::Closed | Joined::Full => return None,
        };
        Some(Holder {
            visitor: joiner.visitor.clone(),
            ordinal,
        })
    });
    each.collect()
}
