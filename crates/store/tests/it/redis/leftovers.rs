//! Variables of the functions outlive a call: what one call leaves in them is nothing to the next.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Command, Holder, Joiner, Ordinal, Outcome, Policy, RoomId};
use ropeline_store::{RedisOptions, RedisStore, StoreTime};
use ropeline_testing::{ManualClock, TestRedis, line::START};

use crate::given::{holder, policy, visitor};

/// A call fails as soon as it has something to tell the views of this room.
const SPOILT: &str = "spoilt";
/// Visitors of that room.
const CROWD: u64 = 200;

/// A server with a store that is told the time.
struct Given {
    redis: TestRedis,
    store: RedisStore,
    clock: Arc<ManualClock>,
}

impl Given {
    async fn new() -> Self {
        let redis = TestRedis::on_no_disk();
        let clock = Arc::new(ManualClock::at(START));
        let options = RedisOptions {
            time: StoreTime::Given,
            ..RedisOptions::default()
        };
        let url = redis.url().parse().unwrap();
        let time = Arc::clone(&clock);
        let store = RedisStore::open_with(&url, time, options).await.unwrap();
        Self {
            redis,
            store,
            clock,
        }
    }

    async fn apply(&self, room: &RoomId, command: Command) -> Outcome {
        self.store.apply(room, command).await.unwrap()
    }

    /// A room for one, who has left it, in which nobody who waits is there any more: each call would set people aside.
    async fn spoil(&self) {
        let room = RoomId::parse(SPOILT).unwrap();
        self.apply(&room, create(policy_for(1))).await;
        let crowd = (1..=CROWD).map(|n| joiner(&format!("crowd-{n}")));
        self.apply(&room, Command::Join(crowd.collect())).await;
        for _ in 0..4 {
            self.clock.advance(Duration::from_secs(60));
            self.apply(&room, Command::Settle).await;
        }
        let log = format!("rl:{{{SPOILT}}}:log");
        self.redis.cli(&["DEL", &log]);
        self.redis.cli(&["SET", &log, "no stream"]);
        self.fail(Command::Leave(crowd_holder(1))).await;
    }

    /// Whoever the last one let in before it failed makes room, or nobody would be let in again, and joins that only
    /// give places write nothing to the log.
    async fn fail(&self, command: Command) {
        self.redis.cli(&["DEL", &format!("rl:{{{SPOILT}}}:active")]);
        let room = RoomId::parse(SPOILT).unwrap();
        let failed = self.store.apply(&room, command.clone()).await;
        assert!(failed.is_err(), "{command:?}: {failed:?}");
    }

    /// All that Redis has of the room `main`, but for which server it is on.
    fn state(&self) -> String {
        let dump = "
            local flat = {}
            local version, issued, clock_last, room = cmsgpack.unpack(redis.call('GET', 'rl:{main}:room'))
            room.version, room.issued, room.clock_last = version, issued, clock_last
            for field, value in pairs(room) do
              if field ~= 'server' then flat[#flat + 1] = field .. '=' .. tostring(value) end
            end
            table.sort(flat)
            for _, part in ipairs({ 'places', 'active', 'aside', 'door' }) do
              local members = redis.call('ZRANGE', 'rl:{main}:' .. part, 0, -1, 'WITHSCORES')
              flat[#flat + 1] = part .. '=' .. table.concat(members, ' ')
            end
            for _, entry in ipairs(redis.call('XRANGE', 'rl:{main}:log', '-', '+')) do
              flat[#flat + 1] = entry[1] .. '=' .. table.concat(entry[2], ' ')
            end
            return table.concat(flat, '\\n')";
        self.redis.cli(&["EVAL", dump, "0"])
    }
}

fn policy_for(active_max: u64) -> Policy {
    Policy {
        batch: None,
        active_max: Some(active_max),
        pass_ttl: Duration::from_secs(600),
        presence_ttl: Duration::from_secs(60),
        missed_turn_ttl: Duration::from_secs(600),
        ..policy()
    }
}

fn create(policy: Policy) -> Command {
    Command::Create {
        policy: Arc::new(policy),
        digest: None,
    }
}

fn joiner(user: &str) -> Joiner {
    Joiner {
        visitor: visitor(user),
        key: None,
    }
}

fn crowd_holder(n: u64) -> Holder {
    holder(&format!("crowd-{n}"), n)
}

/// A bit of everything, with a line that runs empty in between.
fn evening() -> Vec<Command> {
    let joined = |users: &[&str]| Command::Join(users.iter().map(|user| joiner(user)).collect());
    vec![
        create(policy_for(1)),
        Command::Settle,
        joined(&["ann"]),
        joined(&["bob", "cid"]),
        joined(&["bob", "dan"]),
        Command::Settle,
        Command::Renew(vec![holder("ann", 1), holder("bob", 2)]),
        Command::Mark(vec![Ordinal(2), Ordinal(3)]),
        Command::Leave(holder("dan", 4)),
        Command::Leave(holder("cid", 3)),
        Command::Revoke(visitor("bob")),
        Command::Settle,
        joined(&["eve"]),
        Command::Finish(holder("ann", 1)),
        joined(&["fay"]),
        Command::Keep {
            holder: holder("eve", 5),
            business: Duration::from_secs(900),
        },
        Command::Restore(vec![holder("fay", 6)]),
        Command::Pause,
        Command::Settle,
        Command::Resume,
        Command::Stock(Some(7)),
        Command::Admit(2),
        Command::SetPolicy {
            policy: Arc::new(policy_for(2)),
            digest: None,
        },
        Command::Settle,
        joined(&["gil"]),
        Command::Reset,
        joined(&["hal"]),
        Command::Drain,
        Command::Delete,
        create(policy_for(1)),
    ]
}

/// Every command of an evening does the same right after a call that failed half way as it does on a server that has
/// just loaded the functions.
async fn nothing_is_left_by(leave_behind: impl Fn(u64) -> Command) {
    let (spoilt, fresh) = (Given::new().await, Given::new().await);
    for given in [&spoilt, &fresh] {
        given.spoil().await;
    }
    let room = RoomId::main();
    for (n, command) in (2..).zip(evening()) {
        spoilt.fail(leave_behind(n)).await;
        fresh.redis.cli(&["FUNCTION", "FLUSH"]);
        let words = format!("{n}: {command:?}");
        let expected = fresh.apply(&room, command.clone()).await;
        assert_eq!(spoilt.apply(&room, command).await, expected, "{words}");
        assert_eq!(spoilt.state(), fresh.state(), "{words}");
    }
}

#[tokio::test]
async fn a_join_that_failed_half_way_leaves_nothing_behind() {
    nothing_is_left_by(|n| Command::Join(vec![joiner(&format!("late-{n}"))])).await;
}

#[tokio::test]
async fn a_departure_that_failed_half_way_leaves_nothing_behind() {
    nothing_is_left_by(|n| Command::Leave(crowd_holder(n))).await;
}

#[tokio::test]
async fn an_operators_word_that_failed_half_way_leaves_nothing_behind() {
    nothing_is_left_by(|_| Command::Pause).await;
}

#[tokio::test]
async fn what_a_call_that_failed_half_way_made_of_the_room_is_forgotten() {
    let given = Given::new().await;
    let room = RoomId::main();
    given.apply(&room, create(policy_for(1))).await;
    given.apply(&room, Command::Join(vec![joiner("ann")])).await;
    let log = ["rl:{main}:log", "rl:{main}:log-aside"];
    given.redis.cli(&["RENAME", log[0], log[1]]);
    given.redis.cli(&["SET", log[0], "no stream"]);
    let failed = given.store.apply(&room, Command::Pause).await;
    assert!(failed.is_err(), "{failed:?}");
    given.redis.cli(&["RENAME", log[1], log[0]]);
    given.apply(&room, Command::Settle).await;
    assert_eq!(given.redis.room_field("paused"), "0");
}
