//! What a node knows of a room, told to a store that may have forgotten it.

use ropeline_core::{Departure, Ending, Joined, Live, Ordinal, Standing};

use super::{
    Fixture,
    given::{Given, bank, holder_of, is_inside, park, secs},
};

const IN_LINE: Standing = Standing::Live(Live::InLine);
const GONE: Standing = Standing::Ended(Ending::Gone);

/// Two inside, and a node that knows of three places more than the store does.
async fn three_lost<F: Fixture>(fixture: &mut F) -> Given<'_, F> {
    let given = Given::room(fixture, bank(9)).await;
    given.line(2).await;
    let mut memory = given.view().await;
    memory.header.issued = Ordinal(5);
    given.merge(memory).await;
    given
}

/// To be told what it knows changes nothing of a room but its version.
pub async fn what_is_known_already_changes_nothing(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.line(6).await;
    given.leave(5).await;
    let before = given.view().await;
    given.merge(before.clone()).await;
    let after = given.view().await;
    for n in 1..=7 {
        let ordinal = Ordinal(n);
        assert_eq!(after.locate(ordinal), before.locate(ordinal), "{n}");
    }
    assert_eq!(after.header.lost, None);
    assert_eq!(after.header.counters, before.header.counters);
}

/// A place that some node knows of is not given again.
pub async fn a_place_that_a_node_knows_of_is_not_given_again(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    assert_eq!(given.join("late").await, Joined::New(Ordinal(6)));
}

/// A lost place is put back where it was when its holder asks.
pub async fn a_lost_place_is_put_back_for_who_asks(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    assert_eq!(given.nth(4).await, IN_LINE);
    assert_eq!(given.find("user-4").await.unwrap().ordinal, Ordinal(4));
    assert_eq!(given.join("user-4").await, Joined::Already(Ordinal(4)));
    assert_eq!(given.view().await.header.counters.restored, 1);
}

/// A lost place is put back for who comes to the gate as well.
pub async fn a_lost_place_is_put_back_at_the_gate(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    assert_eq!(given.renew(4).await, IN_LINE);
    assert_eq!(given.find("user-4").await.unwrap().ordinal, Ordinal(4));
}

/// Lost places count as waiting all the time, so that nobody's place gets worse when they are put back.
pub async fn lost_places_count_as_waiting(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    given.join("late").await;
    let before = given.view().await.locate(Ordinal(6));
    given.nth(3).await;
    given.nth(5).await;
    assert_eq!(given.view().await.locate(Ordinal(6)), before);
}

/// Nobody is let in past places that may be lost before their holders had a minute to ask.
pub async fn nobody_is_let_in_past_the_lost_for_a_minute(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    given.join("late").await;
    let late = async || given.find("late").await.unwrap().standing;
    assert_eq!(late().await, IN_LINE);
    given.advance(secs(59)).await;
    assert_eq!(late().await, IN_LINE);
    given.nth(4).await;
    given.advance(secs(1)).await;
    assert!(is_inside(late().await));
    assert!(is_inside(given.nth(4).await));
}

/// Who gave up a lost place has left it.
pub async fn a_lost_place_can_be_given_up(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    assert_eq!(given.leave(4).await, Departure::Left);
    assert_eq!(given.nth(4).await, GONE);
}

/// Of a lost place and a new one of the same visitor, the one in front stays.
pub async fn of_two_places_the_one_in_front_stays(fixture: &mut impl Fixture) {
    let given = three_lost(fixture).await;
    assert_eq!(given.join("user-4").await, Joined::New(Ordinal(6)));
    assert_eq!(given.nth(4).await, IN_LINE);
    let view = given.view().await;
    assert_eq!(view.ending(Ordinal(6)), Some(Ending::Gone));
    assert_eq!(given.ask(holder_of("user-4", 6)).await, GONE);
    assert_eq!(given.find("user-4").await.unwrap().ordinal, Ordinal(4));
}

/// What has ended as far as some node knows has ended.
pub async fn what_a_node_saw_end_has_ended(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(5).await;
    let mut memory = given.view().await;
    memory.done.insert(1);
    memory.gone.insert(4);
    given.merge(memory).await;
    assert_eq!(given.nth(1).await, Standing::Ended(Ending::Done));
    assert_eq!(given.nth(4).await, GONE);
    assert_eq!(given.find("user-4").await, None);
    assert_eq!(given.counts().await, [2, 0, 0, 1], "1 has made room for 3");
}

/// Those whom some node saw pass by, and whom the store has in line, are at the door.
pub async fn who_was_seen_to_pass_by_is_at_the_door(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(5).await;
    let mut memory = given.view().await;
    memory.header.head = Ordinal(3);
    given.merge(memory).await;
    assert_eq!(given.counts().await, [1, 0, 2, 2]);
    given.advance(secs(10)).await;
    assert!(is_inside(given.nth(2).await));
    assert_eq!(
        given.nth(3).await,
        Standing::Live(Live::AtDoor { before: 0 })
    );
}

/// A node that remembers less takes nothing away.
pub async fn a_node_that_remembers_less_takes_nothing_away(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(2).await;
    let memory = given.view().await;
    given.join("user-3").await;
    given.leave(2).await;
    given.finish(1).await;
    let before = given.view().await;
    given.merge(memory).await;
    let after = given.view().await;
    assert!(after.header.version >= before.header.version);
    for n in 1..=4 {
        let ordinal = Ordinal(n);
        assert_eq!(after.locate(ordinal), before.locate(ordinal), "{n}");
    }
}

/// In which order the nodes tell what they know does not matter.
pub async fn the_order_of_the_nodes_does_not_matter(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    given.line(6).await;
    let mut one = given.view().await;
    let mut two = one.clone();
    one.header.issued = Ordinal(9);
    one.gone.insert(5);
    two.header.issued = Ordinal(8);
    two.gone.insert(6);
    two.done.insert(2);
    for memory in [&one, &two, &one] {
        given.merge(memory.clone()).await;
    }
    let view = given.view().await;
    assert_eq!(view.header.issued, Ordinal(9));
    for n in [5, 6] {
        assert_eq!(view.ending(Ordinal(n)), Some(Ending::Gone), "{n}");
    }
    assert_eq!(view.ending(Ordinal(2)), Some(Ending::Done));
}

/// Whom a reset put out, as far as some node knows, is out.
pub async fn whom_a_node_saw_put_out_is_out(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(4).await;
    let mut memory = given.view().await;
    (memory.header.floor, memory.header.head) = (Ordinal(3), Ordinal(3));
    given.merge(memory).await;
    for n in 1..=3 {
        assert_eq!(given.nth(n).await, GONE, "{n}");
    }
    assert_eq!(given.counts().await, [1, 0, 0, 0]);
}

/// Who finishes at the door was inside before it was forgotten, and is done.
pub async fn who_finishes_at_the_door_is_done(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(4).await;
    let mut memory = given.view().await;
    memory.header.head = Ordinal(3);
    given.merge(memory).await;
    assert_eq!(given.finish(3).await, Departure::Finished);
    assert_eq!(given.nth(3).await, Standing::Ended(Ending::Done));
}
