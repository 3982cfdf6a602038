//! What every store promises, as stories that any store can be told.
//!
//! A story is a plain function that takes a [`Fixture`], shows one promise of [`Store`] and panics if it is not
//! kept; its documentation says the promise. [`conformance_tests!`](crate::conformance_tests) makes a test of
//! each of them, so that a failure names what is broken, and none can be forgotten for a store:
//!
//! ```text
//! mod on_files {
//!     ropeline_store::conformance_tests!(FileFixture::start().await);
//! }
//! ```
//!
//! Stories rely on the contract alone. Stores settle by themselves whenever they like, so a story that has moved
//! the clock asks for a settling before it looks, and one that looks at a picture has it refreshed first.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod given;

pub mod admission;
pub mod closing;
pub mod concurrency;
pub mod crash;
pub mod deletion;
pub mod departure;
pub mod find;
pub mod freezing;
pub mod healing;
pub mod import;
pub mod join;
pub mod keys;
pub mod nodes;
pub mod operation;
pub mod pass;
pub mod picture;
pub mod policy;
pub mod presence;
pub mod rooms;
pub mod stock;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use ropeline_core::Timestamp;

use crate::Store;

/// A store with nothing in it, at a clock that only the story moves.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// Another handle on the same rooms: that of another node, or, where only one process can have them, of
    /// another request.
    async fn another_node(&mut self) -> Arc<dyn Store>;

    /// What the clock of the store and of all its nodes shows.
    fn now(&self) -> Timestamp;

    /// Moves that clock on. What is due then happens no later than at the next settling.
    fn advance(&self, by: Duration);

    /// Everything that the store consists of stops without a word and begins again with what it has kept. From
    /// then on [`Fixture::store`] is another one.
    async fn crash(&mut self);
}

/// A story as it is told to a fixture.
pub type Story<F> = for<'a> fn(&'a mut F) -> BoxFuture<'a, ()>;

/// Makes a test of every story, each with a fixture of its own from the expression given.
///
/// The tests are in one module per topic, beside the macro's use. What the expression names must be in scope
/// there, and `tokio` among the dependencies.
///
/// With `in_turn:` before the expression all stories are one test with one fixture, which costs too much to be made
/// for each; its `begin_again().await` makes it as good as new.
#[macro_export]
macro_rules! conformance_tests {
    ($fixture:expr) => {
        $crate::conformance_tests!(@told each, $fixture);
    };
    (in_turn: $fixture:expr) => {
        $crate::conformance_tests!(@told in_turn, $fixture);
    };
    (@told $how:ident, $fixture:expr) => {
        $crate::conformance_tests!(@$how $fixture;
            admission: [
                never_more_are_inside_than_the_cap,
                a_freed_place_inside_is_taken_at_once,
                a_pass_that_ran_out_makes_room,
                a_batch_is_let_in_per_tick,
                missed_ticks_are_one_tick,
                the_batch_is_let_in_up_to_the_cap,
                the_line_is_let_in_in_its_order,
                a_large_tick_is_spent_as_a_whole,
                an_operator_lets_in_more_in_this_tick,
                an_operator_lets_in_no_more_than_the_cap,
            ],
            closing: [
                a_closed_store_refuses,
                what_was_answered_is_there_again,
            ],
            concurrency: [
                a_thousand_who_join_at_once_are_one_line,
                who_joins_a_thousand_times_at_once_has_one_place,
                who_was_answered_before_is_ahead,
                settling_at_once_never_goes_above_the_cap,
                settling_at_once_never_goes_above_the_batch,
                each_who_leaves_is_followed_by_one,
                a_pass_is_finished_once,
                a_pass_that_is_finished_while_used_is_over,
                a_visitor_is_put_out_once,
                a_crowd_that_comes_and_goes_is_counted_once,
            ],
            crash: [
                everybody_is_at_the_same_place,
                the_version_does_not_fall,
                a_pass_lives_on,
                a_renewal_is_kept_after_a_second,
                who_has_ended_stays_ended,
                a_repeated_request_is_recognised,
                a_reset_room_stays_empty,
                an_operators_word_holds,
                a_batch_is_not_let_in_again,
                totals_go_on,
            ],
            deletion: [
                a_deleted_room_is_not_there,
                a_room_is_deleted_once,
                a_deletion_outlives_a_crash,
                a_room_that_begins_again_has_a_later_epoch,
                a_room_that_begins_again_counts_its_versions_on,
                a_room_that_begins_again_is_empty,
                a_new_beginning_outlives_a_crash,
                a_join_beside_a_deletion_leaves_no_room,
                a_memory_of_before_brings_nothing_back,
                a_room_that_begins_again_knows_no_request_of_before,
            ],
            departure: [
                who_leaves_the_line_is_gone,
                who_leaves_while_inside_is_done,
                everybody_can_be_told_why_their_place_ended,
                one_leaves_once,
                who_finishes_makes_room,
                who_waits_has_nothing_to_finish,
                after_a_pass_ran_out_there_is_nothing_to_leave,
                nobody_leaves_with_the_place_of_another,
                an_old_token_does_not_act_for_a_new_place,
                who_is_put_out_is_gone,
                who_has_no_place_cannot_be_put_out,
                departures_are_counted,
            ],
            find: [
                a_visitor_is_found_inside_and_in_line,
                a_visitor_is_found_aside_and_at_the_door,
                looking_for_a_visitor_marks_nobody,
                looking_for_a_visitor_renews_nothing,
                who_has_no_place_is_not_found,
            ],
            freezing: [
                a_frozen_room_takes_no_change,
                a_frozen_room_is_shown_as_it_was,
                a_room_says_why_it_is_frozen,
                a_frozen_room_outlives_a_crash,
                a_thawed_room_goes_on,
                a_room_is_thawed_once,
                only_a_frozen_room_is_read_out,
                what_was_read_out_is_taken_in,
                nobody_is_put_out_by_an_arrival,
                only_an_arrival_is_discarded,
            ],
            healing: [
                what_is_known_already_changes_nothing,
                a_place_that_a_node_knows_of_is_not_given_again,
                a_lost_place_is_put_back_for_who_asks,
                a_lost_place_is_put_back_at_the_gate,
                lost_places_count_as_waiting,
                nobody_is_let_in_past_the_lost_for_a_minute,
                a_lost_place_can_be_given_up,
                of_two_places_the_one_in_front_stays,
                what_a_node_saw_end_has_ended,
                who_was_seen_to_pass_by_is_at_the_door,
                a_node_that_remembers_less_takes_nothing_away,
                the_order_of_the_nodes_does_not_matter,
                whom_a_node_saw_put_out_is_out,
                who_finishes_at_the_door_is_done,
            ],
            import: [
                imported_places_stand_as_they_did,
                everybody_at_the_door_knows_how_many_are_before,
                an_imported_place_is_claimed_once,
                a_row_is_taken_over_once,
                nobody_is_taken_over_past_the_line,
                a_full_line_takes_over_nobody,
                the_grace_ends,
                imported_places_outlive_a_crash,
                a_claim_outlives_a_crash,
                the_grace_outlives_a_crash,
                nothing_of_an_import_is_left_of_a_deleted_room,
                an_empty_line_is_no_line_ahead,
            ],
            join: [
                ordinals_are_given_in_order,
                a_second_join_is_answered_with_the_same_place,
                who_joins_where_there_is_room_is_inside,
                a_join_tells_where_the_place_stands,
                a_refused_join_stands_nowhere,
                nobody_overtakes_those_who_wait,
                a_closed_room_gives_no_place,
                a_full_line_takes_nobody,
                who_left_joins_again_behind_everybody,
                who_joins_after_a_pass_ran_out_gets_a_new_place,
                a_nameless_visitor_is_nobody_else,
                a_verified_user_and_whoever_states_the_id_have_two_places,
            ],
            keys: [
                a_repeated_request_is_recognised,
                another_key_is_no_repetition,
                a_key_is_not_used_for_another_request,
                a_key_is_remembered_for_ten_minutes,
                a_key_is_forgotten_after_twenty_minutes,
                a_refused_request_keeps_its_key,
                of_a_request_sent_often_at_once_one_is_new,
            ],
            nodes: [
                two_nodes_give_places_of_one_line,
                a_thousand_joins_on_two_nodes_are_one_line,
                a_visitor_on_two_nodes_has_one_place,
                who_joined_on_one_node_is_known_on_the_other,
                what_one_node_changes_the_other_shows,
                two_nodes_spend_a_batch_once,
                a_room_that_one_node_deleted_is_gone_on_the_other,
                a_room_that_one_node_made_is_there_on_the_other,
                a_change_on_one_node_is_not_overwritten_by_the_other,
            ],
            operation: [
                a_paused_room_lets_nobody_in,
                a_pause_ends_at_once,
                the_line_of_a_closed_room_goes_on,
                an_opened_room_takes_joins,
                a_drained_room_is_closed_once_empty,
                a_reset_puts_everybody_out,
                counting_goes_on_after_a_reset,
                a_word_that_holds_already_changes_nothing,
            ],
            pass: [
                a_pass_runs_out,
                a_used_pass_lasts_from_its_last_use,
                asking_does_not_renew,
                a_pass_is_kept_for_business,
                a_pass_is_kept_no_longer_than_the_policy_says,
                business_that_is_over_keeps_no_pass,
                who_has_no_more_business_makes_room,
                only_who_is_inside_is_kept,
                a_kept_pass_is_kept_over_a_crash,
                a_pass_lasts_no_longer_than_the_longest,
                a_pass_that_ran_out_is_not_renewed,
                who_waits_is_not_let_through,
                nobody_is_let_through_with_the_place_of_another,
                a_place_that_nobody_was_given_is_unknown,
            ],
            picture: [
                the_picture_agrees_with_the_answers,
                the_picture_counts_those_ahead_and_behind,
                nobody_is_shown_more_ahead_than_before,
                every_change_has_a_version_of_its_own,
                what_changes_nothing_has_no_version,
                the_picture_shows_what_was_answered,
                a_refreshed_picture_is_as_new_as_the_clock,
            ],
            policy: [
                a_policy_holds_at_once,
                a_lower_cap_puts_nobody_out,
                another_policy_keeps_the_tick,
                a_pass_is_renewed_by_the_policy_that_holds,
                a_digest_stays_until_another_comes,
                who_has_seen_the_policy_changes_it,
                who_has_seen_another_policy_changes_nothing,
                of_many_who_change_a_policy_one_has_changed_it,
                every_setting_is_kept,
                who_was_there_is_there_when_watching_begins,
                who_was_there_has_time_when_watching_begins_again,
            ],
            presence: [
                who_is_not_there_is_stepped_over,
                of_a_thousand_in_line_those_who_are_there_are_let_in,
                who_comes_back_in_time_is_served_first,
                a_mark_brings_back_who_missed_a_turn,
                who_does_not_come_back_is_gone,
                who_asks_is_there,
                nobody_is_stepped_over_where_presence_does_not_matter,
                an_outage_makes_nobody_absent,
                a_missed_turn_may_be_the_end,
                who_was_heard_of_lately_is_there,
            ],
            rooms: [
                a_room_is_made_once,
                of_many_who_make_a_room_one_has_made_it,
                a_new_room_is_open_and_empty,
                rooms_are_listed_by_name,
                rooms_do_not_mix,
                a_room_that_is_not_there_is_named,
                a_store_that_takes_joins_is_up,
            ],
            stock: [
                a_room_shows_what_is_left,
                what_is_told_no_more_is_not_shown,
                the_same_once_more_changes_nothing,
                where_nothing_is_left_the_line_goes_on,
                what_one_node_was_told_the_other_shows,
                what_is_left_outlives_a_crash,
                nothing_of_it_is_left_of_a_deleted_room,
                what_a_node_heard_last_is_so,
            ],
        );
    };
    (@in_turn $fixture:expr; $($topic:ident: [$($story:ident),+ $(,)?]),+ $(,)?) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn every_story_is_true() {
            let mut fixture = $fixture;
            let stories: &[(&str, $crate::conformance::Story<_>)] = &[$($((
                concat!(stringify!($topic), "::", stringify!($story)),
                |fixture| Box::pin($crate::conformance::$topic::$story(fixture)),
            )),+),+];
            for (name, story) in stories {
                println!("{name}");
                fixture.begin_again().await;
                story(&mut fixture).await;
            }
        }
    };
    (@each $fixture:expr; $($topic:ident: [$($story:ident),+ $(,)?]),+ $(,)?) => {
        $(mod $topic {
            #[allow(unused_imports, reason = "the fixture may need nothing of what is in scope")]
            use super::*;

            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                let mut fixture = $fixture;
                $crate::conformance::$topic::$story(&mut fixture).await;
            })+
        })+
    };
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    /// The stories that a topic's file has.
    fn told(file: &Path) -> Vec<String> {
        let topic = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(file).unwrap();
        let names = source.lines().filter_map(|line| {
            let name = line.strip_prefix("pub async fn ")?.split('(').next()?;
            Some(format!("{topic}::{name}"))
        });
        names.collect()
    }

    /// The stories that the macro makes tests of.
    fn listed() -> Vec<String> {
        let source = include_str!("mod.rs");
        let list = source.split("$fixture;\n").nth(1).unwrap();
        let list = list.split(");\n").next().unwrap();
        let topics = list.split_inclusive("],").filter_map(|topic| {
            let (topic, stories) = topic.split_once(": [")?;
            let stories = stories.trim_end_matches("],").split(',');
            let names = stories.map(str::trim).filter(|name| !name.is_empty());
            Some(names.map(move |name| format!("{}::{name}", topic.trim())))
        });
        topics.flatten().collect()
    }

    #[test]
    fn every_story_is_told_to_every_store() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
        let files = std::fs::read_dir(folder).unwrap();
        let told: BTreeSet<_> = files.flat_map(|file| told(&file.unwrap().path())).collect();
        assert!(told.len() > 50, "{}", told.len());
        assert_eq!(told, listed().into_iter().collect());
    }
}
