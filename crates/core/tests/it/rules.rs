//! The rules one at a time, each as a short story.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use ropeline_core::{
    Bounds, Command, Departure, Ending, Holder, Identity, JoinKey, Joined, Joiner, Live, Located,
    Ordinal, Pass, Policy, Reply, Room, RoomState, Standing, Timestamp, UserId, Visitor,
};
use ropeline_testing::line::{Line, START, stories, tell};

use crate::plain::{PlainLine, server};

const GONE: Standing = Standing::Ended(Ending::Gone);
const DONE: Standing = Standing::Ended(Ending::Done);

/// A room and its clock. Visitor `n` is the one who takes ordinal `n` where everybody joins once.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) room: Room,
    pub(crate) clock: Timestamp,
}

impl Stage {
    pub(crate) fn new(policy: Policy) -> Self {
        Self::within(Bounds::default(), policy)
    }

    pub(crate) fn within(bounds: Bounds, policy: Policy) -> Self {
        let policy = policy.validated().expect("a story has a valid policy");
        Self {
            room: Room::new(policy, server(0), START, bounds),
            clock: START,
        }
    }

    /// Carries out a command and settles until nothing is left to do.
    pub(crate) fn tell(&mut self, command: Command) -> Reply {
        let mut outcome = self.room.apply(command, self.clock);
        let reply = outcome.reply.clone();
        while outcome.more {
            outcome = self.room.apply(Command::Settle, self.clock);
        }
        reply
    }

    pub(crate) fn join(&mut self, visitors: impl IntoIterator<Item = u64>) -> Vec<Joined> {
        let joiners = visitors.into_iter().map(|n| joiner(n, None)).collect();
        match self.tell(Command::Join(joiners)) {
            Reply::Joined(joined) => joined,
            reply => panic!("{reply:?}"),
        }
    }

    /// Time passes and nobody calls.
    pub(crate) fn wait(&mut self, by: Duration) {
        self.clock = self.clock + by;
    }

    /// Time passes, and then somebody settles.
    pub(crate) fn settle_after(&mut self, by: Duration) {
        self.wait(by);
        self.tell(Command::Settle);
    }

    pub(crate) fn renew(&mut self, holder: Holder) -> Standing {
        standing_in(&self.tell(Command::Renew(vec![holder])))
    }

    pub(crate) fn restore(&mut self, holder: Holder) -> Standing {
        standing_in(&self.tell(Command::Restore(vec![holder])))
    }

    pub(crate) fn mark(&mut self, ordinals: impl IntoIterator<Item = u64>) {
        self.tell(Command::Mark(ordinals.into_iter().map(Ordinal).collect()));
    }

    /// Where the visitor stands whose ordinal has the same number.
    pub(crate) fn at(&self, n: u64) -> Standing {
        self.room.standing(&holder(n, n), self.clock)
    }

    pub(crate) fn pass(&self, n: u64) -> Pass {
        match self.at(n) {
            Standing::Live(Live::Inside(pass)) => pass,
            standing => panic!("{n} is not inside but {standing:?}"),
        }
    }

    pub(crate) fn ahead(&self, n: u64) -> u64 {
        match self.room.view(self.clock).locate(Ordinal(n)) {
            Located::InLine { ahead, .. } => ahead,
            located => panic!("{n} is not in line but {located:?}"),
        }
    }

    pub(crate) fn inside(&self) -> Vec<u64> {
        self.those(|live| matches!(live, Live::Inside(_)))
    }

    pub(crate) fn in_line(&self) -> Vec<u64> {
        self.those(|live| *live == Live::InLine)
    }

    pub(crate) fn aside(&self) -> Vec<u64> {
        self.those(|live| matches!(live, Live::Aside(_)))
    }

    pub(crate) fn at_door(&self) -> Vec<u64> {
        self.those(|live| matches!(live, Live::AtDoor { .. }))
    }

    fn those(&self, wanted: impl Fn(&Live) -> bool) -> Vec<u64> {
        let all = 1..=self.room.header().issued.0;
        let live = |n: &u64| self.room.saved_place(Ordinal(*n));
        all.filter(|n| live(n).is_some_and(|(_, live)| wanted(&live)))
            .collect()
    }

    pub(crate) fn change(&mut self, change: impl Fn(&mut Policy)) {
        let mut policy = Arc::clone(&self.room.header().policy);
        change(Arc::make_mut(&mut policy));
        self.tell(Command::SetPolicy {
            policy,
            digest: None,
        });
    }

    fn depart(&mut self, command: Command) -> Departure {
        match self.tell(command) {
            Reply::Departed(departure) => departure,
            reply => panic!("{reply:?}"),
        }
    }
}

fn standing_in(reply: &Reply) -> Standing {
    match reply {
        Reply::Standing(standings) => standings[0].1,
        reply => panic!("{reply:?}"),
    }
}

pub(crate) fn visitor(n: u64) -> Visitor {
    Visitor::stated(&UserId::parse(&n.to_string()).unwrap())
}

pub(crate) fn holder(n: u64, ordinal: u64) -> Holder {
    Holder {
        visitor: visitor(n),
        ordinal: Ordinal(ordinal),
    }
}

pub(crate) fn joiner(n: u64, key: Option<JoinKey>) -> Joiner {
    Joiner {
        visitor: visitor(n),
        key,
    }
}

pub(crate) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Bank counter: so many inside.
pub(crate) fn bank(cap: u64) -> Policy {
    Policy {
        batch: None,
        active_max: Some(cap),
        ..park(1)
    }
}

/// Theme park: so many every 10 seconds. Passes last 30 seconds, and nobody is absent.
pub(crate) fn park(batch: u64) -> Policy {
    Policy {
        every: secs(10),
        batch: Some(batch),
        active_max: None,
        pass_ttl: secs(30),
        pass_max: secs(0),
        presence_ttl: secs(0),
        missed_turn_ttl: secs(20),
        waiting_max: 1_000_000,
        identity: Identity::Open,
    }
}

/// So many every 10 seconds, and never more than so many inside.
pub(crate) fn both(batch: u64, cap: u64) -> Policy {
    Policy {
        active_max: Some(cap),
        ..park(batch)
    }
}

fn numbers(range: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    range.collect()
}

mod entering {
    use super::*;

    #[test]
    fn a_join_enters_directly_when_its_settling_reaches_it() {
        let mut stage = Stage::new(bank(2));
        assert_eq!(
            stage.join([1, 2, 3]),
            [1, 2, 3].map(|n| Joined::New(Ordinal(n)))
        );
        assert_eq!((stage.inside(), stage.in_line()), (vec![1, 2], vec![3]));
    }

    #[test]
    fn nobody_overtakes_those_waiting_for_the_next_tick() {
        let mut stage = Stage::new(both(1, 10));
        stage.join([1, 2]);
        stage.wait(secs(5));
        stage.join([3]);
        assert_eq!((stage.inside(), stage.in_line()), (vec![1], vec![2, 3]));
        stage.wait(secs(5));
        stage.join([4]);
        assert_eq!((stage.inside(), stage.in_line()), (vec![1, 2], vec![3, 4]));
    }

    #[test]
    fn the_line_shows_how_many_are_ahead_and_behind() {
        let mut stage = Stage::new(bank(1));
        stage.join(1..=5);
        stage.tell(Command::Leave(holder(3, 3)));
        assert_eq!([2, 4, 5].map(|n| stage.ahead(n)), [0, 1, 2]);
        let view = stage.room.view(stage.clock);
        assert_eq!(view.waiting(), 3);
        assert_eq!(
            view.locate(Ordinal(2)),
            Located::InLine {
                ahead: 0,
                behind: 2
            }
        );
        assert_eq!(view.locate(Ordinal(3)), Located::Ended(Ending::Gone));
        assert_eq!(view.locate(Ordinal(6)), Located::Unknown);
    }

    #[test]
    fn a_second_join_gives_the_same_place() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        assert_eq!(
            stage.join([2, 1, 3, 3]),
            [
                Joined::Already(Ordinal(2)),
                Joined::Already(Ordinal(1)),
                Joined::New(Ordinal(3)),
                Joined::Already(Ordinal(3)),
            ]
        );
    }

    #[test]
    fn a_line_as_long_as_it_may_be_takes_nobody_more() {
        let policy = Policy {
            waiting_max: 2,
            ..bank(1)
        };
        let mut stage = Stage::new(policy);
        let joined = stage.join(1..=4);
        assert_eq!(joined[2], Joined::New(Ordinal(3)), "the first is let in");
        assert_eq!(joined[3], Joined::Full);
        assert_eq!(stage.join([3]), [Joined::Already(Ordinal(3))]);
        stage.tell(Command::Leave(holder(2, 2)));
        assert_eq!(stage.join([4]), [Joined::New(Ordinal(4))], "no gap");
    }
}

mod pace {
    use super::*;

    #[test]
    fn a_bank_counter_refills_a_freed_slot_in_the_same_transition() {
        let mut stage = Stage::new(bank(2));
        stage.join(1..=4);
        let outcome = stage
            .room
            .apply(Command::Finish(holder(1, 1)), stage.clock + secs(1));
        assert_eq!(outcome.head, Ordinal(3));
        assert_eq!(stage.inside(), [2, 3]);
    }

    #[test]
    fn a_theme_park_lets_so_many_in_every_tick() {
        let mut stage = Stage::new(park(3));
        stage.join(1..=20);
        assert_eq!(stage.inside(), numbers(1..=3));
        stage.settle_after(Duration::from_millis(9_999));
        assert_eq!(stage.inside(), numbers(1..=3));
        stage.settle_after(Duration::from_millis(1));
        assert_eq!(stage.inside(), numbers(1..=6));
        stage.settle_after(secs(10));
        assert_eq!(stage.inside(), numbers(1..=9));
    }

    #[test]
    fn a_departure_makes_no_room_in_a_theme_park() {
        let mut stage = Stage::new(park(2));
        stage.join(1..=4);
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.inside(), [2]);
    }

    #[test]
    fn an_outage_of_an_hour_is_one_tick() {
        let mut stage = Stage::new(park(2));
        stage.join(1..=20);
        stage.settle_after(secs(3_604));
        assert_eq!(stage.inside(), [3, 4]);
        assert_eq!(
            stage.room.header().tick.start,
            START + secs(3_600),
            "ticks stay aligned"
        );
        stage.settle_after(secs(6));
        assert_eq!(stage.inside(), [3, 4, 5, 6]);
    }

    #[test]
    fn the_smaller_of_both_limits_holds() {
        let mut stage = Stage::new(both(2, 3));
        stage.join(1..=10);
        assert_eq!(stage.inside(), [1, 2], "the batch");
        stage.settle_after(secs(10));
        assert_eq!(stage.inside(), [1, 2, 3], "the cap");
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.inside(), [2, 3, 4], "what was left of the batch");
        stage.tell(Command::Finish(holder(2, 2)));
        assert_eq!(stage.inside(), [3, 4], "the batch again");
    }

    #[test]
    fn an_operator_adds_to_this_ticks_batch() {
        let mut stage = Stage::new(park(1));
        stage.join(1..=10);
        stage.tell(Command::Admit(2));
        assert_eq!(stage.inside(), [1, 2, 3]);
        stage.settle_after(secs(10));
        assert_eq!(stage.inside(), [1, 2, 3, 4], "one, as before");
    }

    #[test]
    fn what_an_operator_added_is_gone_with_the_tick() {
        let mut stage = Stage::new(park(1));
        stage.tell(Command::Admit(5));
        stage.wait(secs(10));
        stage.join(1..=10);
        assert_eq!(stage.inside(), [1]);
    }

    #[test]
    fn an_operator_adds_to_the_tick_that_is_due() {
        let mut stage = Stage::new(park(1));
        stage.join(1..=10);
        stage.wait(secs(10));
        stage.tell(Command::Admit(2));
        assert_eq!(stage.inside(), [1, 2, 3, 4]);
    }

    #[test]
    fn an_operator_never_adds_to_the_cap() {
        let mut stage = Stage::new(both(1, 2));
        stage.join(1..=10);
        stage.tell(Command::Admit(100));
        assert_eq!(stage.inside(), [1, 2]);
        let mut counter = Stage::new(bank(2));
        counter.join(1..=10);
        counter.tell(Command::Admit(100));
        assert_eq!(counter.inside(), [1, 2]);
    }

    #[test]
    fn a_policy_change_keeps_the_tick_and_what_was_admitted_in_it() {
        let mut stage = Stage::new(park(2));
        stage.join(1..=10);
        stage.wait(secs(4));
        let before = stage.room.header().tick;
        stage.change(|policy| policy.pass_ttl = secs(60));
        assert_eq!(stage.room.header().tick, before);
        stage.change(|policy| policy.batch = Some(3));
        assert_eq!(stage.room.header().tick.start, before.start);
        assert_eq!(stage.inside(), [1, 2, 3], "one more, not three");
        stage.change(|policy| policy.batch = Some(1));
        assert_eq!(stage.inside(), [1, 2, 3], "nobody is put out");
    }

    #[test]
    fn lowering_the_cap_puts_nobody_out() {
        let mut stage = Stage::new(bank(3));
        stage.join(1..=6);
        stage.change(|policy| policy.active_max = Some(1));
        assert_eq!(stage.inside(), [1, 2, 3]);
        stage.tell(Command::Finish(holder(1, 1)));
        stage.tell(Command::Finish(holder(2, 2)));
        assert_eq!(stage.inside(), [3]);
        stage.tell(Command::Finish(holder(3, 3)));
        assert_eq!(stage.inside(), [4]);
    }

    #[test]
    fn raising_the_cap_lets_the_next_in_at_once() {
        let mut stage = Stage::new(bank(1));
        stage.join(1..=6);
        stage.change(|policy| policy.active_max = Some(3));
        assert_eq!(stage.inside(), [1, 2, 3]);
    }

    #[test]
    fn a_large_batch_is_spent_over_several_calls() {
        let bounds = Bounds {
            look_max: 4,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, park(10));
        let joiners = (1..=20).map(|n| joiner(n, None)).collect();
        let mut more = stage.room.apply(Command::Join(joiners), stage.clock).more;
        let mut insides = vec![stage.inside().len()];
        while more {
            more = stage.room.apply(Command::Settle, stage.clock).more;
            insides.push(stage.inside().len());
        }
        assert_eq!(insides, [4, 8, 10]);
    }

    #[test]
    fn expired_passes_hold_their_slots_until_all_are_swept() {
        let bounds = Bounds {
            look_max: 4,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, bank(10));
        stage.join(1..=20);
        stage.wait(secs(30));
        let mut calls = 1;
        while stage.room.apply(Command::Settle, stage.clock).more {
            calls += 1;
            assert!(stage.inside().len() <= 10);
        }
        assert_eq!(stage.inside(), numbers(11..=20));
        assert_eq!(calls, 5);
    }
}

mod passes {
    use super::*;

    #[test]
    fn a_pass_runs_out_so_long_after_its_last_use() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.wait(secs(20));
        stage.renew(holder(1, 1));
        assert_eq!(stage.pass(1).expires_at, START + secs(50));
        assert_eq!(stage.pass(1).since, START);
        stage.wait(Duration::from_millis(29_999));
        assert_eq!(stage.inside(), [1]);
        stage.settle_after(Duration::from_millis(1));
        assert_eq!(stage.at(1), DONE);
        assert_eq!(stage.room.header().counters.expired, 1);
    }

    #[test]
    fn a_pass_lasts_no_longer_than_its_longest() {
        let policy = Policy {
            pass_max: secs(45),
            ..bank(1)
        };
        let mut stage = Stage::new(policy);
        stage.join([1]);
        for _ in 0..4 {
            stage.wait(secs(10));
            stage.renew(holder(1, 1));
        }
        assert_eq!(stage.pass(1).expires_at, START + secs(45));
        stage.wait(secs(5));
        assert_eq!(stage.renew(holder(1, 1)), DONE);
    }

    #[test]
    fn a_renewal_never_shortens_a_pass() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.change(|policy| policy.pass_ttl = secs(5));
        stage.wait(secs(1));
        stage.renew(holder(1, 1));
        assert_eq!(stage.pass(1).expires_at, START + secs(30));
        stage.change(|policy| policy.pass_max = secs(6));
        stage.renew(holder(1, 1));
        assert_eq!(stage.pass(1).expires_at, START + secs(30));
    }

    #[test]
    fn status_and_marks_renew_nothing() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.wait(secs(20));
        stage.mark([1]);
        stage.restore(holder(1, 1));
        stage.join([1]);
        assert_eq!(stage.pass(1).expires_at, START + secs(30));
    }

    #[test]
    fn an_expired_pass_admits_nobody_even_before_it_was_swept() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.wait(secs(30));
        assert_eq!(stage.at(1), DONE);
        assert_eq!(stage.room.renew_pass(&holder(1, 1), stage.clock), None);
        assert_eq!(stage.renew(holder(1, 1)), DONE);
        assert_eq!(
            stage.depart(Command::Finish(holder(1, 1))),
            Departure::Nothing
        );
    }

    #[test]
    fn who_joins_after_their_pass_ran_out_gets_a_new_place() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        stage.wait(secs(30));
        assert_eq!(stage.join([1]), [Joined::New(Ordinal(3))]);
        assert_eq!(stage.at(1), DONE);
        assert_eq!((stage.inside(), stage.in_line()), (vec![2], vec![3]));
    }

    #[test]
    fn an_ended_token_does_not_act_for_the_new_place() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.tell(Command::Finish(holder(1, 1)));
        stage.join([1]);
        let before = stage.room.standing(&holder(1, 2), stage.clock);
        stage.wait(secs(1));
        assert_eq!(stage.renew(holder(1, 1)), DONE);
        assert_eq!(stage.restore(holder(1, 1)), DONE);
        for depart in [Command::Leave, Command::Finish] {
            assert_eq!(stage.depart(depart(holder(1, 1))), Departure::Nothing);
        }
        assert_eq!(stage.room.standing(&holder(1, 2), stage.clock), before);
    }

    #[test]
    fn a_pass_is_renewed_alone_only_while_nothing_waits_to_be_settled() {
        let mut stage = Stage::new(both(1, 2));
        stage.join([1, 2]);
        let soon = stage.clock + secs(5);
        let renewed = stage.room.renew_pass(&holder(1, 1), soon).unwrap();
        assert_eq!(renewed.expires_at, soon + secs(30));
        assert_eq!(stage.room.renew_pass(&holder(2, 2), soon), None);
        let tick_due = stage.clock + secs(10);
        assert_eq!(stage.room.renew_pass(&holder(1, 1), tick_due), None);
    }
}

mod operators {
    use super::*;

    #[test]
    fn a_pause_admits_nobody_while_joins_wait_and_passes_run_out() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        stage.tell(Command::Pause);
        assert_eq!(stage.join([3]), [Joined::New(Ordinal(3))]);
        stage.settle_after(secs(30));
        assert_eq!(stage.at(1), DONE);
        assert_eq!((stage.inside(), stage.in_line()), (vec![], vec![2, 3]));
        stage.tell(Command::Admit(1));
        assert_eq!(stage.inside(), [0; 0]);
        stage.tell(Command::Resume);
        assert_eq!((stage.inside(), stage.in_line()), (vec![2], vec![3]));
    }

    #[test]
    fn a_pause_is_not_made_up_for() {
        let mut stage = Stage::new(park(1));
        stage.join(1..=9);
        stage.tell(Command::Pause);
        stage.settle_after(secs(100));
        stage.tell(Command::Resume);
        assert_eq!(stage.inside(), [2]);
    }

    #[test]
    fn a_closed_room_takes_no_joins_and_the_line_goes_on() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        stage.tell(Command::Close);
        assert_eq!(
            stage.join([2, 3]),
            [Joined::Already(Ordinal(2)), Joined::Closed]
        );
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.inside(), [2]);
        assert_eq!(stage.join([1]), [Joined::Closed], "their place has ended");
        stage.tell(Command::Open);
        assert_eq!(stage.join([3]), [Joined::New(Ordinal(3))]);
    }

    #[test]
    fn a_drained_room_closes_once_it_is_empty() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        stage.tell(Command::Drain);
        assert_eq!(stage.join([3]), [Joined::Closed]);
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.room.header().state, RoomState::Draining);
        stage.settle_after(secs(30));
        assert_eq!(stage.room.header().state, RoomState::Closed);
        assert_eq!(stage.join([3]), [Joined::Closed]);
    }

    #[test]
    fn an_empty_room_is_drained_at_once() {
        let mut stage = Stage::new(bank(1));
        stage.tell(Command::Drain);
        assert_eq!(stage.room.header().state, RoomState::Closed);
    }

    #[test]
    fn of_two_changes_to_one_policy_the_second_is_told_to_look_again() {
        let mut stage = Stage::new(bank(1));
        let from = Arc::clone(&stage.room.header().policy);
        let change = |cap| Command::ChangePolicy {
            from: Arc::clone(&from),
            to: Arc::new(bank(cap)),
        };
        assert_eq!(stage.tell(change(5)), Reply::Done);
        assert_eq!(stage.tell(change(9)), Reply::Stale);
        assert_eq!(stage.room.header().policy.active_max, Some(5));
    }

    #[test]
    fn a_reset_puts_everybody_out_and_counting_goes_on() {
        let mut stage = Stage::new(bank(2));
        stage.join(1..=4);
        stage.tell(Command::Finish(holder(1, 1)));
        stage.tell(Command::Reset);
        assert_eq!(stage.at(1), DONE, "done stays done");
        assert_eq!([2, 3, 4].map(|n| stage.at(n)), [GONE; 3]);
        assert_eq!([2, 3, 4].map(|n| stage.renew(holder(n, n))), [GONE; 3]);
        assert_eq!(stage.room.view(stage.clock).waiting(), 0);
        assert_eq!(stage.join([4]), [Joined::New(Ordinal(5))]);
        assert_eq!(stage.inside(), [5]);
        assert_eq!(
            stage.depart(Command::Leave(holder(4, 4))),
            Departure::Nothing
        );
    }

    /// The four live states: 1 inside, 2 aside, 3 at the door, 4 in line.
    fn one_of_each() -> Stage {
        let policy = Policy {
            presence_ttl: secs(4),
            missed_turn_ttl: secs(600),
            ..bank(1)
        };
        let mut stage = Stage::new(policy);
        stage.join([1, 2, 3]);
        for _ in 0..3 {
            stage.settle_after(secs(2));
        }
        stage.join([4]);
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!((stage.aside(), stage.inside()), (vec![2, 3], vec![4]));
        stage.join([5]);
        stage.mark([3]);
        stage
    }

    const STATES: [u64; 4] = [4, 2, 3, 5];

    #[test]
    fn a_revoked_visitor_is_gone_from_every_state() {
        for n in STATES {
            let mut stage = one_of_each();
            let reply = stage.tell(Command::Revoke(visitor(n)));
            assert_eq!(reply, Reply::Revoked(Some(Ordinal(n))));
            assert_eq!(stage.at(n), GONE);
            assert_eq!(stage.restore(holder(n, n)), GONE);
            let again = stage.tell(Command::Revoke(visitor(n)));
            assert_eq!(again, Reply::Revoked(None));
        }
    }

    #[test]
    fn leaving_gives_up_a_place_and_finishes_a_pass() {
        for (n, departure, standing) in [
            (4, Departure::Finished, DONE),
            (2, Departure::Left, GONE),
            (3, Departure::Left, GONE),
            (5, Departure::Left, GONE),
        ] {
            let mut stage = one_of_each();
            assert_eq!(stage.depart(Command::Leave(holder(n, n))), departure);
            assert_eq!(stage.at(n), standing);
            let again = stage.depart(Command::Leave(holder(n, n)));
            assert_eq!(again, Departure::Nothing);
        }
    }

    #[test]
    fn finishing_ends_a_pass_and_leaves_those_waiting_alone() {
        let mut stage = one_of_each();
        for n in [2, 5] {
            let before = stage.at(n);
            let departure = stage.depart(Command::Finish(holder(n, n)));
            assert_eq!((departure, stage.at(n)), (Departure::NotInside, before));
        }
        // At the door may be somebody who was inside before the store forgot.
        for n in [3, 4] {
            let departure = stage.depart(Command::Finish(holder(n, n)));
            assert_eq!((departure, stage.at(n)), (Departure::Finished, DONE));
        }
    }

    #[test]
    fn a_freed_slot_goes_to_the_door_first() {
        let mut stage = one_of_each();
        stage.tell(Command::Leave(holder(4, 4)));
        assert_eq!((stage.inside(), stage.in_line()), (vec![3], vec![5]));
    }
}

mod keys {
    use super::*;

    fn join_with(stage: &mut Stage, n: u64, body: u64) -> Joined {
        let key = JoinKey { key: 7, body };
        match stage.tell(Command::Join(vec![joiner(n, Some(key))])) {
            Reply::Joined(joined) => joined[0],
            reply => panic!("{reply:?}"),
        }
    }

    fn minutes(stage: &mut Stage, n: u64) {
        (0..n).for_each(|_| stage.settle_after(secs(60)));
    }

    #[test]
    fn a_repeated_key_repeats_the_answer() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        assert_eq!(join_with(&mut stage, 2, 22), Joined::New(Ordinal(2)));
        assert_eq!(join_with(&mut stage, 2, 22), Joined::Repeated(Ordinal(2)));
        assert_eq!(stage.join([2]), [Joined::Already(Ordinal(2))]);
    }

    #[test]
    fn a_key_serves_one_request_only() {
        let mut stage = Stage::new(bank(1));
        join_with(&mut stage, 1, 11);
        assert_eq!(join_with(&mut stage, 2, 22), Joined::KeyReused);
        assert_eq!(stage.room.header().issued, Ordinal(1));
    }

    #[test]
    fn a_key_is_remembered_for_ten_to_twenty_minutes() {
        for joined_at in [0, 9] {
            let mut stage = Stage::new(bank(1));
            minutes(&mut stage, joined_at);
            stage.join([1]);
            join_with(&mut stage, 2, 22);
            stage.tell(Command::Pause);
            minutes(&mut stage, 10);
            assert_eq!(join_with(&mut stage, 3, 33), Joined::KeyReused);
            assert_eq!(join_with(&mut stage, 2, 22), Joined::Repeated(Ordinal(2)));
            minutes(&mut stage, 11);
            assert_eq!(join_with(&mut stage, 2, 22), Joined::Already(Ordinal(2)));
            assert_eq!(join_with(&mut stage, 3, 33), Joined::New(Ordinal(3)));
        }
    }

    #[test]
    fn a_refused_join_does_not_use_up_its_key() {
        let mut stage = Stage::new(bank(1));
        stage.tell(Command::Close);
        assert_eq!(join_with(&mut stage, 1, 11), Joined::Closed);
        stage.tell(Command::Open);
        assert_eq!(join_with(&mut stage, 2, 22), Joined::New(Ordinal(1)));
    }
}

mod memory {
    use super::*;

    #[test]
    fn endings_far_below_the_head_are_forgotten_as_done() {
        let bounds = Bounds {
            base_trail: 65_536,
            base_step: 65_536,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, park(200_000));
        stage.tell(Command::Pause);
        stage.join(1..=131_073);
        stage.tell(Command::Leave(holder(5, 5)));
        stage.tell(Command::Leave(holder(100_000, 100_000)));
        stage.tell(Command::Resume);
        assert_eq!(
            stage.room.header().base,
            Ordinal(0),
            "it does not pass who is inside"
        );
        assert_eq!(stage.at(5), GONE);
        assert!(matches!(stage.at(6), Standing::Live(Live::Inside(_))));
        stage.settle_after(secs(30));
        assert_eq!(stage.room.header().base, Ordinal(65_536));
        assert_eq!(stage.at(5), DONE, "how it ended is forgotten");
        assert_eq!(stage.restore(holder(5, 5)), DONE);
        assert_eq!(stage.at(100_000), GONE);
        assert_eq!([1, 65_536, 65_537].map(|n| stage.at(n)), [DONE; 3]);
        assert_eq!(stage.room.done().count(0..65_536), 0);
    }

    #[test]
    fn base_does_not_move_before_its_time() {
        let bounds = Bounds {
            base_trail: 0,
            base_step: 65_536,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, park(200_000));
        stage.join(1..=65_535);
        assert_eq!(stage.room.header().base, Ordinal(0));
        stage.join([65_536]);
        stage.settle_after(secs(30));
        assert_eq!(stage.room.header().base, Ordinal(65_536));
        assert_eq!(stage.join([70_000]), [Joined::New(Ordinal(65_537))]);
    }
}

mod time {
    use super::*;

    #[test]
    fn room_time_never_runs_back() {
        let mut stage = Stage::new(park(1));
        stage.join([1, 2]);
        stage.settle_after(secs(9));
        let before = stage.room.now(stage.clock);
        stage.clock = stage.clock - secs(3_600);
        stage.tell(Command::Settle);
        assert_eq!(stage.room.now(stage.clock), before);
        stage.settle_after(secs(1));
        assert_eq!(stage.room.now(stage.clock), before + secs(1));
        assert_eq!(stage.inside(), [1, 2], "the tick comes when it is due");
        stage.settle_after(secs(20));
        assert_eq!((stage.at(1), stage.inside()), (DONE, vec![2]));
    }

    #[test]
    fn room_time_stands_still_while_the_server_is_down() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.clock = stage.clock + secs(3_600);
        stage.room.resume_at(stage.clock);
        stage.settle_after(secs(29));
        assert_eq!(stage.inside(), [1]);
        stage.settle_after(secs(1));
        assert_eq!(stage.at(1), DONE);
    }

    #[test]
    fn an_idle_room_has_nothing_due() {
        let mut stage = Stage::new(bank(1));
        assert_eq!(stage.room.next_due(), None);
        stage.join([1]);
        assert_eq!(stage.room.next_due(), Some(START + secs(30)), "its pass");
        stage.join([2]);
        assert_eq!(stage.room.next_due(), Some(START + secs(10)), "the tick");
        stage.tell(Command::Pause);
        assert_eq!(stage.room.next_due(), Some(START + secs(30)));
    }

    /// What settling does to those concerned.
    fn facts(room: &Room, clock: Timestamp) -> impl PartialEq + std::fmt::Debug + use<> {
        let header = room.header();
        let view = room.view(clock);
        (
            (header.head, header.state, header.lost, header.counters),
            (view.inside, view.aside, view.door, view.waiting()),
        )
    }

    /// What passes by, whether or not it concerns anybody.
    fn rounds(room: &Room) -> (Timestamp, u64) {
        let header = room.header();
        (header.tick.start, header.presence.number)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn nothing_is_due_before_the_next_due_time_and_something_is_at_it(
            story in stories(60, 25),
        ) {
            let mut line = PlainLine::new(story.policy.clone());
            tell(&mut line, &story, &mut ropeline_testing::line::Tally::default())
                .map_err(|violation| TestCaseError::fail(violation.to_string()))?;
            line.settle(Command::Settle);
            let now = line.room.now(line.clock);
            let before = facts(&line.room, line.clock);
            let Some(due) = line.room.next_due() else {
                line.advance(secs(100_000));
                line.settle(Command::Settle);
                prop_assert_eq!(&facts(&line.room, line.clock), &before);
                return Ok(());
            };
            prop_assert!(due > now, "due {due:?}, now {now:?}");
            line.advance(now.until(due - Duration::from_millis(1)));
            prop_assert!(!line.apply(Command::Settle).more);
            prop_assert_eq!(&facts(&line.room, line.clock), &before);
            let rounds_before = rounds(&line.room);
            line.advance(Duration::from_millis(1));
            line.settle(Command::Settle);
            let changed = facts(&line.room, line.clock) != before;
            // Whether there is anything to spend when nodes have merged, or lost places are waited for no more, is seen
            // only then.
            let header = line.room.header();
            let lost_until = header.lost.map(|lost| lost.until);
            let merged = due == header.admission_held_until || Some(due) == lost_until;
            let turned = rounds(&line.room) != rounds_before;
            prop_assert!(changed || turned || merged, "nothing was due");
        }
    }
}
