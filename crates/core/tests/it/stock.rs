//! What is left to sell: shown to those who wait, and nothing else.

use std::sync::Arc;

use ropeline_core::{Bounds, Command, Header, Joined, Ordinal, Reply, Room, RoomState, View};

use crate::{
    plain::server,
    rules::{Stage, bank, holder},
};

impl Stage {
    fn stock(&mut self, left: Option<u64>) -> &Header {
        assert_eq!(self.tell(Command::Stock(left)), Reply::Done);
        self.room.header()
    }

    fn view(&self) -> View {
        self.room.view(self.clock)
    }
}

#[test]
fn a_room_shows_what_it_was_last_told() {
    let mut stage = Stage::new(bank(1));
    assert_eq!(stage.room.header().stock, None);
    for left in [Some(120), Some(119), Some(0), Some(1), None] {
        let before = stage.room.header().version;
        let header = stage.stock(left);
        assert_eq!((header.stock, header.version), (left, before + 1));
    }
}

#[test]
fn the_same_once_more_changes_nothing() {
    let mut stage = Stage::new(bank(1));
    for left in [None, Some(7)] {
        stage.stock(left);
        let before = stage.room.header().clone();
        assert_eq!(*stage.stock(left), before, "{left:?}");
    }
}

#[test]
fn where_nothing_is_left_the_line_goes_on() {
    let mut stage = Stage::new(bank(1));
    stage.join([1, 2]);
    stage.stock(Some(0));
    assert_eq!(stage.join([3]), [Joined::New(Ordinal(3))]);
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!((stage.inside(), stage.in_line()), (vec![2], vec![3]));
}

#[test]
fn only_an_open_room_is_sold_out() {
    let mut stage = Stage::new(bank(1));
    stage.join([1]);
    let words = |stage: &Stage| (stage.view().word_for_visitors(), stage.view().state_word());
    stage.stock(Some(1));
    assert_eq!(words(&stage), ("OPEN", "OPEN"));
    stage.stock(Some(0));
    assert_eq!(words(&stage), ("SOLD_OUT", "OPEN"));
    stage.tell(Command::Pause);
    assert_eq!(words(&stage), ("PAUSED", "PAUSED"));
    stage.tell(Command::Resume);
    stage.tell(Command::Drain);
    assert_eq!(words(&stage), ("DRAINING", "DRAINING"));
    stage.tell(Command::Close);
    assert_eq!(words(&stage), ("CLOSED", "CLOSED"));
    stage.tell(Command::Open);
    stage.stock(None);
    assert_eq!(words(&stage), ("OPEN", "OPEN"));
}

#[test]
fn a_reset_leaves_it_and_a_new_beginning_does_not() {
    let mut stage = Stage::new(bank(1));
    stage.stock(Some(7));
    stage.tell(Command::Reset);
    assert_eq!(stage.room.header().stock, Some(7));
    stage.tell(Command::Delete);
    let header = stage.room.header();
    assert_eq!((header.state, header.stock), (RoomState::Deleted, None));
    let (policy, digest) = (Arc::new(bank(1)), None);
    stage.tell(Command::Create { policy, digest });
    let header = stage.room.header();
    assert_eq!((header.stock, header.stock_version), (None, 0));
}

#[test]
fn a_missing_room_has_what_a_node_remembers() {
    let mut stage = Stage::new(bank(1));
    stage.stock(Some(7));
    let room = Room::from_memory(&stage.view(), server(1), stage.clock, Bounds::default());
    assert_eq!(room.header().stock, Some(7));
}

/// The newest word counts, whoever brings it first, even one that takes back an earlier one.
#[test]
fn after_a_failover_what_was_told_last_is_so() {
    for last in [Some(3), None] {
        let mut stage = Stage::new(bank(1));
        stage.stock(Some(9));
        let lagging = stage.view();
        let earlier = stage.room.clone();
        stage.join([1]);
        stage.stock(last);
        let newest = stage.view();
        for memories in [[&lagging, &newest], [&newest, &lagging]] {
            stage.room = earlier.clone();
            stage.room.rehost(server(1));
            for memory in memories {
                stage.tell(Command::Merge(Arc::new(memory.clone())));
            }
            assert_eq!(stage.room.header().stock, last);
        }
    }
}

/// A node that lags behind merges first, and the version passes the one that the newest word had.
#[test]
fn merges_before_it_do_not_make_the_newest_word_old() {
    let mut stage = Stage::new(bank(1));
    stage.stock(Some(9));
    let lagging = Arc::new(stage.view());
    let earlier = stage.room.clone();
    stage.stock(Some(3));
    let newest = Arc::new(stage.view());
    stage.room = earlier;
    stage.room.rehost(server(1));
    for _ in 0..3 {
        stage.tell(Command::Merge(Arc::clone(&lagging)));
    }
    assert!(stage.room.header().version > newest.header.version);
    stage.tell(Command::Merge(newest));
    assert_eq!(stage.room.header().stock, Some(3));
}

#[test]
fn a_store_that_went_back_to_an_earlier_room_has_that_of_the_later_one() {
    let mut stage = Stage::new(bank(1));
    stage.stock(Some(9));
    let earlier = stage.room.clone();
    stage.tell(Command::Delete);
    let (policy, digest) = (Arc::new(bank(1)), None);
    stage.tell(Command::Create { policy, digest });
    let memory = Arc::new(stage.view());
    stage.room = earlier;
    stage.room.rehost(server(1));
    stage.tell(Command::Merge(memory));
    assert_eq!(stage.room.header().stock, None);
}
