//! Places of another queue, on disk.

use std::time::Duration;

use ropeline_core::{Header, ImportRow, Imported, Joined, Live, Ordinal, Policy, Standing, Was};
use ropeline_store::{Operation, Store};

use crate::given::{Given, holder, policy, visitor};

const GRACE: Duration = Duration::from_secs(60);

fn rows(was: Was, users: impl IntoIterator<Item = u64>) -> Vec<ImportRow> {
    let rows = users.into_iter().map(|n| ImportRow {
        visitor: visitor(&n.to_string()),
        was,
    });
    rows.collect()
}

/// A room for two with 1 to 3 taken over as inside and 4 to 6 as waiting.
async fn imported() -> Given {
    let given = Given::room(Policy {
        batch: None,
        active_max: Some(2),
        ..policy()
    })
    .await;
    let all = [rows(Was::Inside, 1..=3), rows(Was::Waiting, 4..=6)].concat();
    let imported = given.store.import(&given.room, all, GRACE).await.unwrap();
    let placed = (1..=6).map(|n| Imported::Placed(Ordinal(n)));
    assert_eq!(imported, placed.collect::<Vec<_>>());
    given
}

#[tokio::test]
async fn imported_places_stand_where_they_were_after_a_crash() {
    let given = imported().await.crash();
    let standing = |n: u64| {
        let place = holder(&n.to_string(), n);
        given
            .store
            .room(&given.room)
            .unwrap()
            .standing(&place, ropeline_testing::line::START)
    };
    for n in 1..=2 {
        assert!(
            matches!(standing(n), Standing::Live(Live::Inside(_))),
            "{n}"
        );
    }
    assert_eq!(standing(3), Standing::Live(Live::AtDoor));
    assert_eq!(standing(4), Standing::Live(Live::InLine));
    assert_eq!(given.view().waiting(), 3);
}

#[tokio::test]
async fn a_place_is_claimed_once_even_through_a_crash() {
    let given = imported().await;
    assert_eq!(given.join("5").await.0, Joined::Claimed(Ordinal(5)));
    let given = given.crash();
    assert_eq!(given.join("5").await.0, Joined::Already(Ordinal(5)));
    assert_eq!(given.join("6").await.0, Joined::Claimed(Ordinal(6)));
    let again = rows(Was::Waiting, [4, 5]);
    assert_eq!(
        given.store.import(&given.room, again, GRACE).await.unwrap(),
        [
            Imported::Repeated(Ordinal(4)),
            Imported::Already(Ordinal(5))
        ]
    );
}

#[tokio::test]
async fn the_grace_is_known_after_a_crash() {
    let watchful = Policy {
        presence_ttl: Duration::from_secs(20),
        ..policy()
    };
    let given = Given::room(watchful).await;
    let all = rows(Was::Waiting, 1..=12);
    given.store.import(&given.room, all, GRACE).await.unwrap();
    let given = given.crash();
    for _ in 0..2 {
        given.advance(Duration::from_secs(10)).await;
    }
    let view = given.view();
    assert_eq!((view.inside, view.aside), (9, 0), "still in the grace");
    given.advance(Duration::from_secs(40)).await;
    assert_eq!(given.view().aside, 3, "no more");
}

#[tokio::test]
async fn nothing_of_an_import_is_left_of_a_deleted_room() {
    let given = imported().await;
    let (store, room) = (&given.store, &given.room);
    store.operate(room, Operation::Delete).await.unwrap();
    store.create(room, policy().into(), None).await.unwrap();
    let given = given.crash();
    assert_eq!(given.join("5").await.0, Joined::New(Ordinal(1)));
    assert_eq!(given.join("5").await.0, Joined::Already(Ordinal(1)));
}

#[tokio::test]
async fn a_header_that_an_earlier_version_wrote_is_read() {
    let given = Given::room(policy()).await;
    let header = given.view().header.clone();
    let mut json = serde_json::to_value(&header).unwrap();
    let removed = json.as_object_mut().unwrap().remove("imported_until");
    assert!(removed.is_some());
    assert_eq!(serde_json::from_value::<Header>(json).unwrap(), header);
}
