//! The one thread that changes rooms and writes them down.

use std::{path::PathBuf, sync::Arc, time::Duration};

use ropeline_core::{
    Bounds, Command, Joined, Joiner, Policy, Reply, Room, RoomId, ServerId, Standing, Timestamp,
};

use super::{
    carry::{self, Deed},
    commit::{apply, collect, look_round, publish},
    couriers::{Asker, Couriers},
    disk::{Disk, DiskError},
    inbox::Taker,
    keeper::Failed,
    rooms::{Handle, Rooms},
    rows::{Batch, RoomNumber},
};
use crate::{Clock, Freeze, StoreError, loops::LoopNumber};

/// The writer looks round at least this often: marks are taken in, passes end, the pace is renewed.
const LOOK: Duration = Duration::from_millis(250);
/// Requests that one transaction takes at the most.
const BATCH_MAX: usize = 8_192;
/// A file that failed is tried again this often.
const RETRY: Duration = Duration::from_millis(500);

/// The server on which rooms of a file are.
pub(super) const HOST: &str = "embedded";

pub(super) type Answer<T> = Result<T, StoreError>;

/// A request to the writer.
#[derive(Debug)]
pub(super) enum Op {
    Join {
        room: Arc<Handle>,
        joiner: Joiner,
        answer: Asker<(Joined, Standing)>,
    },
    Apply {
        room: Arc<Handle>,
        command: Command,
        answer: Asker<Reply>,
    },
    Create {
        room: RoomId,
        policy: Arc<Policy>,
        digest: Option<String>,
        answer: Asker<bool>,
    },
    Carry {
        deed: Deed,
        answer: Asker<bool>,
    },
    Close {
        answer: Asker<()>,
    },
}

/// An answer that is given once what it says is on the disk.
#[derive(Debug)]
pub(super) enum Pending {
    Join(Asker<(Joined, Standing)>, (Joined, Standing)),
    Apply(Asker<Reply>, Reply),
    Whether(Asker<bool>, bool),
}

/// What one group commit takes in.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) batch: Batch,
    pending: Vec<Pending>,
    created: Vec<Arc<Handle>>,
    /// Rooms that are no more, or that another has taken the place of.
    pub(super) replaced: Vec<RoomNumber>,
    discarded: Vec<RoomId>,
}

/// The files, or where they would be.
#[derive(Debug)]
enum File {
    Open(Disk),
    Failed(PathBuf),
}

pub(super) struct Writer {
    file: File,
    rooms: Arc<Rooms>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    requests: Taker,
    couriers: Arc<Couriers>,
    /// Joins that wait until every node has merged what it knows.
    held: Vec<Op>,
    next_number: RoomNumber,
    /// When to try next to write to a file that failed.
    retry_at: Timestamp,
}

impl Writer {
    pub(super) fn new(
        disk: Disk,
        rooms: Arc<Rooms>,
        clock: Arc<dyn Clock>,
        bounds: Bounds,
        requests: Taker,
        couriers: Arc<Couriers>,
    ) -> Self {
        let next_number = rooms
            .all()
            .iter()
            .map(|room| room.number + 1)
            .max()
            .unwrap_or(0);
        let file = File::Open(disk);
        Self {
            file,
            rooms,
            clock,
            bounds,
            requests,
            couriers,
            held: Vec::new(),
            next_number,
            retry_at: Timestamp(0),
        }
    }

    /// Works until told to close.
    pub(super) fn run(mut self) {
        // Should this thread panic, nobody would answer any more; that must not look healthy.
        let _stopped = Stopped {
            rooms: Arc::clone(&self.rooms),
            clock: Arc::clone(&self.clock),
        };
        let mut closing = None;
        while closing.is_none() {
            let ops = self.wait();
            let mut requests = Vec::with_capacity(ops.len());
            for op in ops {
                match op {
                    Op::Close { answer } => closing = Some(answer),
                    op => requests.push(op),
                }
            }
            match self.file {
                File::Open(_) => self.turn(requests),
                File::Failed(_) => self.refuse_and_retry(requests),
            }
        }
        self.turn(Vec::new());
        if let Some(answer) = closing {
            drop(self.file);
            answer.hear(Ok(()));
        }
    }

    /// Waits for requests, or for something to be due; takes whatever has queued up. Waiting for more would make larger
    /// batches and lose as much time as they save.
    fn wait(&mut self) -> Vec<Op> {
        let mut ops = std::mem::take(&mut self.held);
        let left = BATCH_MAX.saturating_sub(ops.len()).max(1);
        self.requests.take(&mut ops, left, self.time_to_next_due());
        ops
    }

    fn time_to_next_due(&self) -> Duration {
        let clock = self.clock.now();
        let due = self.rooms.all().into_iter().filter_map(|room| {
            let state = room.state();
            if state.frozen.is_some() {
                return None;
            }
            Some(state.room.now(clock).until(state.room.next_due()?))
        });
        due.min().unwrap_or(LOOK).min(LOOK)
    }

    /// One group commit: apply, write, publish, answer.
    fn turn(&mut self, ops: Vec<Op>) {
        let mut turn = Turn::default();
        self.apply_all(ops, &mut turn);
        let mut rooms = self.rooms.all();
        rooms.extend(turn.created.iter().cloned());
        rooms.retain(|room| !turn.replaced.contains(&room.number));
        let clock = self.clock.now();
        let collected: Vec<_> = rooms
            .iter()
            .map(|room| {
                look_round(room, clock);
                collect(room, clock, &mut turn.batch)
            })
            .collect();
        match self.commit(turn.batch) {
            Ok(()) => {
                for (room, collected) in rooms.iter().zip(collected) {
                    publish(room, collected);
                }
                for room in &turn.discarded {
                    self.rooms.remove(room);
                }
                for room in turn.created {
                    self.rooms.add(room);
                }
                self.couriers.send(turn.pending);
            }
            Err(error) => {
                let error = self.fail(&error, clock);
                for pending in turn.pending {
                    pending.refuse(&error);
                }
            }
        }
    }

    fn apply_all(&mut self, ops: Vec<Op>, turn: &mut Turn) {
        let mut ops = ops.into_iter().peekable();
        while let Some(op) = ops.next() {
            match op {
                Op::Join {
                    room,
                    joiner,
                    answer,
                } => {
                    let mut joiners = vec![joiner];
                    let mut answers = vec![answer];
                    let same = |op: &Op| matches!(op, Op::Join { room: next, .. } if Arc::ptr_eq(next, &room));
                    while let Some(Op::Join { joiner, answer, .. }) = ops.next_if(same) {
                        joiners.push(joiner);
                        answers.push(answer);
                    }
                    self.join(&room, joiners, answers, &mut turn.pending);
                }
                Op::Apply {
                    room,
                    command,
                    answer,
                } => {
                    if let Err(frozen) = room.check_thawed() {
                        answer.hear(Err(frozen));
                        continue;
                    }
                    let reply = apply(&mut room.state(), command, self.clock.now()).reply;
                    turn.pending.push(Pending::Apply(answer, reply));
                }
                Op::Create {
                    room,
                    policy,
                    digest,
                    answer,
                } => {
                    let new = turn.created.iter().find(|handle| handle.name == room);
                    let made = match new.cloned().or_else(|| self.rooms.get(&room)) {
                        Some(handle) if handle.check_thawed().is_err() => false,
                        Some(handle) => {
                            let create = Command::Create { policy, digest };
                            let outcome = apply(&mut handle.state(), create, self.clock.now());
                            outcome.reply == Reply::Created(true)
                        }
                        None => {
                            turn.created.push(self.create(room, &policy, digest));
                            true
                        }
                    };
                    turn.pending.push(Pending::Whether(answer, made));
                }
                Op::Carry { deed, answer } => match self.carry(deed, turn) {
                    Ok(whether) => turn.pending.push(Pending::Whether(answer, whether)),
                    Err(error) => answer.hear(Err(error)),
                },
                Op::Close { .. } => {}
            }
        }
    }

    fn join(
        &mut self,
        room: &Arc<Handle>,
        joiners: Vec<Joiner>,
        answers: Vec<Asker<(Joined, Standing)>>,
        pending: &mut Vec<Pending>,
    ) {
        if let Err(frozen) = room.check_thawed() {
            for answer in answers {
                answer.hear(Err(frozen.clone()));
            }
            return;
        }
        let clock = self.clock.now();
        let mut state = room.state();
        if state.room.holds_joins(clock) {
            let held = joiners.into_iter().zip(answers);
            self.held.extend(held.map(|(joiner, answer)| Op::Join {
                room: Arc::clone(room),
                joiner,
                answer,
            }));
            return;
        }
        let reply = apply(&mut state, Command::Join(joiners), clock).reply;
        let Reply::Joined(joined) = reply else {
            // Nothing else keeps a room from joins that does not hold them.
            let error = StoreError::NoSuchRoom(room.name.clone());
            for answer in answers {
                answer.hear(Err(error.clone()));
            }
            return;
        };
        pending.extend(joined.into_iter().zip(answers).map(|(joined, answer)| {
            let standing = standing_of(&state.room, joined, clock);
            Pending::Join(answer, (joined, standing))
        }));
    }

    fn carry(&mut self, deed: Deed, turn: &mut Turn) -> Result<bool, StoreError> {
        let clock = self.clock.now();
        match deed {
            Deed::Freeze(room, why) => {
                carry::freeze(&room, why, clock);
                Ok(true)
            }
            Deed::Thaw(room) => Ok(carry::thaw(&room, clock)),
            Deed::Adopt(arrival) => {
                let known = self.rooms.get(&arrival.room);
                let (number, now) = (self.next_number, (self.bounds, clock));
                let arrived = carry::adopt(*arrival, known.as_deref(), number, now, turn)?;
                self.next_number += 1;
                let adopted = arrived.is_some();
                turn.created.extend(arrived);
                Ok(adopted)
            }
            Deed::Discard(name) => {
                let known = self.rooms.get(&name);
                let arrival =
                    known.filter(|room| matches!(room.state().frozen, Some(Freeze::Arriving(_))));
                let discarded = arrival.is_some();
                if let Some(room) = arrival {
                    turn.batch.forget_room(room.number);
                    turn.replaced.push(room.number);
                    turn.discarded.push(name);
                }
                Ok(discarded)
            }
        }
    }

    fn create(&mut self, name: RoomId, policy: &Policy, digest: Option<String>) -> Arc<Handle> {
        let clock = self.clock.now();
        let host = ServerId(HOST.into());
        let mut room = Room::new(policy.clone(), host, clock, self.bounds);
        let policy = Arc::new(policy.clone());
        room.apply(Command::SetPolicy { policy, digest }, clock);
        let number = self.next_number;
        self.next_number += 1;
        Arc::new(Handle::new(name, number, room, clock))
    }

    fn commit(&mut self, batch: Batch) -> Result<(), DiskError> {
        match &mut self.file {
            File::Open(disk) => disk.commit(batch),
            File::Failed(_) => Err(DiskError::Failed(Failed("the files are not open".into()))),
        }
    }

    /// Notes that the file cannot be written. What has been applied stays applied and unanswered: it is
    /// written when the file is back, and nothing else but time is applied before.
    fn fail(&mut self, error: &DiskError, clock: Timestamp) -> StoreError {
        if self.rooms.down_since().is_none() {
            tracing::error!(%error, "cannot write the rooms; joins are refused until it works again");
        }
        let reason: Arc<str> = format!("cannot write to disk: {error}").into();
        self.rooms.set_down(clock, &reason);
        let file = std::mem::replace(&mut self.file, File::Failed(PathBuf::new()));
        self.file = match file {
            File::Open(disk) => File::Failed(disk.close()),
            failed @ File::Failed(_) => failed,
        };
        StoreError::Unavailable(reason)
    }

    /// While the file cannot be written: refuse what came, and try to write what is left over.
    fn refuse_and_retry(&mut self, ops: Vec<Op>) {
        let error = StoreError::Unavailable("cannot write to disk".into());
        for op in ops {
            match op {
                Op::Join { answer, .. } => answer.hear(Err(error.clone())),
                Op::Apply { answer, .. } => answer.hear(Err(error.clone())),
                Op::Create { answer, .. } | Op::Carry { answer, .. } => {
                    answer.hear(Err(error.clone()));
                }
                Op::Close { .. } => {}
            }
        }
        let File::Failed(path) = &self.file else {
            return;
        };
        let now = self.clock.now();
        if now < self.retry_at {
            return;
        }
        self.retry_at = now + RETRY;
        let Ok(disk) = Disk::reopen(path, Arc::clone(&self.rooms)) else {
            return;
        };
        self.file = File::Open(disk);
        self.turn(Vec::new());
        if matches!(self.file, File::Open(_)) {
            self.rooms.set_up();
            tracing::info!("the rooms can be written again; joins are taken");
        }
    }
}

/// Says that nothing is written any more, however the writer came to its end.
struct Stopped {
    rooms: Arc<Rooms>,
    clock: Arc<dyn Clock>,
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.rooms
            .set_down(self.clock.now(), "the store has stopped");
    }
}

impl Pending {
    /// On which event loop it is awaited, if on any.
    pub(super) fn at(&self) -> Option<LoopNumber> {
        match self {
            Self::Join(asker, _) => asker.at,
            Self::Apply(asker, _) => asker.at,
            Self::Whether(asker, _) => asker.at,
        }
    }

    pub(super) fn send(self) {
        match self {
            Self::Join(asker, result) => asker.hear(Ok(result)),
            Self::Apply(asker, reply) => asker.hear(Ok(reply)),
            Self::Whether(asker, whether) => asker.hear(Ok(whether)),
        }
    }

    fn refuse(self, error: &StoreError) {
        match self {
            Self::Join(answer, _) => answer.hear(Err(error.clone())),
            Self::Apply(answer, _) => answer.hear(Err(error.clone())),
            Self::Whether(answer, _) => answer.hear(Err(error.clone())),
        }
    }
}

fn standing_of(room: &Room, joined: Joined, clock: Timestamp) -> Standing {
    match joined {
        Joined::New(ordinal)
        | Joined::Already(ordinal)
        | Joined::Repeated(ordinal)
        | Joined::Claimed(ordinal) => room.standing_of_joined(ordinal, clock),
        Joined::KeyReused | Joined::Closed | Joined::Full => Standing::Unknown,
    }
}
