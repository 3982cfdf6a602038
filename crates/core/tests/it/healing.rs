//! A store that forgets, and what the nodes and the visitors put back.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use ropeline_core::{
    Bits, Bounds, Command, Ending, Header, JoinKey, Joined, Joiner, Live, LoadError, Ordinal, Pass,
    Policy, Reply, Room, Saved, SavedPlace, Stamp, Standing, View,
};
use ropeline_testing::line::{Line, Tally, stories, tell};

use crate::{
    plain::{self, BOUNDS, PlainLine, server},
    rules::{Stage, bank, holder, joiner, park, secs, visitor},
};

const GONE: Standing = Standing::Ended(Ending::Gone);
const DONE: Standing = Standing::Ended(Ending::Done);
const IN_LINE: Standing = Standing::Live(Live::InLine);
const AT_DOOR: Standing = Standing::Live(Live::AtDoor { before: 0 });

impl Stage {
    fn memory(&self) -> Arc<View> {
        Arc::new(self.room.view(self.clock))
    }

    /// A failover: what has happened since `earlier` is lost.
    fn fails_over_to(&mut self, earlier: &Self) {
        self.room = earlier.room.clone();
        self.room.rehost(server(1));
    }

    /// The room is deleted, and begins again.
    fn create_again(&mut self, policy: Policy) {
        self.tell(Command::Delete);
        let create = Command::Create {
            policy: policy.into(),
            digest: None,
        };
        assert_eq!(self.tell(create), Reply::Created(true));
    }

    /// The same, and a node merges what it knows.
    fn heals_from(&mut self, earlier: &Self) {
        let memory = self.memory();
        self.fails_over_to(earlier);
        assert_eq!(self.tell(Command::Merge(memory)), Reply::Done);
    }
}

/// 1 inside, 2 and 3 in line; then 4 to 6 joined, and the store forgot these.
fn three_lost() -> Stage {
    let mut stage = Stage::new(bank(1));
    stage.join([1, 2, 3]);
    let earlier = stage.clone();
    stage.join([4, 5, 6]);
    stage.heals_from(&earlier);
    stage
}

mod fence {
    use super::*;

    #[test]
    fn a_room_on_another_server_changes_nothing_until_merged() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        let memory = stage.memory();
        stage.room.rehost(server(1));
        let before = stage.room.header().clone();
        let commands = [
            Command::Join(vec![joiner(3, None)]),
            Command::Renew(vec![holder(1, 1)]),
            Command::Restore(vec![holder(2, 2)]),
            Command::Mark(vec![Ordinal(2)]),
            Command::Leave(holder(2, 2)),
            Command::Finish(holder(1, 1)),
            Command::Revoke(visitor(1)),
            Command::Settle,
            Command::Admit(9),
            Command::Pause,
            Command::Resume,
            Command::Open,
            Command::Close,
            Command::Drain,
            Command::Reset,
            Command::Stock(Some(5)),
            Command::SetPolicy {
                policy: Arc::new(bank(9)),
                digest: None,
            },
        ];
        stage.wait(secs(100));
        for command in commands {
            assert_eq!(stage.tell(command), Reply::Fenced);
            assert_eq!(*stage.room.header(), before);
        }
        assert_eq!(stage.room.renew_pass(&holder(1, 1), stage.clock), None);
        stage.tell(Command::Merge(memory));
        assert!(!stage.room.is_fenced());
        assert!(
            matches!(stage.at(1), Standing::Live(Live::Inside(_))),
            "an outage uses up no pass"
        );
        stage.settle_after(secs(30));
        assert_eq!((stage.at(1), stage.inside()), (DONE, vec![2]));
    }

    #[test]
    fn while_nodes_merge_nobody_is_admitted() {
        let mut stage = Stage::new(bank(2));
        stage.join([1]);
        let earlier = stage.clone();
        stage.join([2]);
        stage.heals_from(&earlier);
        stage.restore(holder(2, 2));
        let second = stage.memory();
        stage.settle_after(Duration::from_millis(999));
        stage.tell(Command::Merge(second));
        assert_eq!((stage.inside(), stage.at_door()), (vec![1], vec![2]));
        assert_eq!(
            stage.room.next_due(),
            Some(stage.clock + Duration::from_millis(1))
        );
        stage.settle_after(Duration::from_millis(1));
        assert_eq!(stage.inside(), [1, 2]);
    }

    /// Where another server may take over, the former one may go on letting people through for a lease.
    #[test]
    fn behind_those_who_replace_servers_nobody_is_admitted_for_longer_than_a_lease() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        let mut memory = View::clone(&stage.memory());
        memory.header.term = 7;
        stage.tell(Command::Merge(memory.into()));
        assert_eq!(stage.room.header().term, 7);
        stage.tell(Command::Finish(holder(1, 1)));
        stage.settle_after(ropeline_core::LEASE);
        assert!(stage.inside().is_empty());
        stage.settle_after(Duration::from_millis(500));
        assert_eq!(stage.inside(), [2]);
    }

    #[test]
    fn from_the_first_merge_joins_are_held_for_a_second() {
        let mut stage = three_lost();
        let join = || Command::Join(vec![joiner(7, None)]);
        assert_eq!(stage.tell(join()), Reply::Held(secs(1)));
        stage.wait(Duration::from_millis(600));
        let memory = stage.memory();
        stage.tell(Command::Merge(memory));
        assert_eq!(
            stage.tell(join()),
            Reply::Held(Duration::from_millis(400)),
            "a second merge does not begin the second anew"
        );
        assert_eq!(stage.room.header().issued, Ordinal(6));
        stage.wait(Duration::from_millis(400));
        assert_eq!(stage.join([7]), [Joined::New(Ordinal(7))]);
    }

    #[test]
    fn a_move_without_loss_leaves_everything_as_it_was() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2, 3]);
        let same = stage.clone();
        stage.heals_from(&same);
        assert_eq!((stage.inside(), stage.in_line()), (vec![1], vec![2, 3]));
        assert_eq!(stage.room.header().lost, None);
        stage.wait(secs(1));
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.inside(), [2]);
    }

    #[test]
    fn each_reason_to_doubt_begins_one_generation_and_no_more() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        let before = stage.memory();
        let generation = |stage: &Stage| stage.room.header().generation;
        stage.room.rehost(server(1));
        stage.tell(Command::Merge(Arc::clone(&before)));
        assert_eq!(generation(&stage), 1, "another server");
        let first = stage.memory();
        stage.tell(Command::Merge(Arc::clone(&before)));
        stage.tell(Command::Merge(Arc::clone(&first)));
        assert_eq!(generation(&stage), 1, "nobody knows more");
        let mut later = View::clone(&first);
        later.header.term = 3;
        stage.tell(Command::Merge(Arc::new(later)));
        assert_eq!(generation(&stage), 2, "a later term");
        let mut other = View::clone(&stage.memory());
        other.header.server = server(9);
        stage.tell(Command::Merge(Arc::new(other.clone())));
        assert_eq!(
            generation(&stage),
            3,
            "another generation of the same number"
        );
        other.header.generation = 8;
        stage.tell(Command::Merge(Arc::new(other)));
        assert_eq!(generation(&stage), 9, "a higher one");
    }

    #[test]
    fn a_caller_that_knows_another_generation_or_a_later_term_has_to_merge_first() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        let known = stage.room.header().stamp();
        let settle = |stage: &mut Stage, stamp: &Stamp| {
            let clock = stage.clock;
            stage
                .room
                .apply_stamped(Command::Settle, stamp, clock)
                .reply
        };
        assert_eq!(settle(&mut stage, &known), Reply::Done);
        let later = Stamp {
            term: 1,
            ..known.clone()
        };
        assert_eq!(settle(&mut stage, &later), Reply::Fenced);
        let memory = stage.memory();
        stage.room.rehost(server(1));
        stage.tell(Command::Merge(memory));
        assert_eq!(settle(&mut stage, &known), Reply::Fenced);
        let adopted = stage.room.header().stamp();
        assert_eq!(settle(&mut stage, &adopted), Reply::Done);
    }

    /// Another server ran the room meanwhile, and may have let the same visitors in again.
    #[test]
    fn on_a_server_that_fell_behind_passes_last_as_long_as_they_had_left() {
        let mut former = Stage::new(bank(1));
        former.join([1, 2]);
        let mut stage = former.clone();
        stage.heals_from(&former);
        stage.wait(secs(40));
        let memory = stage.memory();
        former.room.rehost(server(2));
        former.wait(secs(40));
        former.tell(Command::Merge(memory));
        assert!(matches!(former.at(1), Standing::Live(Live::Inside(_))));
        former.settle_after(secs(29));
        assert!(matches!(former.at(1), Standing::Live(Live::Inside(_))));
        former.settle_after(secs(1));
        assert_eq!((former.at(1), former.inside()), (DONE, vec![2]));
    }

    #[test]
    fn every_version_of_a_generation_is_higher_than_those_of_the_one_before() {
        let mut stage = three_lost();
        let memory = stage.memory();
        stage.wait(secs(1));
        stage.join(10..=60);
        let shown = stage.room.header().version;
        let mut other = three_lost();
        other.room.rehost(server(2));
        other.tell(Command::Merge(memory));
        assert!(other.room.header().version > shown);
    }
}

mod told_again {
    use super::*;

    #[test]
    fn a_place_that_a_node_has_acknowledged_is_back_though_nobody_asks() {
        let mut stage = three_lost();
        stage.tell(Command::Retell(vec![holder(4, 4), holder(5, 5)]));
        assert_eq!([4, 5].map(|n| stage.at(n)), [IN_LINE; 2]);
        assert_eq!(stage.at(6), Standing::Lost);
    }

    #[test]
    fn a_place_that_has_ended_stays_ended() {
        let mut stage = three_lost();
        stage.tell(Command::Leave(holder(4, 4)));
        stage.tell(Command::Retell(vec![holder(4, 4)]));
        assert_eq!(stage.at(4), GONE);
    }

    /// A server that was replaced gave 4 to somebody who was never told, and came back.
    fn two_for_one_ordinal() -> Stage {
        let mut former = Stage::new(bank(1));
        former.join([1, 2, 3]);
        let mut stage = former.clone();
        former.join([94]);
        stage.join([4, 5]);
        stage.heals_from(&former);
        assert_eq!(stage.room.find(&visitor(94)), Some(Ordinal(4)));
        stage
    }

    #[test]
    fn takes_the_place_of_somebody_who_was_never_told() {
        let mut stage = two_for_one_ordinal();
        stage.tell(Command::Retell(vec![holder(4, 4)]));
        assert_eq!(stage.room.find(&visitor(94)), None);
        assert_eq!((stage.at(4), stage.ahead(4)), (IN_LINE, 2));
        assert_eq!(stage.restore(holder(94, 4)), GONE);
    }

    /// A server that was replaced gave them 4 without telling them, and came back.
    #[test]
    fn wins_over_a_lower_place_that_nobody_was_told_of() {
        let mut former = Stage::new(bank(1));
        former.join([1, 2, 3]);
        let mut stage = former.clone();
        former.join([5]);
        stage.join([4, 5, 6]);
        stage.heals_from(&former);
        assert_eq!(stage.room.find(&visitor(5)), Some(Ordinal(4)));
        stage.tell(Command::Retell(vec![holder(5, 5)]));
        assert_eq!(stage.at(5), IN_LINE);
        assert_eq!(stage.room.find(&visitor(5)), Some(Ordinal(5)));
        assert_eq!(
            stage.restore(holder(4, 4)),
            IN_LINE,
            "4 was given to somebody else"
        );
    }

    /// The ordinal was given again because nobody was left who knew of the first time.
    #[test]
    fn leaves_somebody_alone_who_joined_since() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        assert_eq!(stage.join([77]), [Joined::New(Ordinal(7))]);
        stage.tell(Command::Retell(vec![holder(7, 7)]));
        assert_eq!(stage.room.find(&visitor(77)), Some(Ordinal(7)));
        assert_eq!(stage.at(7), GONE);
    }

    #[test]
    fn leaves_somebody_alone_who_has_shown_a_token() {
        let mut stage = two_for_one_ordinal();
        assert_eq!(stage.restore(holder(94, 4)), IN_LINE);
        stage.tell(Command::Retell(vec![holder(4, 4)]));
        assert_eq!(stage.room.find(&visitor(94)), Some(Ordinal(4)));
        assert_eq!(stage.at(4), GONE);
    }
}

mod lost_places {
    use super::*;

    #[test]
    fn come_back_where_they_were_when_their_holders_ask() {
        let mut stage = three_lost();
        assert_eq!([4, 5, 6].map(|n| stage.at(n)), [Standing::Lost; 3]);
        assert_eq!([2, 3, 4, 6].map(|n| stage.ahead(n)), [0, 1, 2, 4]);
        assert_eq!(stage.restore(holder(6, 6)), IN_LINE);
        assert_eq!(stage.renew(holder(4, 4)), IN_LINE);
        assert_eq!(stage.in_line(), [2, 3, 4, 6]);
        assert_eq!([3, 4, 6].map(|n| stage.ahead(n)), [1, 2, 4]);
        assert_eq!(stage.room.header().counters.restored, 2);
    }

    #[test]
    fn are_never_given_to_anybody_else() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        assert_eq!(stage.join([7]), [Joined::New(Ordinal(7))]);
    }

    #[test]
    fn are_not_passed_until_their_holders_had_time_to_ask() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        stage.join([7]);
        for n in 1..=3 {
            stage.tell(Command::Finish(holder(n, n)));
        }
        stage.settle_after(Duration::from_millis(58_999));
        assert_eq!((stage.inside(), stage.in_line()), (vec![], vec![7]));
        assert_eq!(stage.room.header().head, Ordinal(3));
        stage.settle_after(Duration::from_millis(1));
        assert_eq!(stage.inside(), [7]);
        assert_eq!(stage.room.header().head, Ordinal(7));
    }

    #[test]
    fn have_at_least_the_presence_time_to_come_back() {
        let policy = Policy {
            presence_ttl: secs(90),
            ..park(9)
        };
        let mut stage = Stage::new(policy);
        let earlier = stage.clone();
        stage.join([1]);
        stage.heals_from(&earlier);
        let until = stage.room.header().lost.unwrap().until;
        assert_eq!(until, stage.clock + secs(90));
    }

    #[test]
    fn do_not_hold_up_the_door() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        let earlier = stage.clone();
        stage.join([2, 3]);
        stage.tell(Command::Finish(holder(1, 1)));
        stage.heals_from(&earlier);
        // 2 was inside when the store forgot: it is at the door, and let in once the nodes have merged.
        stage.wait(secs(1));
        assert_eq!(stage.at(1), DONE);
        assert!(matches!(
            stage.restore(holder(2, 2)),
            Standing::Live(Live::Inside(_))
        ));
        stage.tell(Command::Finish(holder(2, 2)));
        assert_eq!(stage.restore(holder(3, 3)), IN_LINE, "the line waits");
        stage.settle_after(secs(59));
        assert_eq!(stage.inside(), [3]);
    }

    #[test]
    fn come_to_the_door_after_they_were_stepped_over() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        stage.join([7, 8]);
        for n in 1..=3 {
            stage.tell(Command::Finish(holder(n, n)));
        }
        stage.settle_after(secs(59));
        assert_eq!((stage.inside(), stage.in_line()), (vec![7], vec![8]));
        assert_eq!(stage.restore(holder(5, 5)), AT_DOOR);
        assert_eq!(stage.ahead(8), 0);
        stage.tell(Command::Finish(holder(7, 7)));
        assert_eq!((stage.inside(), stage.in_line()), (vec![5], vec![8]));
    }

    #[test]
    fn can_be_given_up_unseen() {
        let mut stage = three_lost();
        stage.tell(Command::Leave(holder(4, 4)));
        assert_eq!(stage.at(4), GONE);
        assert_eq!(stage.restore(holder(4, 4)), GONE);
        assert_eq!(stage.ahead(5), 2);
    }

    #[test]
    fn a_business_that_was_done_inside_is_done() {
        let mut stage = Stage::new(bank(2));
        let earlier = stage.clone();
        stage.join([1, 2]);
        stage.heals_from(&earlier);
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.at(1), DONE);
        assert_eq!(stage.restore(holder(1, 1)), DONE);
    }
}

mod ended_places {
    use super::*;

    #[test]
    fn never_come_back() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2, 3, 4]);
        let earlier = stage.clone();
        stage.tell(Command::Leave(holder(3, 3)));
        stage.tell(Command::Finish(holder(1, 1)));
        stage.tell(Command::Revoke(visitor(4)));
        stage.heals_from(&earlier);
        assert_eq!([1, 3, 4].map(|n| stage.at(n)), [DONE, GONE, GONE]);
        let asked = [1, 3, 4].map(|n| stage.restore(holder(n, n)));
        assert_eq!(asked, [DONE, GONE, GONE]);
        stage.settle_after(secs(1));
        assert_eq!(stage.inside(), [2]);
    }

    #[test]
    fn stay_ended_after_a_forgotten_reset() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        let earlier = stage.clone();
        stage.tell(Command::Reset);
        stage.join([3]);
        stage.heals_from(&earlier);
        stage.wait(secs(1));
        assert_eq!([1, 2].map(|n| stage.restore(holder(n, n))), [GONE; 2]);
        assert!(matches!(
            stage.restore(holder(3, 3)),
            Standing::Live(Live::Inside(_))
        ));
    }
}

mod joined_again {
    use super::*;

    #[test]
    fn the_lower_ordinal_stays() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        assert_eq!(stage.join([4]), [Joined::New(Ordinal(7))]);
        assert_eq!(stage.restore(holder(4, 4)), IN_LINE);
        assert_eq!(stage.in_line(), [2, 3, 4]);
        assert_eq!(stage.restore(holder(4, 7)), GONE);
    }

    #[test]
    fn whoever_is_inside_stays_inside() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        stage.join([4]);
        for n in 1..=3 {
            stage.tell(Command::Finish(holder(n, n)));
        }
        stage.settle_after(secs(60));
        assert_eq!(stage.inside(), [7]);
        assert_eq!(stage.restore(holder(4, 4)), GONE);
        assert_eq!(stage.inside(), [7]);
    }

    #[test]
    fn the_higher_of_two_lost_ones_is_gone() {
        let mut stage = three_lost();
        stage.restore(holder(9, 4));
        assert_eq!(stage.restore(holder(9, 6)), GONE);
        assert_eq!(stage.in_line(), [2, 3, 4]);
    }
}

mod merging {
    use super::*;

    #[test]
    fn what_the_nodes_saw_pass_by_goes_to_the_door() {
        let mut stage = Stage::new(bank(2));
        stage.tell(Command::Pause);
        stage.join([1, 2, 3]);
        let earlier = stage.clone();
        stage.tell(Command::Resume);
        assert_eq!(stage.inside(), [1, 2]);
        stage.heals_from(&earlier);
        assert_eq!((stage.at_door(), stage.in_line()), (vec![1, 2], vec![3]));
        stage.wait(secs(1));
        stage.tell(Command::Resume);
        assert_eq!((stage.inside(), stage.in_line()), (vec![1, 2], vec![3]));
    }

    #[test]
    fn a_missing_room_is_restored_from_a_view() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2, 3, 4]);
        stage.tell(Command::Leave(holder(3, 3)));
        stage.tell(Command::Close);
        let memory = stage.memory();
        stage.room = Room::from_memory(&memory, server(1), stage.clock, Bounds::default());
        assert!(!stage.room.is_fenced());
        assert!(stage.room.header().version > memory.header.version);
        assert_eq!(stage.room.header().epoch, memory.header.epoch);
        assert_eq!(
            stage.tell(Command::Join(vec![joiner(9, None)])),
            Reply::Held(secs(1))
        );
        assert_eq!(stage.restore(holder(1, 1)), AT_DOOR);
        stage.wait(secs(1));
        assert!(matches!(
            stage.restore(holder(1, 1)),
            Standing::Live(Live::Inside(_))
        ));
        assert_eq!(stage.restore(holder(3, 3)), GONE);
        assert_eq!(stage.restore(holder(4, 4)), IN_LINE);
        assert_eq!([2, 4].map(|n| stage.ahead(n)), [0, 1], "2 is still counted");
        assert_eq!(stage.join([9]), [Joined::Closed]);
        stage.tell(Command::Open);
        assert_eq!(stage.join([9]), [Joined::New(Ordinal(5))]);
    }

    #[test]
    fn a_second_node_that_knows_the_same_changes_nothing() {
        let mut line = PlainLine::new(bank(1));
        let joiners = (1..=3).map(|n| Joiner {
            visitor: plain::holder(n, 0).visitor,
            key: None,
        });
        line.settle(Command::Join(joiners.collect()));
        let memory = Arc::new(line.forget(0));
        line.settle(Command::Merge(Arc::clone(&memory)));
        let restore = Command::Restore(vec![plain::holder(2, 2)]);
        assert_eq!(
            line.settle(restore).reply,
            Reply::Standing(vec![(plain::holder(2, 2), IN_LINE)])
        );
        let before = state(&line.room);
        line.settle(Command::Merge(memory));
        assert_eq!(state(&line.room), before);
    }

    #[test]
    fn a_memory_of_an_earlier_room_is_worth_nothing() {
        let mut stage = Stage::new(bank(1));
        stage.join(1..=9);
        let old = stage.memory();
        stage.wait(secs(60));
        stage.create_again(bank(1));
        stage.join([1, 2]);
        stage.room.rehost(server(1));
        stage.tell(Command::Merge(old));
        assert!(!stage.room.is_fenced());
        assert_eq!(stage.room.header().issued, Ordinal(2));
        assert_eq!((stage.inside(), stage.in_line()), (vec![1], vec![2]));
    }

    /// A node that knew nothing has created the room while those who remember it were out of reach.
    #[test]
    fn a_room_that_was_created_again_for_want_of_memory_goes_on_as_the_first_one() {
        let mut first = Stage::new(bank(1));
        first.join(1..=9);
        first.tell(Command::Leave(holder(5, 5)));
        let memory = first.memory();
        let mut stage = first;
        stage.wait(secs(60));
        let leap = Ordinal(1_000);
        stage.room = Room::new_behind(leap, bank(1), server(0), stage.clock, Bounds::default());
        assert_eq!(stage.join([21]), [Joined::New(Ordinal(1_001))]);
        stage.tell(Command::Merge(Arc::clone(&memory)));
        let header = stage.room.header();
        assert_eq!(header.epoch, memory.header.epoch);
        assert!(!header.voids(memory.header.epoch) && !header.voids(stage.clock));
        stage.wait(secs(1));
        assert_eq!(stage.restore(holder(5, 5)), GONE);
        assert_eq!(stage.restore(holder(7, 7)), AT_DOOR);
        assert_eq!(stage.inside(), [1_001]);
        assert_eq!(stage.join([22]), [Joined::New(Ordinal(1_002))]);
    }

    #[test]
    fn a_store_that_went_back_to_an_earlier_room_starts_over() {
        let mut stage = Stage::new(bank(1));
        stage.join(1..=9);
        stage.tell(Command::Leave(holder(4, 4)));
        let earlier = stage.clone();
        stage.wait(secs(60));
        stage.create_again(bank(2));
        stage.join([21, 22, 23]);
        let memory = stage.memory();
        stage.heals_from(&earlier);
        let header = stage.room.header();
        assert_eq!(header.epoch, memory.header.epoch);
        assert_eq!(header.issued, Ordinal(3));
        assert_eq!(header.policy.active_max, Some(2));
        assert_eq!(stage.room.find(&visitor(5)), None);
        stage.wait(secs(1));
        assert!(matches!(
            stage.restore(holder(21, 1)),
            Standing::Live(Live::Inside(_))
        ));
        assert_eq!(stage.restore(holder(23, 3)), IN_LINE);
    }

    /// All that a merge decides. The version grows with every merge; and where the settling between two
    /// merges finds a pass run out that an operator had revoked, how it ended depends on the order.
    fn state(room: &Room) -> impl PartialEq + std::fmt::Debug + use<> {
        let Header {
            epoch,
            issued,
            head,
            floor,
            base,
            lost,
            joins_held_until,
            stock,
            stock_version,
            ..
        } = room.header().clone();
        let each = (1..=issued.0).map(Ordinal).map(|ordinal| {
            let place = room.saved_place(ordinal);
            let ended = room.gone().contains(ordinal.0) || room.done().contains(ordinal.0);
            let place = place.map(|(visitor, live)| (visitor.to_owned(), live));
            (place, ended)
        });
        (
            (epoch, issued, head, floor, base, lost, joins_held_until),
            (stock, stock_version),
            each.collect::<Vec<_>>(),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        /// Two nodes know of two moments of the same story, and the store of an earlier one.
        #[test]
        fn the_order_of_the_nodes_does_not_matter(
            story in stories(80, 0),
            cuts in prop::array::uniform3(0_usize..80),
        ) {
            let mut cuts = cuts.map(|cut| cut.min(story.steps.len()));
            cuts.sort_unstable();
            let [store, one, other] = cuts.map(|cut| {
                let mut part = story.clone();
                part.steps.truncate(cut);
                let mut line = PlainLine::new(part.policy.clone());
                tell(&mut line, &part, &mut Tally::default()).unwrap();
                // Admissions between the merges would depend on what was merged first.
                line.settle(Command::Pause);
                line
            });
            let clock = other.clock;
            let (one, other) = (one.room.view(clock), other.room.view(clock));
            let merged = |views: [&View; 2]| {
                let mut room = store.room.clone();
                room.rehost(server(9));
                for view in views {
                    let mut more = room.apply(Command::Merge(Arc::new(view.clone())), clock).more;
                    while more {
                        more = room.apply(Command::Settle, clock).more;
                    }
                }
                room
            };
            prop_assert_eq!(state(&merged([&one, &other])), state(&merged([&other, &one])));
        }
    }
}

mod saving {
    use super::*;

    /// 1 done, 2 gone, 3 inside, 4 in line.
    fn four() -> Stage {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2, 3, 4]);
        stage.tell(Command::Leave(holder(2, 2)));
        stage.tell(Command::Finish(holder(1, 1)));
        stage
    }

    fn refused(change: impl Fn(&mut Saved)) -> LoadError {
        let mut saved = four().room.saved();
        change(&mut saved);
        Room::load(saved, Bounds::default()).unwrap_err()
    }

    fn place(n: u64, ordinal: u64, live: Live) -> SavedPlace {
        SavedPlace {
            ordinal: Ordinal(ordinal),
            visitor: visitor(n),
            live,
        }
    }

    fn problem(ordinal: u64, problem: &'static str) -> LoadError {
        LoadError {
            ordinal: Ordinal(ordinal),
            problem,
        }
    }

    #[test]
    fn a_place_is_not_both_live_and_ended() {
        for ended in [1, 2] {
            let error = refused(|saved| {
                saved
                    .places
                    .push(place(ended, ended, Live::AtDoor { before: 0 }));
            });
            assert_eq!(error, problem(ended, "both live and ended"));
        }
    }

    #[test]
    fn a_place_was_given_by_the_room() {
        for ordinal in [5, u64::MAX] {
            let error = refused(|saved| saved.places.push(place(9, ordinal, Live::InLine)));
            assert_eq!(error, problem(ordinal, "one that was never given"));
        }
    }

    #[test]
    fn a_visitor_has_one_place() {
        let error = refused(|saved| {
            saved.header.issued = Ordinal(5);
            saved.places.push(place(4, 5, Live::InLine));
        });
        assert_eq!(error, problem(5, "one of two places of a visitor"));
        let error = refused(|saved| saved.places.push(place(9, 4, Live::InLine)));
        assert_eq!(error, problem(4, "one of two places of a visitor"));
    }

    #[test]
    fn a_place_is_on_its_side_of_the_head() {
        let pass = Pass {
            expires_at: four().clock,
            since: four().clock,
        };
        let wrong = "in a state that its side of the head excludes";
        for live in [
            Live::AtDoor { before: 0 },
            Live::Aside(pass.since),
            Live::Inside(pass),
        ] {
            assert_eq!(
                refused(|saved| saved.places[1].live = live),
                problem(4, wrong)
            );
        }
        let below = refused(|saved| saved.places[0].live = Live::InLine);
        assert_eq!(below, problem(3, wrong));
    }

    #[test]
    fn rows_that_a_reset_left_behind_are_no_places() {
        let mut stage = four();
        let before = stage.room.saved();
        stage.tell(Command::Reset);
        stage.join([4]);
        let mut after = stage.room.saved();
        after.places.extend(before.places);
        let room = Room::load(after, Bounds::default()).unwrap();
        assert_eq!(room.find(&visitor(3)), None);
        assert_eq!(room.find(&visitor(4)), Some(Ordinal(5)));
    }

    #[test]
    fn a_key_is_known_after_a_restart() {
        let mut stage = four();
        let key = JoinKey { key: 7, body: 9 };
        stage.tell(Command::Join(vec![joiner(9, Some(key))]));
        let keys = stage.room.take_changes().keys;
        assert_eq!(keys, [key]);
        let round = stage.room.header().keys.number;
        let mut saved = stage.room.saved();
        saved.keys = vec![(round, key)];
        stage.room = Room::load(saved, Bounds::default()).unwrap();
        assert_eq!(
            stage.tell(Command::Join(vec![joiner(9, Some(key))])),
            Reply::Joined(vec![Joined::Repeated(Ordinal(5))])
        );
        let stolen = JoinKey { body: 0, ..key };
        assert_eq!(
            stage.tell(Command::Join(vec![joiner(8, Some(stolen))])),
            Reply::Joined(vec![Joined::KeyReused])
        );
    }

    #[test]
    fn what_changed_is_told_once() {
        let mut stage = four();
        let changes = stage.room.take_changes();
        assert!(
            [1, 2, 3, 4]
                .iter()
                .all(|n| changes.places.contains(&Ordinal(*n)))
        );
        assert_eq!(
            (changes.gone_blocks, changes.done_blocks),
            (vec![0], vec![0])
        );
        assert!(stage.room.take_changes().is_empty());
        stage.wait(secs(1));
        stage.renew(holder(3, 3));
        assert_eq!(stage.room.take_changes().renewed, [Ordinal(3)]);
    }

    /// A disk on which only what was told to have changed is written.
    #[derive(Default)]
    struct Disk {
        places: std::collections::BTreeMap<Ordinal, SavedPlace>,
        gone: std::collections::BTreeMap<u64, ropeline_core::Block>,
        done: std::collections::BTreeMap<u64, ropeline_core::Block>,
        imported: std::collections::BTreeMap<u64, ropeline_core::Block>,
        claimed: std::collections::BTreeMap<u64, ropeline_core::Block>,
        seen: std::collections::BTreeMap<(u64, u64), ropeline_core::Block>,
        keys: Vec<(u64, JoinKey)>,
    }

    impl Disk {
        fn write(&mut self, room: &mut Room) {
            let changes = room.take_changes();
            for ordinal in changes.places.into_iter().chain(changes.renewed) {
                match room.saved_place(ordinal) {
                    Some((name, live)) => {
                        let visitor = ropeline_core::Visitor::parse(name).unwrap();
                        let place = SavedPlace {
                            ordinal,
                            visitor,
                            live,
                        };
                        self.places.insert(ordinal, place);
                    }
                    None => drop(self.places.remove(&ordinal)),
                }
            }
            for block in changes.gone_blocks {
                self.gone.insert(block, room.gone().block(block));
            }
            for block in changes.done_blocks {
                self.done.insert(block, room.done().block(block));
            }
            for block in changes.imported_blocks {
                self.imported.insert(block, room.imported().block(block));
            }
            for block in changes.claimed_blocks {
                self.claimed.insert(block, room.claimed().block(block));
            }
            for (round, block) in changes.seen_blocks {
                if let Some(bits) = room.seen(round) {
                    self.seen.insert((round, block), bits.block(block));
                }
            }
            let round = room.header().keys.number;
            self.keys
                .extend(changes.keys.into_iter().map(|key| (round, key)));
        }

        fn read(self, header: Header) -> Room {
            let number = header.presence.number;
            let round = |round: u64| {
                let blocks = self.seen.iter().filter(move |((of, _), _)| *of == round);
                Bits::from_blocks(blocks.map(|((_, block), bits)| (*block, *bits)))
            };
            let seen = (number.saturating_sub(2)..=number).map(|n| (n, round(n)));
            let saved = Saved {
                seen: seen.collect(),
                header,
                places: self.places.into_values().collect(),
                gone: Bits::from_blocks(self.gone),
                done: Bits::from_blocks(self.done),
                imported: Bits::from_blocks(self.imported),
                claimed: Bits::from_blocks(self.claimed),
                keys: self.keys,
            };
            Room::load(saved, BOUNDS).expect("what was written is a room")
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// The two rooms are told the same afterwards and answer the same.
        #[test]
        fn a_room_goes_on_from_disk_as_if_nothing_had_happened(
            story in stories(80, 0),
            rest in stories(40, 0),
        ) {
            let mut line = PlainLine::new(story.policy.clone());
            let mut disk = Disk::default();
            for step in &story.steps {
                let part = ropeline_testing::line::Story {
                    policy: story.policy.clone(),
                    steps: vec![step.clone()],
                };
                // One step at a time, as a store commits; the judge has no memory between them.
                drop(tell(&mut line, &part, &mut Tally::default()));
                disk.write(&mut line.room);
            }
            let written = disk.read(line.room.header().clone());
            let carried = Room::load(line.room.saved(), BOUNDS).unwrap();
            let [mut written, mut carried] = [written, carried].map(|room| {
                let mut again = PlainLine::new(story.policy.clone());
                (again.room, again.clock) = (room, line.clock);
                again
            });
            let before = facts(&mut line);
            drop(tell(&mut line, &rest, &mut Tally::default()));
            for again in [&mut written, &mut carried] {
                prop_assert_eq!(facts(again), before.clone());
                drop(tell(again, &rest, &mut Tally::default()));
                prop_assert_eq!(facts(again), facts(&mut line));
            }
        }
    }

    fn facts(line: &mut PlainLine) -> impl PartialEq + Clone + std::fmt::Debug + use<> {
        let header = line.room.header().clone();
        let places = (1..=header.issued.0).map(|n| {
            let place = line.room.saved_place(Ordinal(n));
            place.map(|(visitor, live)| (visitor.to_owned(), live))
        });
        let places: Vec<_> = places.collect();
        let view = line.view();
        let ended: Vec<_> = (1..=header.issued.0)
            .map(|n| view.ending(Ordinal(n)))
            .collect();
        (header, places, ended, (view.inside, view.aside, view.door))
    }
}

/// Corners where time has run out and nobody has settled yet, or the nodes know different things.
mod corners {
    use super::*;

    #[test]
    fn a_token_for_a_place_that_another_holds_does_nothing() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        stage.tell(Command::Leave(holder(9, 2)));
        assert_eq!(stage.at(2), IN_LINE);
    }
    #[test]
    fn a_token_for_a_place_that_another_holds_is_not_put_back() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        stage.restore(holder(9, 2));
        assert_eq!(stage.at(2), IN_LINE);
    }
    #[test]
    fn a_pass_that_ran_out_stays_done_when_its_visitor_is_revoked() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.wait(secs(30));
        assert_eq!(stage.at(1), DONE);
        stage.tell(Command::Revoke(visitor(1)));
        assert_eq!(stage.at(1), DONE);
    }
    #[test]
    fn a_pass_that_ran_out_stays_done_through_a_reset() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.wait(secs(30));
        stage.tell(Command::Reset);
        assert_eq!(stage.at(1), DONE);
    }
    #[test]
    fn a_missed_turn_past_its_time_does_not_come_back() {
        let policy = Policy {
            presence_ttl: secs(20),
            ..bank(1)
        };
        let mut stage = Stage::new(policy);
        stage.join([1, 2]);
        for _ in 0..2 {
            stage.settle_after(secs(10));
        }
        stage.settle_after(secs(10));
        assert_eq!(stage.aside(), [2]);
        stage.wait(secs(3_600));
        assert_eq!(stage.restore(holder(2, 2)), GONE);
    }
    #[test]
    fn a_lost_place_comes_back_after_the_new_pass_ran_out() {
        let mut stage = three_lost();
        stage.wait(secs(1));
        stage.join([4]);
        for n in 1..=3 {
            stage.tell(Command::Finish(holder(n, n)));
        }
        stage.settle_after(secs(60));
        assert_eq!(stage.inside(), [7]);
        stage.wait(secs(30));
        assert_ne!(stage.restore(holder(4, 4)), GONE);
    }
    #[test]
    fn switching_presence_off_and_on_makes_nobody_absent_at_once() {
        let policy = Policy {
            presence_ttl: secs(20),
            pass_ttl: secs(36_000),
            ..bank(1)
        };
        let off = Policy {
            presence_ttl: secs(0),
            ..policy.clone()
        };
        let mut stage = Stage::new(policy.clone());
        stage.join([1, 2]);
        for _ in 0..2 {
            stage.settle_after(secs(10));
        }
        stage.tell(Command::SetPolicy {
            policy: off.into(),
            digest: None,
        });
        stage.wait(secs(3_600));
        stage.tell(Command::SetPolicy {
            policy: policy.into(),
            digest: None,
        });
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.inside(), [2]);
    }
    #[test]
    fn a_key_is_forgotten_in_a_silent_room_too() {
        let mut stage = Stage::new(bank(1));
        let key = JoinKey { key: 7, body: 9 };
        stage.tell(Command::Join(vec![joiner(9, Some(key))]));
        stage.wait(secs(24 * 3_600));
        let stolen = JoinKey { body: 0, ..key };
        assert_eq!(
            stage.tell(Command::Join(vec![joiner(8, Some(stolen))])),
            Reply::Joined(vec![Joined::New(Ordinal(2))])
        );
    }
    #[test]
    fn a_view_shows_who_is_inside_below_base() {
        let bounds = Bounds {
            base_trail: 0,
            base_step: 65_536,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, park(200_000));
        stage.join(1..=65_536);
        let view = stage.room.view(stage.clock);
        assert_eq!(view.locate(Ordinal(1)), ropeline_core::Located::PassedBy);
    }
    #[test]
    fn room_time_does_not_run_back_when_restored_from_a_view() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.clock = stage.clock - secs(3_600);
        stage.tell(Command::Settle);
        let memory = stage.memory();
        let room = Room::from_memory(&memory, server(1), stage.clock, Bounds::default());
        assert!(room.now(stage.clock) >= memory.as_of);
    }
    #[test]
    fn an_ended_place_below_the_nodes_base_stays_ended() {
        let bounds = Bounds {
            base_trail: 0,
            base_step: 65_536,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, park(200_000));
        stage.join([1]);
        let earlier = stage.clone();
        stage.tell(Command::Finish(holder(1, 1)));
        stage.join(2..=65_536);
        assert_eq!(stage.at(1), DONE);
        stage.heals_from(&earlier);
        assert_eq!(stage.at(1), DONE);
    }
}
