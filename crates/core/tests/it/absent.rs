//! Those who are not there when their turn comes.

use std::time::Duration;

use ropeline_core::{Command, Ending, Joined, Live, Ordinal, Policy, Standing};

use crate::rules::{Stage, bank, holder, park, secs};

const GONE: Standing = Standing::Ended(Ending::Gone);
const AT_DOOR: Standing = Standing::Live(Live::AtDoor { before: 0 });

/// Absent after three rounds of 10 seconds at the most; a missed turn is kept for a minute.
fn watchful(policy: &Policy) -> Policy {
    Policy {
        presence_ttl: secs(20),
        missed_turn_ttl: secs(60),
        pass_ttl: secs(3_600),
        ..policy.clone()
    }
}

/// Rounds pass in which only these are heard of.
fn rounds(stage: &mut Stage, count: u64, present: &[u64]) {
    for _ in 0..count {
        stage.wait(secs(10));
        stage.mark(present.iter().copied());
    }
}

/// 1 is inside, 2 has missed its turn, 3 is inside too and 4 is in line.
fn two_missed_its_turn() -> Stage {
    let mut stage = Stage::new(watchful(&bank(1)));
    stage.join([1, 2, 3, 4]);
    rounds(&mut stage, 3, &[3, 4]);
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!((stage.inside(), stage.aside()), (vec![3], vec![2]));
    stage
}

#[test]
fn the_few_who_stayed_are_inside_within_two_ticks() {
    let mut stage = Stage::new(watchful(&park(100)));
    stage.tell(Command::Pause);
    stage.join(1..=1_000);
    let stayed: Vec<u64> = (1..=1_000).filter(|n| n % 10 == 0).collect();
    rounds(&mut stage, 3, &stayed);
    stage.tell(Command::Resume);
    let first_tick = stage.inside().len();
    rounds(&mut stage, 1, &stayed);
    assert!(first_tick <= 100, "never more than the batch");
    assert_eq!(stage.inside(), stayed);
    assert_eq!(stage.aside().len(), 900);
    assert_eq!(stage.room.header().counters.stepped_over, 900);
}

#[test]
fn a_long_line_of_absent_ones_holds_nobody_up() {
    let mut stage = Stage::new(watchful(&park(100)));
    stage.tell(Command::Pause);
    stage.join(1..=5_010);
    let stayed: Vec<u64> = (5_001..=5_010).collect();
    rounds(&mut stage, 3, &stayed);
    let mut outcome = stage.room.apply(Command::Resume, stage.clock);
    let mut calls = 1;
    while outcome.more {
        outcome = stage.room.apply(Command::Settle, stage.clock);
        calls += 1;
    }
    assert_eq!(stage.inside(), stayed, "in the same tick");
    assert_eq!(calls, 6, "a thousand are looked at per call");
}

#[test]
fn who_was_heard_of_lately_is_there() {
    let mut stage = Stage::new(watchful(&bank(1)));
    stage.join([1, 2]);
    stage.wait(Duration::from_millis(9_999));
    stage.mark([2]);
    rounds(&mut stage, 2, &[]);
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!(stage.inside(), [2]);
}

#[test]
fn an_outage_of_hours_makes_nobody_absent() {
    let mut stage = Stage::new(watchful(&bank(1)));
    stage.join([1, 2]);
    let round = stage.room.header().presence.number;
    stage.settle_after(secs(5 * 3_600));
    assert_eq!(stage.room.header().presence.number, round + 1);
    assert_eq!((stage.inside(), stage.aside()), (vec![2], vec![]));
}

#[test]
fn a_restart_makes_nobody_absent() {
    let mut stage = Stage::new(watchful(&bank(1)));
    stage.join([1, 2]);
    rounds(&mut stage, 2, &[]);
    stage.clock = stage.clock + secs(3_600);
    stage.room.resume_at(stage.clock);
    stage.wait(Duration::from_millis(9_999));
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!(stage.inside(), [2]);
}

#[test]
fn who_comes_back_is_at_the_door_with_the_old_ordinal() {
    let mut stage = two_missed_its_turn();
    assert_eq!(stage.restore(holder(2, 2)), AT_DOOR);
    assert_eq!(stage.at_door(), [2]);
    stage.tell(Command::Finish(holder(3, 3)));
    assert_eq!((stage.inside(), stage.in_line()), (vec![2], vec![4]));
}

#[test]
fn every_way_of_asking_brings_a_missed_place_to_the_door() {
    let asks = [
        Command::Mark(vec![Ordinal(2)]),
        Command::Restore(vec![holder(2, 2)]),
        Command::Renew(vec![holder(2, 2)]),
    ];
    for ask in asks {
        let mut stage = two_missed_its_turn();
        stage.tell(ask);
        assert_eq!(stage.at(2), AT_DOOR);
    }
}

#[test]
fn a_join_finds_the_missed_place() {
    let mut stage = two_missed_its_turn();
    assert_eq!(stage.join([2]), [Joined::Already(Ordinal(2))]);
}

#[test]
fn the_door_is_in_nobodys_ahead() {
    let mut stage = two_missed_its_turn();
    assert_eq!(stage.ahead(4), 0);
    stage.restore(holder(2, 2));
    assert_eq!(stage.ahead(4), 0);
    let view = stage.room.view(stage.clock);
    assert_eq!((view.door, view.waiting()), (1, 1));
}

#[test]
fn a_missed_turn_is_given_up_after_its_time() {
    let mut stage = two_missed_its_turn();
    stage.settle_after(Duration::from_millis(59_999));
    assert_eq!(stage.aside(), [2]);
    stage.settle_after(Duration::from_millis(1));
    assert_eq!(stage.at(2), GONE);
    assert_eq!(stage.restore(holder(2, 2)), GONE);
    assert_eq!(stage.renew(holder(2, 2)), GONE);
    stage.mark([2]);
    assert_eq!(stage.at(2), GONE);
    assert_eq!(stage.room.header().counters.missed, 1);
    assert_eq!(stage.join([2]), [Joined::New(Ordinal(5))]);
}

#[test]
fn without_a_time_to_come_back_a_missed_turn_is_gone_at_once() {
    let policy = Policy {
        missed_turn_ttl: secs(0),
        ..watchful(&bank(1))
    };
    let mut stage = Stage::new(policy);
    stage.join([1, 2, 3]);
    rounds(&mut stage, 3, &[3]);
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!(stage.at(2), GONE);
    assert_eq!((stage.inside(), stage.aside()), (vec![3], vec![]));
}

#[test]
fn at_the_door_too_one_must_be_there() {
    let mut stage = two_missed_its_turn();
    stage.restore(holder(2, 2));
    rounds(&mut stage, 3, &[4]);
    stage.tell(Command::Finish(holder(3, 3)));
    assert_eq!((stage.inside(), stage.aside()), (vec![4], vec![2]));
    let until = stage.clock + secs(60);
    assert_eq!(
        stage.at(2),
        Standing::Live(Live::Aside(until)),
        "its time begins anew"
    );
    assert_eq!(stage.restore(holder(2, 2)), AT_DOOR);
}

#[test]
fn where_presence_is_off_nobody_is_absent() {
    let policy = Policy {
        presence_ttl: secs(0),
        ..watchful(&bank(1))
    };
    let mut stage = Stage::new(policy);
    stage.join([1, 2]);
    rounds(&mut stage, 50, &[]);
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!(stage.inside(), [2]);
}

#[test]
fn switching_presence_on_makes_nobody_absent_at_once() {
    let policy = Policy {
        presence_ttl: secs(0),
        ..watchful(&bank(1))
    };
    let mut stage = Stage::new(policy.clone());
    stage.join([1, 2, 3]);
    rounds(&mut stage, 50, &[]);
    stage.tell(Command::SetPolicy {
        policy: watchful(&policy).into(),
        digest: None,
    });
    rounds(&mut stage, 2, &[]);
    stage.tell(Command::Finish(holder(1, 1)));
    assert_eq!(stage.inside(), [2], "there is time to be heard of");
    rounds(&mut stage, 1, &[]);
    stage.tell(Command::Finish(holder(2, 2)));
    assert_eq!((stage.inside(), stage.aside()), (vec![], vec![3]));
}

#[test]
fn switching_presence_off_lets_those_at_the_door_in() {
    let mut stage = two_missed_its_turn();
    stage.restore(holder(2, 2));
    rounds(&mut stage, 3, &[]);
    stage.tell(Command::SetPolicy {
        policy: Policy {
            presence_ttl: secs(0),
            ..watchful(&bank(2))
        }
        .into(),
        digest: None,
    });
    assert_eq!(stage.inside(), [2, 3]);
}

#[test]
fn a_pause_steps_over_nobody() {
    let mut stage = Stage::new(watchful(&bank(2)));
    stage.join([1]);
    stage.tell(Command::Pause);
    stage.join([2]);
    rounds(&mut stage, 9, &[]);
    assert_eq!((stage.in_line(), stage.aside()), (vec![2], vec![]));
}
