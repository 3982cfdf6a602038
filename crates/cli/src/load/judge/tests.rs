//! Each rule is shown an answer that breaks it, and one beside it that does not.

use serde_json::Value;

use super::*;
use crate::load::place::tests::{inside_view, waiting_view};

fn at(asked_s: u64, answered_s: u64) -> Span {
    Span {
        asked: Duration::from_secs(asked_s),
        answered: Duration::from_secs(answered_s),
    }
}

fn place(view: &Value) -> Place {
    Place::read(view).expect("a view in order")
}

fn waiting(ordinal: u64, ahead: u64) -> Place {
    place(&waiting_view(ordinal, ahead))
}

/// Back after a missed turn.
fn before_line(ordinal: u64, ahead: u64) -> Place {
    let mut view = waiting_view(ordinal, ahead);
    view["beforeLine"] = true.into();
    place(&view)
}

fn inside(ordinal: u64) -> Place {
    place(&inside_view(ordinal))
}

/// The rules that a story breaks, at its end with a cap of two.
fn broken(story: impl FnOnce(&mut Judge)) -> Vec<Rule> {
    let mut judge = Judge::new(4);
    story(&mut judge);
    judge.close(Some(2));
    judge.wrong.counts.into_keys().collect()
}

#[test]
fn a_visit_without_a_fault_breaks_nothing() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(5, 4));
        judge.polled(0, at(2, 3), &waiting(5, 4));
        judge.at_gate(0, at(3, 4), Gate::Wait);
        judge.polled(0, at(4, 5), &waiting(5, 0));
        judge.at_gate(0, at(5, 6), Gate::Open);
        judge.polled(0, at(6, 7), &inside(5));
        judge.at_gate(0, at(8, 9), Gate::Open);
        judge.ended(0);
        judge.at_gate(0, at(10, 11), Gate::Refused);
    });
    assert_eq!(rules, []);
}

#[test]
fn a_rising_number_ahead_is_wrong() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(9, 4));
        judge.polled(0, at(2, 3), &waiting(9, 5));
    });
    assert_eq!(rules, [Rule::AheadNeverRises]);
}

#[test]
fn a_position_that_is_not_one_more_than_those_ahead_is_wrong() {
    for mut view in [waiting_view(9, 4), inside_view(9)] {
        view["position"] = 7.into();
        let rules = broken(|judge| judge.joined(0, at(0, 1), &place(&view)));
        assert_eq!(rules, [Rule::PositionFits]);
    }
}

#[test]
fn an_older_answer_than_what_was_seen_is_wrong() {
    let mut older = waiting_view(9, 4);
    older["version"] = 6.into();
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(9, 4));
        judge.polled(0, at(2, 3), &place(&older));
    });
    assert_eq!(rules, [Rule::VersionNeverFalls]);
}

#[test]
fn another_ordinal_is_wrong() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(9, 4));
        judge.polled(0, at(2, 3), &waiting(8, 4));
    });
    assert_eq!(rules, [Rule::OrdinalStays]);
}

#[test]
fn the_same_ordinal_twice_is_wrong() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(9, 4));
        judge.joined(1, at(2, 3), &waiting(9, 4));
    });
    assert_eq!(rules, [Rule::OrdinalUnique]);
}

#[test]
fn whoever_asked_after_another_was_answered_is_behind() {
    let ordinals = |first, second, third| {
        broken(|judge| {
            judge.joined(0, at(0, 4), &waiting(first, 0));
            judge.joined(1, at(1, 2), &waiting(second, 0));
            judge.joined(2, at(3, 5), &waiting(third, 0));
        })
    };
    assert_eq!(ordinals(1, 2, 3), []);
    assert_eq!(ordinals(3, 1, 2), [], "the first was answered last");
    assert_eq!(ordinals(1, 3, 2), [Rule::JoinedInOrder]);
}

#[test]
fn nobody_waits_while_a_later_one_is_inside() {
    let later_inside = |judge: &mut Judge| {
        judge.joined(0, at(0, 1), &waiting(5, 2));
        judge.joined(1, at(1, 2), &inside(9));
    };
    let rules = broken(|judge| {
        later_inside(judge);
        judge.polled(0, at(3, 4), &waiting(5, 0));
    });
    assert_eq!(rules, [Rule::AdmittedInOrder]);
    let rules = broken(|judge| {
        later_inside(judge);
        judge.closed_the_tab(0);
        judge.polled(0, at(3, 4), &before_line(5, 2));
    });
    assert_eq!(rules, [], "back at the door after a missed turn");
    let rules = broken(|judge| {
        later_inside(judge);
        judge.polled(0, at(3, 4), &before_line(5, 0));
    });
    assert_eq!(rules, [Rule::AdmittedInOrder], "it has missed no turn");
    for ahead in [0, 1] {
        let rules = broken(|judge| {
            later_inside(judge);
            judge.closed_the_tab(0);
            judge.polled(0, at(3, 4), &waiting(5, ahead));
        });
        assert_eq!(rules, [Rule::AdmittedInOrder], "it is still in line");
    }
    let rules = broken(|judge| {
        later_inside(judge);
        judge.polled(0, at(2, 4), &waiting(5, 0));
    });
    assert_eq!(rules, [], "asked before the other was known to be inside");
}

#[test]
fn who_was_silent_for_longer_than_told_may_have_missed_the_turn() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(5, 2));
        judge.joined(1, at(1, 2), &inside(9));
        judge.polled(0, at(6, 7), &before_line(5, 0));
    });
    assert_eq!(rules, [], "told to ask after 2 s, and asked after 5 s");
}

#[test]
fn more_ahead_than_can_be_in_line_is_wrong() {
    let ahead = |ahead| {
        broken(|judge| {
            judge.joined(0, at(0, 1), &inside(4));
            judge.joined(1, at(2, 3), &waiting(9, ahead));
        })
    };
    assert_eq!(ahead(4), []);
    assert_eq!(ahead(5), [Rule::AheadFits]);
}

#[test]
fn more_before_the_line_than_came_earlier_is_wrong() {
    let ahead = |ahead| {
        broken(|judge| {
            judge.joined(0, at(0, 1), &inside(4));
            judge.joined(1, at(2, 3), &before_line(9, ahead));
        })
    };
    assert_eq!(ahead(8), [], "also those who came before whoever is inside");
    assert_eq!(ahead(9), [Rule::AheadFits]);
}

#[test]
fn more_inside_than_the_cap_is_wrong() {
    let third_comes_at = |comes: u64| {
        broken(|judge| {
            for who in 0..2 {
                judge.joined(who, at(0, 1), &inside(who as u64 + 1));
                judge.at_gate(who, at(5, 6), Gate::Open);
            }
            judge.joined(2, at(comes - 1, comes), &inside(3));
            judge.at_gate(2, at(8, 9), Gate::Open);
        })
    };
    assert_eq!(third_comes_at(4), [Rule::CapHolds]);
    assert_eq!(third_comes_at(5), [], "the others may have gone just then");
}

#[test]
fn a_gate_that_opens_for_who_still_waits_is_wrong() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(9, 4));
        judge.at_gate(0, at(2, 3), Gate::Open);
        judge.polled(0, at(3, 4), &waiting(9, 4));
    });
    assert_eq!(rules, [Rule::GateHolds]);
}

#[test]
fn a_gate_that_is_shut_for_a_live_pass_is_wrong() {
    for gate in [Gate::Wait, Gate::Refused] {
        let rules = broken(|judge| {
            judge.joined(0, at(0, 1), &inside(1));
            judge.at_gate(0, at(297, 298), gate);
        });
        assert_eq!(rules, [Rule::GateOpens]);
    }
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &inside(1));
        judge.at_gate(0, at(300, 301), Gate::Refused);
    });
    assert_eq!(rules, [], "the pass of 300 s may have run out");
}

#[test]
fn a_gate_that_opens_after_the_end_is_wrong() {
    for gate in [Gate::Open, Gate::Wait] {
        let rules = broken(|judge| {
            judge.joined(0, at(0, 1), &inside(1));
            judge.ended(0);
            judge.at_gate(0, at(2, 3), gate);
        });
        assert_eq!(rules, [Rule::EndedStaysEnded]);
    }
}

#[test]
fn a_place_that_is_lost_is_wrong_unless_its_holder_was_away() {
    let lost = |away: bool| {
        broken(|judge| {
            judge.joined(0, at(0, 1), &waiting(9, 4));
            if away {
                judge.closed_the_tab(0);
            }
            judge.lost(0, at(2, 3), "404 TOKEN_NOT_FOUND");
        })
    };
    assert_eq!(lost(false), [Rule::PlaceStays]);
    assert_eq!(lost(true), []);
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &waiting(9, 4));
        judge.at_gate(0, at(2, 3), Gate::Refused);
    });
    assert_eq!(rules, [Rule::PlaceStays]);
}

#[test]
fn waiting_again_after_being_inside_is_wrong() {
    let rules = broken(|judge| {
        judge.joined(0, at(0, 1), &inside(9));
        judge.polled(0, at(1, 2), &waiting(9, 0));
    });
    assert_eq!(rules, [Rule::PlaceStays]);
}

#[test]
fn a_place_that_is_lost_after_a_long_silence_is_not_wrong() {
    // The view says to ask again after two seconds.
    let lost = |asked_s| {
        broken(|judge| {
            judge.joined(0, at(0, 1), &waiting(9, 4));
            judge.lost(0, at(asked_s, asked_s + 1), "401 TOKEN_EXPIRED");
        })
    };
    assert_eq!(lost(4), [Rule::PlaceStays]);
    assert_eq!(lost(6), []);
}

fn sale(seat: u64) -> Sale {
    Sale {
        seat,
        price: 90,
        paid: Some(90),
        had: Some(100),
        has: Some(10),
    }
}

#[test]
fn a_seat_that_is_sold_twice_is_wrong() {
    let seats = |one, other| {
        broken(|judge| {
            judge.sold(0, sale(one));
            judge.sold(1, sale(other));
        })
    };
    assert_eq!(seats(1, 2), []);
    assert_eq!(seats(1, 1), [Rule::SeatSoldOnce]);
}

#[test]
fn points_that_do_not_add_up_are_wrong() {
    let mut dear = sale(1);
    dear.paid = Some(91);
    let mut free = sale(1);
    free.has = free.had;
    let mut untold = sale(1);
    untold.has = None;
    for wrong in [dear, free, untold] {
        assert_eq!(broken(|judge| judge.sold(0, wrong)), [Rule::PointsFit]);
    }
}
