//! Random stories through core and the embedded store at once: the same answers after every step, and every
//! promise kept, through crashes as well.

use std::{sync::Arc, time::Duration};

use ropeline_core::{
    Bounds, Command, Holder, Outcome, Reply, Room, ServerId, Standing, Timestamp, View,
};
use ropeline_store::{Operation, Store};
use ropeline_testing::line::{Line, START, Settled, Suffered, stories, try_stories};
use tokio::runtime::Runtime;

use crate::given::Given;

/// Every command, on the store.
const WANTED: &[(&str, &str)] = &[
    ("join", "new"),
    ("join", "already"),
    ("join", "closed"),
    ("join", "full"),
    ("join with key", "repeated"),
    ("join with key", "key reused"),
    ("renew", "inside"),
    ("renew", "in line"),
    ("renew", "over"),
    ("renew", "gone"),
    ("restore", "inside"),
    ("restore", "in line"),
    ("restore", "over"),
    ("restore", "gone"),
    ("mark", "done"),
    ("leave", "left"),
    ("leave", "finished"),
    ("leave", "nothing"),
    ("finish", "finished"),
    ("finish", "not inside"),
    ("revoke", "revoked"),
    ("revoke", "nobody"),
    ("settle", "done"),
    ("admit", "done"),
    ("pause", "done"),
    ("resume", "done"),
    ("open", "done"),
    ("close", "done"),
    ("drain", "done"),
    ("reset", "done"),
    ("set policy", "done"),
    ("merge", "done"),
    ("suffer", "survived"),
    ("import", "placed"),
    ("import", "repeated"),
    ("import", "already"),
    ("import", "full"),
    ("import", "line ahead"),
    ("join", "claimed"),
];

#[test]
fn the_store_answers_as_core_does_and_keeps_its_promises_through_crashes() {
    let runtime = Runtime::new().unwrap();
    let tally = try_stories(96, stories(160, 60), |story| {
        let given = runtime.block_on(Given::room(story.policy.clone()));
        let room = Room::new(story.policy.clone(), server(), START, Bounds::default());
        Twins {
            runtime: &runtime,
            given: Some(given),
            room,
            clock: START,
        }
    });
    println!("{tally}");
    assert_eq!(tally.missing(WANTED), []);
}

/// The store under test and the room that it must equal.
struct Twins<'a> {
    runtime: &'a Runtime,
    given: Option<Given>,
    room: Room,
    clock: Timestamp,
}

impl Twins<'_> {
    fn given(&self) -> &Given {
        self.given.as_ref().expect("there is always a store")
    }

    fn settle(&mut self, command: Command) -> Outcome {
        let first = self.room.apply(command, self.clock);
        let mut more = first.more;
        while more {
            more = self.room.apply(Command::Settle, self.clock).more;
        }
        first
    }

    fn on_store(&self, command: Command) -> Reply {
        let (given, runtime) = (self.given(), self.runtime);
        runtime.block_on(async {
            let (store, room) = (&given.store, &given.room);
            let operation = match command {
                Command::Join(joiners) => {
                    let mut joined = Vec::new();
                    for joiner in joiners {
                        joined.push(store.join(room, joiner).await.unwrap().0);
                    }
                    return Reply::Joined(joined);
                }
                Command::Renew(holders) => {
                    let standing = store.renew(room, holders[0].clone()).await.unwrap();
                    return Reply::Standing(vec![(holders[0].clone(), standing)]);
                }
                Command::Restore(holders) => {
                    let standing = store.ask(room, holders[0].clone()).await.unwrap();
                    return Reply::Standing(vec![(holders[0].clone(), standing)]);
                }
                Command::Mark(ordinals) => {
                    for ordinal in ordinals {
                        store.mark(room, ordinal);
                    }
                    return Reply::Done;
                }
                Command::Leave(holder) => {
                    return Reply::Departed(store.leave(room, holder).await.unwrap());
                }
                Command::Finish(holder) => {
                    return Reply::Departed(store.finish(room, holder).await.unwrap());
                }
                Command::Revoke(visitor) => {
                    return Reply::Revoked(store.revoke(room, visitor).await.unwrap());
                }
                Command::Settle => return Reply::Done,
                Command::Import { rows, grace } => {
                    return Reply::Imported(store.import(room, rows, grace).await.unwrap());
                }
                Command::Merge(memory) => {
                    store.merge(room, memory).await.unwrap();
                    return Reply::Done;
                }
                Command::Admit(count) => Operation::Admit(count),
                Command::Pause => Operation::Pause,
                Command::Resume => Operation::Resume,
                Command::Open => Operation::Open,
                Command::Close => Operation::Close,
                Command::Drain => Operation::Drain,
                Command::Reset => Operation::Reset,
                Command::ChangePolicy { from, to } => {
                    let changed = store.change_policy(room, from, to).await.unwrap();
                    return if changed { Reply::Done } else { Reply::Stale };
                }
                Command::Delete => Operation::Delete,
                Command::Create { policy, digest } => {
                    return Reply::Created(store.create(room, policy, digest).await.unwrap());
                }
                Command::SetPolicy { policy, digest } => Operation::SetPolicy { policy, digest },
            };
            store.operate(room, operation).await.unwrap();
            Reply::Done
        })
    }

    fn settle_store(&self) {
        let given = self.given();
        self.runtime
            .block_on(given.store.settle(&given.room))
            .unwrap();
    }
}

impl Line for Twins<'_> {
    fn apply(&mut self, command: Command) -> Outcome {
        // The store takes each join of a batch by itself, and so does its twin.
        let reply = if let Command::Join(joiners) = &command {
            let each = joiners.iter().map(|one| {
                match self.settle(Command::Join(vec![one.clone()])).reply {
                    Reply::Joined(joined) => joined[0],
                    reply => panic!("{reply:?}"),
                }
            });
            Reply::Joined(each.collect())
        } else {
            self.settle(command.clone()).reply
        };
        let stored = self.on_store(command);
        self.settle_store();
        assert_eq!(stored, reply, "the store and core answer differently");
        let expected = self.room.view(self.clock);
        let view = self.given().view();
        assert_eq!(
            facts(&view),
            facts(&expected),
            "the store and core are in different states"
        );
        assert_eq!(
            view.header.tick, expected.header.tick,
            "the store and core are at different ticks"
        );
        let (version, head, issued) = (view.header.version, view.header.head, view.header.issued);
        Outcome {
            reply,
            more: false,
            version,
            head,
            issued,
        }
    }

    fn view(&mut self) -> View {
        let view = self.given().view();
        View {
            as_of: self.room.now(self.clock),
            ..(*view).clone()
        }
    }

    fn standing(&mut self, holder: &Holder) -> Standing {
        // Asking the store would mark the holder as present; its twin has been compared already.
        self.room.standing(holder, self.clock)
    }

    fn advance(&mut self, by: Duration) -> Settled {
        self.clock = self.clock + by;
        self.given().clock.advance(by);
        self.settle(Command::Settle);
        self.settle_store();
        Settled::Yes
    }

    fn suffer(&mut self, _: u64) -> Suffered {
        self.given = self.given.take().map(Given::crash);
        // Renewals and presence may be a second behind after a crash, and room time with them; what was
        // acknowledged may not. The twin goes on from what the files say.
        let expected = facts(&self.room.view(self.clock));
        let given = self.given();
        self.room = given.store.room(&given.room).expect("the room survived");
        assert_eq!(
            facts(&self.room.view(self.clock)),
            expected,
            "a crash changed the room"
        );
        Suffered::Nothing
    }
}

/// What an observer can see of a room. The tick of an idle room is not worth a write of its own.
fn facts(view: &View) -> impl PartialEq + std::fmt::Debug + use<> {
    let header = &view.header;
    let counts = (view.inside, view.aside, view.door, view.waiting());
    let state = (header.state, header.paused, Arc::clone(&header.policy));
    (
        header.issued,
        header.head,
        header.floor,
        counts,
        state,
        header.counters,
    )
}

fn server() -> ServerId {
    ServerId("embedded".into())
}
