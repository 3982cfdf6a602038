//! The comparison, judged: a store that breaks a rule of core is caught, and an honest one is not.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Bits, Command, Outcome, Policy, Room, RoomState, ServerId, Timestamp, View};
use ropeline_testing::line::{ORDINARY, START, Tally, Violation, stories, try_stories};

use super::compared::{Compared, Loss, Reference, Settling, Twin};
use crate::given::BOUNDS;

/// Core itself as a store that tells of each call, loses writes, and breaks one rule.
struct Liar {
    room: Room,
    clock: Timestamp,
    servers: u64,
    lie: fn(&mut Liar, Command) -> Outcome,
}

impl Liar {
    fn new(policy: Policy, lie: fn(&mut Liar, Command) -> Outcome) -> Self {
        let room = Room::new(policy, server(0), START, BOUNDS);
        Self {
            room,
            clock: START,
            servers: 0,
            lie,
        }
    }

    fn honest(&mut self, command: Command) -> Outcome {
        self.room.apply(command, self.clock)
    }
}

impl Twin for Liar {
    type Copy = Room;

    fn settling(&self) -> Settling {
        Settling::Stepwise
    }

    fn parts(&self, command: Command) -> Vec<Command> {
        vec![command]
    }

    fn apply(&mut self, part: Command) -> Outcome {
        (self.lie)(self, part)
    }

    fn picture(&mut self) -> Option<View> {
        let view = self.room.view(self.clock);
        (view.header.state != RoomState::Deleted).then_some(view)
    }

    fn server(&mut self) -> ServerId {
        self.room.header().server.clone()
    }

    fn copy(&mut self) -> Room {
        self.room.clone()
    }

    fn advance(&mut self, by: Duration) {
        self.clock = self.clock + by;
    }

    /// The server goes by another name, after it went back in time, or after it forgot everything.
    fn suffer(&mut self, how: u64, reference: &mut Reference<Room>) -> Result<Loss, Violation> {
        let memory = Arc::new(reference.view());
        self.servers += 1;
        let host = server(self.servers);
        let back = usize::try_from(how / 3).unwrap() % reference.history.len().max(1);
        match (how % 3, reference.history.get(back).cloned()) {
            (0, Some((room, copy))) => (reference.room, self.room) = (room, copy),
            (1, _) => {
                for room in [&mut reference.room, &mut self.room] {
                    *room = Room::from_memory(&memory, host.clone(), self.clock, BOUNDS);
                }
            }
            _ => {}
        }
        reference.room.rehost(host.clone());
        self.room.rehost(host);
        Ok(Loss::Writes(memory))
    }
}

fn server(n: u64) -> ServerId {
    ServerId(format!("server-{n}").into())
}

fn try_lie(lie: fn(&mut Liar, Command) -> Outcome) -> Tally {
    try_stories(200, stories(160, 40), |story| {
        let liar = Liar::new(story.policy.clone(), lie);
        Compared::new(liar, story.policy.clone())
    })
}

/// A store that lies so is found out by the comparison, before any promise to a visitor is seen broken.
fn caught(lie: fn(&mut Liar, Command) -> Outcome) {
    let told = std::panic::catch_unwind(|| try_lie(lie));
    let message = told.unwrap_err().downcast::<String>().unwrap();
    assert!(message.starts_with("broken: the store "), "{message}");
}

#[test]
fn a_store_that_is_core_is_not_accused() {
    let tally = try_lie(Liar::honest);
    assert_eq!(tally.missing(ORDINARY), []);
    let lossy = [("join", "held"), ("join", "more to settle")];
    assert_eq!(tally.missing(&lossy), []);
}

#[test]
fn a_store_that_does_not_tell_of_more_to_settle_is_caught() {
    caught(|liar, command| Outcome {
        more: false,
        ..liar.honest(command)
    });
}

#[test]
fn a_store_that_forgets_the_keys_of_requests_is_caught() {
    caught(|liar, command| match command {
        Command::Join(mut joiners) => {
            for joiner in &mut joiners {
                joiner.key = None;
            }
            liar.honest(Command::Join(joiners))
        }
        command => liar.honest(command),
    });
}

#[test]
fn a_store_that_hears_no_marks_is_caught() {
    caught(|liar, command| match command {
        Command::Mark(_) => liar.honest(Command::Settle),
        command => liar.honest(command),
    });
}

#[test]
fn a_store_that_brings_back_who_was_done_after_a_loss_is_caught() {
    caught(|liar, command| match command {
        Command::Merge(memory) => {
            let forgetful = View {
                done: Bits::default(),
                ..View::clone(&memory)
            };
            liar.honest(Command::Merge(Arc::new(forgetful)))
        }
        command => liar.honest(command),
    });
}

#[test]
fn a_store_that_forgets_the_stock_with_what_it_lost_is_caught() {
    caught(|liar, command| match command {
        Command::Merge(memory) => {
            let mut forgetful = View::clone(&memory);
            (forgetful.header.stock, forgetful.header.stock_version) = (None, 0);
            liar.honest(Command::Merge(Arc::new(forgetful)))
        }
        command => liar.honest(command),
    });
}
