//! Visitors whose id is of 128 bits, of whom Redis keeps the bytes.

use std::{sync::Arc, time::Duration};

use ropeline_core::{
    Departure, Holder, ImportRow, Imported, Joined, Joiner, Live, Ordinal, RoomId, Standing,
    UserId, Visitor, Was,
};
use ropeline_store::{EmbeddedStore, Found, Named, Over, RedisStore, Store, SystemClock, carry};
use ropeline_testing::TestRedis;

use super::{join, node, room_for_one};
use crate::given::{directory, holder, visitor};

const UUID: &str = "7d44a0e3-0a0d-4c5b-8000-00ff10203040";
const OF_UUID: &str = "U 7d44a0e30a0d4c5b800000ff10203040";
const VERIFIED_OF_UUID: &str = "V 7d44a0e30a0d4c5b800000ff10203040";
const NAMELESS: u128 = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
const OF_NAMELESS: &str = "A 000102030405060708090a0b0c0d0e0f";
const IN_LINE: Standing = Standing::Live(Live::InLine);

/// What `places` has, in the order of the line: a short name as its letter and hex digits.
fn members(redis: &TestRedis) -> Vec<String> {
    let read = "
        local function hex(c) return string.format('%02x', c:byte()) end
        local members = redis.call('ZRANGE', KEYS[1], 0, -1)
        for i, member in ipairs(members) do
          if member:sub(2, 2) ~= ':' then members[i] = member:sub(1, 1) .. ' ' .. member:sub(2):gsub('.', hex) end
        end
        return members";
    let members = redis.cli(&["EVAL", read, "1", "rl:{main}:places"]);
    members.lines().map(str::to_owned).collect()
}

async fn find(store: &dyn Store, room: &RoomId, visitor: &Visitor) -> Option<(u64, Standing)> {
    let found = store.find(room, visitor).await.unwrap();
    found.map(|Found { ordinal, standing }| (ordinal.0, standing))
}

/// Somebody inside, then a visitor with a UUID and one without a name.
async fn line_of_three(redis: &TestRedis) -> (RedisStore, RoomId) {
    let store = node(redis).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "ann").await.unwrap();
    join(&store, &room, UUID).await.unwrap();
    let visitor = Visitor::anonymous(NAMELESS);
    let nameless = Joiner { visitor, key: None };
    store.join(&room, nameless).await.unwrap();
    (store, room)
}

#[tokio::test]
async fn an_id_of_128_bits_is_kept_in_17_bytes_and_any_other_as_it_is() {
    let redis = TestRedis::on_no_disk();
    line_of_three(&redis).await;
    let kept = ["u:ann", OF_UUID, OF_NAMELESS];
    assert_eq!(members(&redis), kept);
}

#[tokio::test]
async fn verified_users_are_kept_apart_from_those_who_state_their_ids() {
    let redis = TestRedis::on_no_disk();
    let (store, room) = line_of_three(&redis).await;
    for (id, ordinal) in [("ann", 4), (UUID, 5)] {
        let visitor = Visitor::verified(&UserId::parse(id).unwrap());
        let joiner = Joiner { visitor, key: None };
        let (joined, _) = store.join(&room, joiner).await.unwrap();
        assert_eq!(joined, Joined::New(Ordinal(ordinal)));
    }
    let kept = ["u:ann", OF_UUID, OF_NAMELESS, "v:ann", VERIFIED_OF_UUID];
    assert_eq!(members(&redis), kept);
}

#[tokio::test]
async fn who_has_a_uuid_is_known_again() {
    let redis = TestRedis::on_no_disk();
    let (store, room) = line_of_three(&redis).await;
    let (uuid, nameless) = (visitor(UUID), Visitor::anonymous(NAMELESS));
    assert_eq!(
        join(&store, &room, UUID).await,
        Ok(Joined::Already(Ordinal(2)))
    );
    assert_eq!(find(&store, &room, &uuid).await, Some((2, IN_LINE)));
    assert_eq!(find(&store, &room, &nameless).await, Some((3, IN_LINE)));
    let asked = store.ask(&room, holder(UUID, 2)).await;
    assert_eq!(asked, Ok(IN_LINE));
    assert_eq!(members(&redis).len(), 3);
}

#[tokio::test]
async fn a_uuid_in_capitals_is_somebody_else() {
    let redis = TestRedis::on_no_disk();
    let (store, room) = line_of_three(&redis).await;
    let capitals = UUID.to_uppercase();
    assert_eq!(
        join(&store, &room, &capitals).await,
        Ok(Joined::New(Ordinal(4)))
    );
    assert_eq!(members(&redis)[3], format!("u:{capitals}"));
}

#[tokio::test]
async fn who_has_a_uuid_is_let_in_keeps_the_pass_and_is_done() {
    let redis = TestRedis::on_no_disk();
    let (store, room) = line_of_three(&redis).await;
    let uuid = || holder(UUID, 2);
    store.leave(&room, holder("ann", 1)).await.unwrap();
    let inside = |standing| matches!(standing, Standing::Live(Live::Inside(_)));
    assert!(inside(store.renew(&room, uuid()).await.unwrap()));
    let business = Duration::from_secs(900);
    assert!(inside(store.keep(&room, uuid(), business).await.unwrap()));
    assert_eq!(store.finish(&room, uuid()).await, Ok(Departure::Finished));
    let nameless = Holder {
        visitor: Visitor::anonymous(NAMELESS),
        ordinal: Ordinal(3),
    };
    assert!(inside(store.renew(&room, nameless).await.unwrap()));
    assert_eq!(members(&redis), [OF_NAMELESS]);
}

#[tokio::test]
async fn who_has_a_uuid_can_be_put_out() {
    let redis = TestRedis::on_no_disk();
    let (store, room) = line_of_three(&redis).await;
    let put_out = store.revoke(&room, visitor(UUID)).await;
    assert_eq!(put_out, Ok(Some(Ordinal(2))));
    assert_eq!(members(&redis), ["u:ann", OF_NAMELESS]);
}

#[tokio::test]
async fn who_has_a_uuid_joins_for_the_place_that_an_import_gave() {
    let redis = TestRedis::on_no_disk();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    let row = ImportRow {
        visitor: visitor(UUID),
        was: Was::Waiting,
    };
    let imported = store.import(&room, vec![row], Duration::ZERO).await;
    assert_eq!(imported, Ok(vec![Imported::Placed(Ordinal(1))]));
    assert_eq!(members(&redis), [OF_UUID]);
    assert_eq!(
        join(&store, &room, UUID).await,
        Ok(Joined::Claimed(Ordinal(1)))
    );
}

/// From one Redis to a file, and from there to another Redis.
#[tokio::test]
async fn who_has_a_uuid_is_carried_by_a_move() {
    let (redis, files, other_redis) = (
        TestRedis::on_no_disk(),
        directory(),
        TestRedis::on_no_disk(),
    );
    let (store, room) = line_of_three(&redis).await;
    let file = EmbeddedStore::open(files.path(), Arc::new(SystemClock::start())).unwrap();
    let other = node(&other_redis).await;
    let [from, through, to] = [
        ("from", &store as &dyn Store),
        ("through", &file),
        ("to", &other),
    ]
    .map(|(name, store)| Named { store, name });
    for (from, to) in [(from, through), (through, to)] {
        let moved = carry(&room, from, to, Over::Nothing, |_| {}).await.unwrap();
        assert_eq!((moved.inside, moved.in_line), (1, 2));
        to.store.refresh(&room).await;
        for (visitor, ordinal) in [(visitor(UUID), 2), (Visitor::anonymous(NAMELESS), 3)] {
            let found = find(to.store, &room, &visitor).await;
            assert_eq!(found, Some((ordinal, IN_LINE)));
        }
    }
    assert_eq!(members(&other_redis), members(&redis));
    assert_eq!(
        join(&other, &room, UUID).await,
        Ok(Joined::Already(Ordinal(2)))
    );
}
