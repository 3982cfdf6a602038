//! Rooms that are deleted, and rooms that begin again.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Bounds, Command, Ending, Joined, Ordinal, Reply, Room, RoomState, Standing};

use crate::{
    plain::server,
    rules::{Stage, bank, holder, secs, visitor},
};

fn again(stage: &mut Stage) -> Reply {
    stage.tell(Command::Create {
        policy: Arc::new(bank(2)),
        digest: Some("another".into()),
    })
}

/// Somebody inside, somebody waiting, and then no such room.
fn deleted() -> Stage {
    let mut stage = Stage::new(bank(1));
    stage.join([1, 2]);
    assert_eq!(stage.tell(Command::Delete), Reply::Done);
    stage
}

/// A node that knew nothing has created the room after another had deleted it, and Redis forgot both.
#[test]
fn a_room_that_was_created_since_is_not_deleted_by_an_old_memory() {
    let mut stage = Stage::new(bank(1));
    stage.join([1, 2]);
    stage.tell(Command::Delete);
    let deleted = stage.room.view(stage.clock);
    stage.wait(secs(1));
    stage.room = Room::new(bank(1), server(1), stage.clock, Bounds::default());
    stage.join([3]);
    stage.tell(Command::Merge(deleted.clone().into()));
    assert!(stage.room.find(&visitor(3)).is_some());
    assert!(stage.room.header().voids(deleted.header.epoch));
    assert!(!stage.room.header().voids(stage.room.header().epoch));
}

#[test]
fn nobody_is_in_a_deleted_room_and_nobody_comes_in() {
    let mut stage = deleted();
    let view = stage.room.view(stage.clock);
    assert_eq!((view.waiting(), view.inside), (0, 0));
    for n in [1, 2] {
        assert_eq!(stage.at(n), Standing::Ended(Ending::Gone));
    }
    let commands = [
        Command::Renew(vec![holder(1, 1)]),
        Command::Restore(vec![holder(2, 2)]),
        Command::Open,
        Command::Admit(5),
        Command::Settle,
        Command::Stock(Some(5)),
        Command::Delete,
    ];
    for command in commands {
        assert_eq!(stage.tell(command.clone()), Reply::NoRoom, "{command:?}");
    }
    assert_eq!(stage.room.next_due(), None);
}

#[test]
fn a_room_that_begins_again_is_empty_and_has_another_epoch() {
    let mut stage = deleted();
    let old = stage.room.header().clone();
    assert_eq!(again(&mut stage), Reply::Created(true));
    let new = stage.room.header().clone();
    assert!(new.epoch > old.epoch, "even in the same millisecond");
    assert!(new.version > old.version, "views go on counting");
    assert_eq!((new.state, new.issued), (RoomState::Open, Ordinal(0)));
    assert_eq!(new.policy.active_max, Some(2));
    assert_eq!(stage.join([7]), [Joined::New(Ordinal(1))]);
    assert_eq!(stage.inside(), [1]);
}

#[test]
fn a_room_that_is_there_is_not_made_again() {
    let mut stage = Stage::new(bank(1));
    stage.join([1]);
    assert_eq!(again(&mut stage), Reply::Created(false));
    assert_eq!(stage.inside(), [1]);
    assert_eq!(stage.room.header().policy.active_max, Some(1));
}

#[test]
fn a_store_that_forgot_the_deletion_is_told_of_it() {
    let mut stage = Stage::new(bank(1));
    stage.join([1, 2]);
    let mut forgetful = stage.clone();
    stage.tell(Command::Delete);
    forgetful.room.rehost(server(1));
    let memory = stage.room.view(stage.clock);
    forgetful.tell(Command::Merge(memory.into()));
    assert_eq!(forgetful.room.header().state, RoomState::Deleted);
    assert_eq!(forgetful.at(1), Standing::Ended(Ending::Gone));
}

#[test]
fn versions_go_on_counting_in_a_deleted_room_that_was_forgotten() {
    let mut stage = Stage::new(bank(1));
    let mut behind = stage.clone();
    stage.join([1, 2]);
    stage.tell(Command::Delete);
    let memory = stage.room.view(stage.clock);
    behind.room.rehost(server(1));
    behind.tell(Command::Merge(memory.clone().into()));
    let empty = Room::from_memory(&memory, server(1), stage.clock, Bounds::default());
    for room in [behind.room, empty] {
        let version = room.header().version;
        assert!(version > memory.header.version, "{version}");
    }
}

#[test]
fn a_node_that_missed_the_deletion_brings_nobody_back() {
    let mut stage = Stage::new(bank(1));
    stage.join([1, 2]);
    let memory = Arc::new(stage.room.view(stage.clock));
    stage.tell(Command::Delete);
    stage.tell(Command::Merge(Arc::clone(&memory)));
    assert_eq!(stage.room.header().state, RoomState::Deleted);
    again(&mut stage);
    stage.tell(Command::Merge(memory));
    assert_eq!(stage.room.header().issued, Ordinal(0), "another epoch");
}

#[test]
fn a_store_that_forgot_the_new_beginning_is_told_of_it() {
    let mut stage = deleted();
    let mut forgetful = stage.clone();
    stage.wait(Duration::from_secs(1));
    again(&mut stage);
    stage.join([9]);
    forgetful.room.rehost(server(1));
    forgetful.tell(Command::Merge(stage.room.view(stage.clock).into()));
    assert_eq!(forgetful.room.header().state, RoomState::Open);
    assert_eq!(forgetful.room.header().issued, Ordinal(1));
}
