//! Those who are not there neither hold up the line nor lose their place at once.

use std::time::Duration;

use ropeline_core::{Live, Ordinal, Policy, Standing};
use ropeline_store::{Operation, Store};

use crate::given::{Given, policy};

#[tokio::test]
async fn of_a_thousand_in_line_the_hundred_who_are_there_are_inside_within_two_ticks() {
    let presence_ttl = Duration::from_secs(20);
    let given = Given::room(Policy {
        batch: Some(100),
        presence_ttl,
        ..policy()
    })
    .await;
    given
        .store
        .operate(&given.room, Operation::Pause)
        .await
        .unwrap();
    for n in 1..=1_000 {
        given.join(&format!("user-{n}")).await;
    }
    // Every tenth goes on polling for a minute; the others have closed the tab.
    let there = (1..=1_000).filter(|n| n % 10 == 0);
    for _ in 0..12 {
        given.advance(Duration::from_secs(5)).await;
        there
            .clone()
            .for_each(|n| given.store.mark(&given.room, Ordinal(n)));
    }
    given
        .store
        .operate(&given.room, Operation::Resume)
        .await
        .unwrap();
    given.advance(Duration::from_secs(10)).await;
    for n in there {
        let standing = given.ask(&format!("user-{n}"), n).await;
        assert!(
            matches!(standing, Standing::Live(Live::Inside(_))),
            "{n}: {standing:?}"
        );
    }
    assert_eq!(
        (
            given.view().inside,
            given.view().aside,
            given.view().waiting()
        ),
        (100, 900, 0)
    );
}

#[tokio::test]
async fn who_comes_back_in_time_is_served_first_and_who_does_not_is_gone() {
    let presence_ttl = Duration::from_secs(20);
    let given = Given::room(Policy {
        batch: Some(1),
        presence_ttl,
        ..policy()
    })
    .await;
    given
        .store
        .operate(&given.room, Operation::Pause)
        .await
        .unwrap();
    for user in ["late", "gone", "there"] {
        given.join(user).await;
    }
    for _ in 0..4 {
        given.advance(Duration::from_secs(10)).await;
        given.store.mark(&given.room, Ordinal(3));
    }
    given
        .store
        .operate(&given.room, Operation::Resume)
        .await
        .unwrap();
    assert!(matches!(
        given.ask("there", 3).await,
        Standing::Live(Live::Inside(_))
    ));
    assert_eq!(given.ask("late", 1).await, Standing::Live(Live::AtDoor));
    given.join("behind").await;
    given.advance(Duration::from_secs(10)).await;
    assert!(matches!(
        given.ask("late", 1).await,
        Standing::Live(Live::Inside(_))
    ));
    assert_eq!(given.ask("behind", 4).await, Standing::Live(Live::InLine));
    given.advance(Duration::from_secs(60)).await;
    assert!(matches!(given.ask("gone", 2).await, Standing::Ended(_)));
}

#[tokio::test]
async fn a_restart_makes_nobody_absent() {
    let presence_ttl = Duration::from_secs(20);
    let given = Given::room(Policy {
        batch: Some(1),
        presence_ttl,
        ..policy()
    })
    .await;
    given.join("first").await;
    given.join("second").await;
    given.clock.advance(Duration::from_secs(3_600));
    let given = given.crash();
    given.advance(Duration::from_secs(10)).await;
    assert!(matches!(
        given.ask("second", 2).await,
        Standing::Live(Live::Inside(_))
    ));
}
