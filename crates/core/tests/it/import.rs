//! Places of another queue: taken over in order, and handed to the visitor who joins for them.

use std::{sync::Arc, time::Duration};

use ropeline_core::{
    Bounds, Command, ImportRow, Imported, JoinKey, Joined, Ordinal, Policy, Reply, Room, Standing,
    Timestamp, Was,
};

use crate::{
    plain::server,
    rules::{Stage, bank, both, holder, joiner, park, secs, visitor},
};

const GRACE: Duration = Duration::from_secs(30 * 60);

impl Stage {
    fn import(&mut self, rows: &[(u64, Was)]) -> Vec<Imported> {
        self.import_for(GRACE, rows)
    }

    fn import_for(&mut self, grace: Duration, rows: &[(u64, Was)]) -> Vec<Imported> {
        let rows = rows.iter().map(|(n, was)| ImportRow {
            visitor: visitor(*n),
            was: *was,
        });
        let rows = rows.collect();
        match self.tell(Command::Import { rows, grace }) {
            Reply::Imported(imported) => imported,
            reply => panic!("{reply:?}"),
        }
    }
}

fn waiting(range: std::ops::RangeInclusive<u64>) -> Vec<(u64, Was)> {
    range.map(|n| (n, Was::Waiting)).collect()
}

fn inside(range: std::ops::RangeInclusive<u64>) -> Vec<(u64, Was)> {
    range.map(|n| (n, Was::Inside)).collect()
}

fn placed(range: std::ops::RangeInclusive<u64>) -> Vec<Imported> {
    range.map(|n| Imported::Placed(Ordinal(n))).collect()
}

/// A room where absence counts, in rounds of ten seconds.
fn watchful(policy: &Policy) -> Policy {
    Policy {
        presence_ttl: secs(20),
        ..policy.clone()
    }
}

/// Long enough that nobody who joined counts as present, unless they were heard of again.
fn rounds_pass(stage: &mut Stage, seconds: u64) {
    for _ in 0..seconds / 10 {
        stage.settle_after(secs(10));
    }
}

mod taking_over {
    use super::*;

    #[test]
    fn rows_take_places_in_their_order_and_who_joins_comes_behind() {
        let mut stage = Stage::new(bank(2));
        let rows = [inside(1..=2), waiting(3..=5)].concat();
        assert_eq!(stage.import(&rows), placed(1..=5));
        assert_eq!(stage.join([6]), [Joined::New(Ordinal(6))]);
        assert_eq!(stage.inside(), [1, 2]);
        assert_eq!(stage.in_line(), [3, 4, 5, 6]);
        assert_eq!(stage.ahead(6), 3);
    }

    #[test]
    fn who_was_inside_above_the_cap_is_at_the_door_and_enters_before_the_line() {
        let mut stage = Stage::new(bank(2));
        stage.import(&[inside(1..=4), waiting(5..=6)].concat());
        assert_eq!(stage.inside(), [1, 2]);
        assert_eq!(stage.at_door(), [3, 4]);
        stage.tell(Command::Finish(holder(1, 1)));
        assert_eq!(stage.inside(), [2, 3]);
        assert_eq!(stage.at_door(), [4]);
        assert_eq!(stage.in_line(), [5, 6]);
    }

    #[test]
    fn who_was_inside_takes_nothing_of_the_batch() {
        let mut stage = Stage::new(park(2));
        stage.import(&[inside(1..=5), waiting(6..=9)].concat());
        assert_eq!(stage.inside(), [1, 2, 3, 4, 5, 6, 7]);
        stage.settle_after(secs(10));
        assert_eq!(
            stage.in_line(),
            [] as [u64; 0],
            "the next tick has its own batch"
        );
    }

    #[test]
    fn who_was_inside_counts_against_the_cap() {
        let mut stage = Stage::new(both(5, 3));
        stage.import(&[inside(1..=2), waiting(3..=5)].concat());
        assert_eq!(stage.inside(), [1, 2, 3]);
        assert_eq!(stage.room.header().counters.admitted, 3);
    }

    #[test]
    fn a_pass_of_before_lasts_as_long_as_any_other() {
        let mut stage = Stage::new(bank(1));
        stage.import(&inside(1..=1));
        let pass = stage.pass(1);
        assert_eq!(pass.since, stage.clock);
        assert_eq!(pass.expires_at, stage.clock + secs(30));
    }

    #[test]
    fn nobody_in_line_is_overtaken_by_one_who_was_inside_elsewhere() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        let rows = [inside(3..=3), waiting(4..=4)].concat();
        let answer = [Imported::LineAhead, Imported::Placed(Ordinal(3))];
        assert_eq!(stage.import(&rows), answer);
        assert_eq!(stage.room.find(&visitor(3)), None);
        assert_eq!(stage.in_line(), [2, 3]);
    }

    #[test]
    fn one_who_was_inside_comes_too_late_behind_a_waiting_row() {
        let mut stage = Stage::new(bank(1));
        let rows = [inside(1..=1), waiting(2..=2), inside(3..=3)].concat();
        assert_eq!(stage.import(&rows)[2], Imported::LineAhead);
    }

    #[test]
    fn a_line_takes_no_more_than_it_may() {
        let policy = Policy {
            waiting_max: 2,
            ..bank(1)
        };
        let mut stage = Stage::new(policy);
        let answer = [placed(1..=3), vec![Imported::Full; 2]].concat();
        assert_eq!(
            stage.import(&waiting(1..=5)),
            answer,
            "one of them is let in"
        );
        assert_eq!((stage.inside(), stage.in_line()), (vec![1], vec![2, 3]));
    }

    #[test]
    fn who_has_a_place_keeps_it() {
        let mut stage = Stage::new(bank(1));
        stage.join([1, 2]);
        let before = stage.room.header().issued;
        let already = [1, 2].map(|n| Imported::Already(Ordinal(n)));
        assert_eq!(stage.import(&waiting(1..=2)), already);
        assert_eq!(stage.room.header().issued, before);
    }

    #[test]
    fn a_row_that_comes_twice_is_answered_with_the_same_place() {
        let mut stage = Stage::new(bank(1));
        let rows = [inside(1..=1), waiting(2..=3)].concat();
        stage.import(&rows);
        let repeated = [1, 2, 3].map(|n| Imported::Repeated(Ordinal(n)));
        assert_eq!(stage.import(&rows), repeated);
        stage.join([2]);
        assert_eq!(stage.import(&rows)[1], Imported::Already(Ordinal(2)));
    }

    #[test]
    fn a_pass_that_ran_out_is_no_place() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        stage.wait(secs(30));
        assert_eq!(stage.import(&waiting(1..=1)), placed(2..=2));
    }

    #[test]
    fn a_closed_room_and_a_paused_one_take_places_over() {
        for word in [Command::Close, Command::Drain, Command::Pause] {
            let mut stage = Stage::new(bank(2));
            stage.join([1]);
            stage.tell(word.clone());
            let rows = [inside(2..=2), waiting(3..=3)].concat();
            assert_eq!(stage.import(&rows), placed(2..=3), "{word:?}");
            assert_eq!(stage.inside(), [1, 2], "{word:?}");
        }
    }

    #[test]
    fn no_place_is_given_while_the_nodes_merge() {
        let mut stage = Stage::new(bank(1));
        stage.join([1]);
        let memory = Arc::new(stage.room.view(stage.clock));
        stage.room.rehost(server(1));
        let import = Command::Import {
            rows: Vec::new(),
            grace: GRACE,
        };
        assert_eq!(stage.tell(import.clone()), Reply::Fenced);
        stage.tell(Command::Merge(memory));
        assert_eq!(stage.tell(import), Reply::Held(secs(1)));
        stage.wait(secs(1));
        assert_eq!(stage.import(&waiting(2..=2)), placed(2..=2));
    }

    #[test]
    fn those_who_look_hear_of_an_import() {
        let mut stage = Stage::new(bank(1));
        let before = stage.room.header().version;
        stage.import(&waiting(1..=1));
        let after = stage.room.header().version;
        assert!(after > before);
        stage.import(&waiting(1..=1));
        assert_eq!(
            stage.room.header().version,
            after,
            "the same once more is no news"
        );
    }
}

mod claiming {
    use super::*;

    #[test]
    fn the_first_join_gets_the_old_place_and_no_other_does() {
        let mut stage = Stage::new(bank(1));
        stage.import(&[inside(1..=1), waiting(2..=3)].concat());
        for n in [3, 1] {
            assert_eq!(stage.join([n]), [Joined::Claimed(Ordinal(n))]);
            assert_eq!(stage.join([n]), [Joined::Already(Ordinal(n))]);
        }
        assert_eq!((stage.inside(), stage.in_line()), (vec![1], vec![2, 3]));
    }

    #[test]
    fn a_lost_answer_to_a_claim_can_be_had_again() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=2));
        let key = JoinKey { key: 7, body: 2 };
        let mut join = |key| match stage.tell(Command::Join(vec![joiner(2, Some(key))])) {
            Reply::Joined(joined) => joined[0],
            reply => panic!("{reply:?}"),
        };
        assert_eq!(join(key), Joined::Claimed(Ordinal(2)));
        assert_eq!(join(key), Joined::Repeated(Ordinal(2)));
        assert_eq!(join(JoinKey { body: 9, ..key }), Joined::KeyReused);
    }

    #[test]
    fn an_old_place_is_claimed_in_a_closed_and_in_a_full_room() {
        let policy = Policy {
            waiting_max: 1,
            ..bank(1)
        };
        let mut stage = Stage::new(policy);
        stage.import(&waiting(1..=2));
        assert_eq!(stage.join([9]), [Joined::Full]);
        assert_eq!(stage.join([2]), [Joined::Claimed(Ordinal(2))]);
        stage.tell(Command::Close);
        assert_eq!(stage.join([9]), [Joined::Closed]);
        assert_eq!(stage.join([1]), [Joined::Claimed(Ordinal(1))]);
    }

    #[test]
    fn who_left_an_imported_place_gets_a_new_one() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=2));
        stage.tell(Command::Leave(holder(2, 2)));
        assert_eq!(stage.join([2]), [Joined::New(Ordinal(3))]);
        assert_eq!(stage.join([2]), [Joined::Already(Ordinal(3))]);
    }

    #[test]
    fn two_joins_of_one_batch_make_one_claim() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=2));
        let claimed = Joined::Claimed(Ordinal(2));
        assert_eq!(stage.join([2, 2]), [claimed, Joined::Already(Ordinal(2))]);
    }
}

mod grace {
    use super::*;

    #[test]
    fn nobody_imported_misses_a_turn_before_the_grace_is_over() {
        let mut stage = Stage::new(watchful(&bank(1)));
        stage.import_for(secs(100), &[inside(1..=1), waiting(2..=3)].concat());
        rounds_pass(&mut stage, 60);
        assert_eq!(
            stage.inside(),
            [3],
            "1 and 2 had their turn and their pass ran out"
        );
        assert_eq!(stage.aside(), [] as [u64; 0]);
    }

    #[test]
    fn after_the_grace_absence_counts() {
        let mut stage = Stage::new(watchful(&bank(1)));
        stage.import_for(secs(20), &[inside(1..=1), waiting(2..=2)].concat());
        rounds_pass(&mut stage, 30);
        assert_eq!(stage.aside(), [2]);
        assert_eq!(stage.join([2]), [Joined::Claimed(Ordinal(2))]);
        assert_eq!(stage.inside(), [2], "a claim brings it back to the door");
    }

    #[test]
    fn the_grace_ends_to_the_millisecond() {
        let turn_at = |after: Duration| {
            let policy = Policy {
                every: secs(3_600),
                ..watchful(&park(1))
            };
            let mut stage = Stage::new(policy);
            stage.import_for(secs(60), &waiting(1..=2));
            stage.wait(after);
            stage.tell(Command::Admit(1));
            stage.aside().is_empty()
        };
        assert!(turn_at(Duration::from_millis(59_999)));
        assert!(!turn_at(secs(60)));
    }

    #[test]
    fn who_claimed_and_went_away_is_absent_like_anybody() {
        let mut stage = Stage::new(watchful(&bank(1)));
        stage.import(&[inside(1..=1), waiting(2..=3)].concat());
        stage.join([2]);
        rounds_pass(&mut stage, 30);
        assert_eq!(stage.aside(), [2]);
        assert_eq!(stage.inside(), [3]);
    }

    #[test]
    fn a_later_import_never_shortens_the_grace() {
        let mut stage = Stage::new(watchful(&bank(1)));
        stage.import_for(secs(60), &inside(1..=1));
        stage.import_for(secs(5), &waiting(2..=2));
        assert_eq!(stage.room.header().imported_until, stage.clock + secs(60));
        stage.import_for(secs(90), &[]);
        assert_eq!(stage.room.header().imported_until, stage.clock + secs(90));
    }
}

mod afterwards {
    use super::*;

    #[test]
    fn a_reset_puts_the_imported_out_and_nothing_is_left_to_claim() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=2));
        stage.tell(Command::Reset);
        assert_eq!(stage.join([2]), [Joined::New(Ordinal(3))]);
        assert_eq!(stage.join([2]), [Joined::Already(Ordinal(3))]);
    }

    #[test]
    fn a_room_that_begins_again_knows_of_no_import() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=2));
        stage.tell(Command::Delete);
        let policy = Arc::new(bank(1));
        let digest = None;
        stage.tell(Command::Create { policy, digest });
        assert_eq!(stage.room.header().imported_until, Timestamp(0));
        assert_eq!(stage.join([1, 2]), [1, 2].map(|n| Joined::New(Ordinal(n))));
        assert_eq!(
            stage.join([1, 2]),
            [1, 2].map(|n| Joined::Already(Ordinal(n)))
        );
    }

    #[test]
    fn a_merge_leaves_what_the_store_knows_of_an_import() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=3));
        stage.join([2]);
        let memory = Arc::new(stage.room.view(stage.clock));
        stage.room.rehost(server(1));
        stage.tell(Command::Merge(memory));
        stage.wait(secs(1));
        assert_eq!(stage.join([2]), [Joined::Already(Ordinal(2))]);
        assert_eq!(stage.join([3]), [Joined::Claimed(Ordinal(3))]);
    }

    #[test]
    fn a_room_made_from_memory_has_imported_places_back_by_their_tokens() {
        let mut stage = Stage::new(bank(1));
        stage.import(&waiting(1..=3));
        let memory = stage.room.view(stage.clock);
        stage.room = Room::from_memory(&memory, server(1), stage.clock, Bounds::default());
        stage.wait(secs(1));
        assert_eq!(
            stage.restore(holder(3, 3)),
            Standing::Live(ropeline_core::Live::InLine)
        );
        assert_eq!(stage.join([3]), [Joined::Already(Ordinal(3))]);
        assert_eq!(
            stage.join([2]),
            [Joined::New(Ordinal(4))],
            "nobody knows of it"
        );
    }

    #[test]
    fn what_was_imported_is_forgotten_with_the_endings_far_below_the_head() {
        let bounds = Bounds {
            base_trail: 0,
            base_step: 1 << 16,
            ..Bounds::default()
        };
        let mut stage = Stage::within(bounds, park(1));
        stage.import(&inside(1..=70_000));
        stage.join([7]);
        stage.settle_after(secs(30));
        let (imported, claimed) = (stage.room.imported(), stage.room.claimed());
        assert_eq!(imported.count(0..70_001), 70_001 - (1 << 16));
        assert_eq!(claimed.count(0..70_001), 0);
    }
}
