//! Redis beside core: one call of a function for each command, on a server that loses writes.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use redis::{Commands, Connection};
use ropeline_core::{Command, Outcome, Policy, Reply, Room, RoomId, RoomState, ServerId, View};
use ropeline_store::{RedisOptions, RedisStore, RedisUrl, Store, StoreTime};
use ropeline_testing::{
    ManualClock, SET_ROOM_FIELD,
    line::{START, Violation},
};
use tokio::runtime::Runtime;

use super::{
    compared::{Loss, Reference, Settling, Twin},
    facts::{difference, facts},
};
use crate::{backing::Backing, given::BOUNDS};

/// The keys of a room and what they hold, as Redis writes them down.
pub(super) type Dump = Vec<(String, Vec<u8>)>;

/// A room on a Redis, and a connection beside the store's that plays what goes wrong.
pub(super) struct RedisTwin<'a> {
    runtime: &'a Runtime,
    store: RedisStore,
    connection: Connection,
    room: RoomId,
    clock: Arc<ManualClock>,
    servers: u64,
    commands: usize,
    /// The last few pictures, for a node that is so far behind.
    known: VecDeque<Arc<View>>,
    /// What such a node shows after the last command, going by nothing but the answer.
    told: Option<Arc<View>>,
}

/// How many pictures a node may be behind.
const BEHIND_MAX: usize = 3;

impl<'a> RedisTwin<'a> {
    /// Whatever was in that Redis is gone.
    pub(super) fn new(runtime: &'a Runtime, redis: &impl Backing, policy: Policy) -> Self {
        let url: RedisUrl = redis.url().parse().unwrap();
        let mut connection = ::redis::Client::open(redis.direct())
            .unwrap()
            .get_connection()
            .unwrap();
        let () = connection.flushall().unwrap();
        let clock = Arc::new(ManualClock::at(START));
        let time = Arc::clone(&clock);
        let options = RedisOptions {
            bounds: BOUNDS,
            time: StoreTime::Given,
            ..RedisOptions::default()
        };
        let opened = runtime.block_on(RedisStore::open_with(&url, time, options));
        let mut twin = Self {
            runtime,
            store: opened.unwrap(),
            connection,
            room: RoomId::main(),
            clock,
            servers: 0,
            commands: 0,
            known: VecDeque::new(),
            told: None,
        };
        let made = twin.apply(Command::Create {
            policy: Arc::new(policy),
            digest: None,
        });
        assert_eq!(made.reply, Reply::Created(true));
        twin
    }

    fn keys(&mut self) -> Vec<String> {
        let pattern = format!("rl:{{{}}}:*", self.room);
        self.connection.keys(pattern).unwrap()
    }

    /// The room's header says that it was written on another server than this.
    fn become_another_server(&mut self) {
        let key = format!("rl:{{{}}}:room", self.room);
        let script = redis::Script::new(SET_ROOM_FIELD);
        let mut call = script.key(key);
        let () = call
            .arg("server")
            .arg("another")
            .invoke(&mut self.connection)
            .unwrap();
    }

    /// The server is where it was when the dump was taken.
    fn go_back(&mut self, dump: &Dump) {
        let now = self.keys();
        let mut pipeline = redis::pipe();
        pipeline.atomic();
        for key in now {
            pipeline.del(key).ignore();
        }
        for (key, value) in dump {
            pipeline.cmd("RESTORE").arg(key).arg(0).arg(value).ignore();
        }
        let () = pipeline.query(&mut self.connection).unwrap();
    }
}

impl Twin for RedisTwin<'_> {
    type Copy = Dump;

    fn settling(&self) -> Settling {
        Settling::Stepwise
    }

    fn parts(&self, command: Command) -> Vec<Command> {
        vec![command]
    }

    fn apply(&mut self, part: Command) -> Outcome {
        self.told = None;
        let behind = self.commands % BEHIND_MAX;
        self.commands += 1;
        let Some(known) = self
            .known
            .get(behind)
            .filter(|_| !matches!(part, Command::Merge(_)))
        else {
            let applied = self.store.apply(&self.room, part);
            return self.runtime.block_on(applied).unwrap();
        };
        let applied = self.store.apply_knowing(&self.room, known, part);
        let (outcome, told) = self.runtime.block_on(applied).unwrap();
        self.told = told;
        outcome
    }

    fn picture(&mut self) -> Option<View> {
        let snapshot = self.runtime.block_on(self.store.snapshot(&self.room));
        let picture = snapshot.unwrap()?;
        if let Some(told) = &self.told {
            let difference = difference(&facts(told), &facts(&picture));
            assert_eq!(difference, None, "what a node was told, beside the room");
        }
        self.known.push_front(Arc::new(picture.clone()));
        self.known.truncate(BEHIND_MAX);
        Some(picture).filter(|view| view.header.state != RoomState::Deleted)
    }

    fn server(&mut self) -> ServerId {
        self.known[0].header.server.clone()
    }

    fn copy(&mut self) -> Dump {
        let keys = self.keys();
        let mut pipeline = redis::pipe();
        for key in &keys {
            pipeline.cmd("DUMP").arg(key);
        }
        let values: Vec<Vec<u8>> = pipeline.query(&mut self.connection).unwrap();
        keys.into_iter().zip(values).collect()
    }

    fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
    }

    /// The server goes by another name: after a failover that lost nothing, after it went back to an earlier
    /// state, or after it forgot everything.
    fn suffer(&mut self, how: u64, reference: &mut Reference<Dump>) -> Result<Loss, Violation> {
        let memory = Arc::new(reference.view());
        self.servers += 1;
        let host = ServerId(format!("core-{}", self.servers).into());
        let back = usize::try_from(how / 3).unwrap() % reference.history.len().max(1);
        match (how % 3, reference.history.get(back).cloned()) {
            (0, Some((room, dump))) => {
                self.go_back(&dump);
                self.become_another_server();
                reference.room = room;
            }
            (1, _) => {
                let () = self.connection.flushall().unwrap();
                reference.room = Room::from_memory(&memory, host.clone(), reference.clock, BOUNDS);
                self.apply(Command::Merge(Arc::clone(&memory)));
            }
            _ => self.become_another_server(),
        }
        reference.room.rehost(host);
        Ok(Loss::Writes(memory))
    }
}

impl Drop for RedisTwin<'_> {
    /// Its connections would otherwise outlive the story.
    fn drop(&mut self) {
        self.runtime.block_on(self.store.close());
    }
}
