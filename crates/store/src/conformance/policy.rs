//! Changing how people are let in.

use std::sync::Arc;

use ropeline_core::{Identity, Policy};

use super::{
    Fixture,
    given::{Given, at_once, bank, is_inside, park, pass, secs, watchful_park},
};
use crate::Operation;

/// A policy that is set holds at once.
pub async fn a_policy_holds_at_once(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(5).await;
    given.set(bank(3)).await;
    assert_eq!(given.counts().await, [3, 0, 0, 2]);
    assert_eq!(*given.view().await.header.policy, bank(3));
}

/// A lower cap puts nobody out, and lets nobody in until fewer are inside.
pub async fn a_lower_cap_puts_nobody_out(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(3)).await;
    given.line(5).await;
    given.set(bank(1)).await;
    for (leaving, counts) in [(1, [2, 0, 0, 2]), (2, [1, 0, 0, 2]), (3, [1, 0, 0, 1])] {
        given.leave(leaving).await;
        assert_eq!(given.counts().await, counts);
    }
}

/// Another policy begins no other tick: what was let in in this one still counts.
pub async fn another_policy_keeps_the_tick(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(2)).await;
    given.line(6).await;
    given.advance(secs(4)).await;
    given.set(park(3)).await;
    assert_eq!(given.view().await.inside, 3, "one more than two");
    given.advance(secs(6)).await;
    assert_eq!(given.view().await.inside, 6);
}

/// A pass is renewed by the policy that holds when it is used.
pub async fn a_pass_is_renewed_by_the_policy_that_holds(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    given.line(1).await;
    given
        .set(Policy {
            pass_ttl: secs(100),
            ..bank(1)
        })
        .await;
    let renewed = pass(given.renew(1).await);
    assert_eq!(renewed.expires_at.since(renewed.since), secs(100));
}

/// The digest of a file stays with the room until another file is applied.
pub async fn a_digest_stays_until_another_comes(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let from_file = |digest: Option<&str>| Operation::SetPolicy {
        policy: Arc::new(bank(2)),
        digest: digest.map(ToOwned::to_owned),
    };
    given.operate(from_file(Some("one"))).await;
    given.operate(from_file(None)).await;
    let kept = given.view().await.header.digest;
    assert_eq!(kept.as_deref(), Some("one"));
    given.operate(from_file(Some("two"))).await;
    let kept = given.view().await.header.digest;
    assert_eq!(kept.as_deref(), Some("two"));
}

/// Who has worked on the policy that holds changes it, and keeps the digest of the file.
pub async fn who_has_seen_the_policy_changes_it(fixture: &mut impl Fixture) {
    let given = Given::no_room(fixture);
    let (store, room) = (given.store(), &given.room);
    let [one, two] = [bank(1), bank(2)].map(Arc::new);
    let digest = Some("file".to_owned());
    store.create(room, Arc::clone(&one), digest).await.unwrap();
    assert_eq!(store.change_policy(room, one, two).await, Ok(true));
    let header = given.view().await.header;
    assert_eq!(*header.policy, bank(2));
    assert_eq!(header.digest.as_deref(), Some("file"));
}

/// Who has worked on a policy that is another one by now is told so, and changes nothing.
pub async fn who_has_seen_another_policy_changes_nothing(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(2)).await;
    let [old, new] = [bank(1), bank(9)].map(Arc::new);
    let changed = given.store().change_policy(&given.room, old, new).await;
    assert_eq!(changed, Ok(false));
    assert_eq!(*given.view().await.header.policy, bank(2));
}

/// Of many who change the same policy at once, one has changed it.
pub async fn of_many_who_change_a_policy_one_has_changed_it(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, bank(1)).await;
    let changes = (2..=21).map(|cap| {
        let (store, room) = (given.store(), given.room.clone());
        let [from, to] = [bank(1), bank(cap)].map(Arc::new);
        async move { (cap, store.change_policy(&room, from, to).await.unwrap()) }
    });
    let changed = at_once(changes).await;
    let won: Vec<_> = changed.iter().filter(|(_, changed)| *changed).collect();
    assert_eq!(won.len(), 1, "{won:?}");
    let policy = given.view().await.header.policy;
    assert_eq!(policy.active_max, Some(won[0].0));
}

/// Every setting of a policy comes back as it was set.
pub async fn every_setting_is_kept(fixture: &mut impl Fixture) {
    let policy = Policy {
        every: secs(7),
        batch: Some(11),
        active_max: Some(13),
        pass_ttl: secs(17),
        pass_max: secs(19),
        presence_ttl: secs(23),
        missed_turn_ttl: secs(29),
        waiting_max: 31,
        identity: Identity::Jwt,
    };
    let given = Given::room(fixture, policy.clone()).await;
    assert_eq!(*given.view().await.header.policy, policy);
}

/// A policy that watches from now on takes nobody for absent who was there before.
pub async fn who_was_there_is_there_when_watching_begins(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, park(1)).await;
    given.line(2).await;
    given.operate(Operation::Pause).await;
    given.advance(secs(30)).await;
    given.set(watchful_park(1)).await;
    given.operate(Operation::Resume).await;
    let found = given.find("user-2").await.unwrap().standing;
    assert!(is_inside(found), "{found:?}");
}

/// Where watching begins again, whoever was there when it ended has as long as who was just heard of.
pub async fn who_was_there_has_time_when_watching_begins_again(fixture: &mut impl Fixture) {
    let given = Given::room(fixture, watchful_park(1)).await;
    given.operate(Operation::Pause).await;
    given.line(1).await;
    let a_round_ends = async || {
        given.advance(secs(10)).await;
        given.settle().await;
    };
    a_round_ends().await;
    a_round_ends().await;
    given.set(park(1)).await;
    given.set(watchful_park(1)).await;
    a_round_ends().await;
    a_round_ends().await;
    given.operate(Operation::Resume).await;
    given.settle().await;
    let found = given.find("user-1").await.unwrap().standing;
    assert!(is_inside(found), "{found:?}");
}
