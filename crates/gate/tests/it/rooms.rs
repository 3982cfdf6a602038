//! What a real room answers, over HTTP and in the same process alike.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Holder, Ordinal, RoomId, UserId, Visitor};
use ropeline_gate::{Admitted, Decision, Gate, GateError, Gatekeeper, Refusal, Ticket};
use serde_json::json;

use crate::{
    behind::{ask, get, shop},
    room::Room,
};

fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

fn token(ticket: &Ticket) -> &str {
    ticket.view["token"].as_str().unwrap()
}

async fn joined(keeper: &Arc<dyn Gatekeeper>, id: &str) -> Ticket {
    keeper.join(&RoomId::main(), Some(&user(id))).await.unwrap()
}

async fn verified(keeper: &Arc<dyn Gatekeeper>, ticket: &Ticket) -> Decision {
    keeper.verify(&RoomId::main(), token(ticket)).await.unwrap()
}

fn inside(decision: Decision) -> Admitted {
    match decision {
        Decision::Enter(admitted) => admitted,
        other => panic!("not inside: {other:?}"),
    }
}

/// Tells a story of a room of its own over HTTP, and another in the same process.
macro_rules! on_both_sides {
    ($($story:ident),* $(,)?) => {
        mod over_http {
            use super::*;
            $(#[tokio::test]
            async fn $story() {
                let room = Room::open().await;
                super::$story(&room, &room.over_http()).await;
                room.close().await;
            })*
        }

        mod in_process {
            use super::*;
            $(#[tokio::test]
            async fn $story() {
                let room = Room::open().await;
                super::$story(&room, &room.in_process).await;
                room.close().await;
            })*
        }
    };
}

on_both_sides!(
    who_joins_first_is_inside_and_the_next_waits_until_they_finish,
    a_pass_is_kept_for_business_and_no_longer,
    a_user_comes_back_to_the_same_place_and_somebody_without_a_name_gets_a_new_one,
    what_is_no_token_of_the_room_is_refused,
    a_room_that_takes_nobody_says_why,
    a_room_that_is_not_there_is_said_to_be_so,
    those_who_wait_are_told_what_is_left,
    a_shop_behind_the_gate_serves_one_after_the_other,
);

async fn who_joins_first_is_inside_and_the_next_waits_until_they_finish(
    _: &Room,
    keeper: &Arc<dyn Gatekeeper>,
) {
    let room = RoomId::main();
    let (first, second) = (joined(keeper, "42").await, joined(keeper, "43").await);
    assert!(first.inside && !second.inside);
    let admitted = inside(verified(keeper, &first).await);
    assert_eq!((admitted.user_id(), admitted.verified), (Some("42"), true));
    assert_eq!(admitted.room, room);
    assert_eq!(admitted.holder.ordinal, Ordinal(1));
    assert_eq!(admitted.left, Some(Duration::from_secs(60)));
    let Decision::Wait(waiting) = verified(keeper, &second).await else {
        panic!("the second waits");
    };
    assert_eq!(waiting.position, 1);
    assert!(waiting.poll_after > Duration::ZERO);

    keeper.finish(&room, &admitted.holder).await.unwrap();
    let ended = Decision::Refuse(Refusal::Expired);
    assert_eq!(verified(keeper, &first).await, ended);
    let next = inside(verified(keeper, &second).await);
    assert_eq!(next.user_id(), Some("43"));
    // Told again, as an outbox would, it ends nobody else's pass.
    keeper.finish(&room, &admitted.holder).await.unwrap();
    inside(verified(keeper, &second).await);
}

async fn a_pass_is_kept_for_business_and_no_longer(room: &Room, keeper: &Arc<dyn Gatekeeper>) {
    let ticket = joined(keeper, "42").await;
    let admitted = inside(verified(keeper, &ticket).await);
    let five_minutes = Duration::from_secs(300);
    let main = RoomId::main();
    keeper
        .keep(&main, &admitted.holder, five_minutes)
        .await
        .unwrap();
    room.advance(200).await;
    assert_eq!(joined(keeper, "42").await.view["ordinal"], 1);
    room.advance(200).await;
    let decision = verified(keeper, &ticket).await;
    assert_eq!(decision, Decision::Refuse(Refusal::Expired));
    keeper
        .keep(&main, &admitted.holder, five_minutes)
        .await
        .unwrap();
    let decision = verified(keeper, &ticket).await;
    assert_eq!(decision, Decision::Refuse(Refusal::Expired));
}

async fn a_user_comes_back_to_the_same_place_and_somebody_without_a_name_gets_a_new_one(
    _: &Room,
    keeper: &Arc<dyn Gatekeeper>,
) {
    let nobody = keeper.join(&RoomId::main(), None).await.unwrap();
    let admitted = inside(verified(keeper, &nobody).await);
    assert_eq!(admitted.user_id(), None);
    assert!(admitted.holder.visitor.as_str().starts_with("a:"));
    let (first, again) = (joined(keeper, "42").await, joined(keeper, "42").await);
    assert_eq!(first.view["ordinal"], 2);
    assert_eq!(again.view["ordinal"], 2);
    let cookie = first.cookie.unwrap();
    let expected = format!("rl_main={}; ", first.view["token"].as_str().unwrap());
    assert!(
        cookie.to_str().unwrap().starts_with(&expected),
        "{cookie:?}"
    );
}

async fn what_is_no_token_of_the_room_is_refused(_: &Room, keeper: &Arc<dyn Gatekeeper>) {
    let ticket = joined(keeper, "42").await;
    let mut forged = token(&ticket).to_owned();
    forged.pop();
    for no_token in [forged.as_str(), "x", "a.b.c", ""] {
        let decision = keeper.verify(&RoomId::main(), no_token).await;
        assert_eq!(
            decision,
            Ok(Decision::Refuse(Refusal::Invalid)),
            "{no_token}"
        );
    }
}

async fn a_room_that_takes_nobody_says_why(room: &Room, keeper: &Arc<dyn Gatekeeper>) {
    let main = RoomId::main();
    joined(keeper, "1").await;
    joined(keeper, "2").await;
    let refused = keeper.join(&main, Some(&user("3"))).await;
    assert_eq!(refused, Err(GateError::RoomFull));
    room.operate("close").await;
    let refused = keeper.join(&main, Some(&user("3"))).await;
    assert_eq!(refused, Err(GateError::RoomClosed));
}

async fn a_room_that_is_not_there_is_said_to_be_so(_: &Room, keeper: &Arc<dyn Gatekeeper>) {
    let nowhere = RoomId::parse("nowhere").unwrap();
    let holder = Holder {
        visitor: Visitor::verified(&user("42")),
        ordinal: Ordinal(1),
    };
    let gone = Some(GateError::NoSuchRoom);
    assert_eq!(keeper.verify(&nowhere, "x").await.err(), gone);
    assert_eq!(keeper.join(&nowhere, None).await.err(), gone);
    assert_eq!(keeper.finish(&nowhere, &holder).await.err(), gone);
    let kept = keeper.keep(&nowhere, &holder, Duration::from_secs(1));
    assert_eq!(kept.await.err(), gone);
}

async fn those_who_wait_are_told_what_is_left(_: &Room, keeper: &Arc<dyn Gatekeeper>) {
    let main = RoomId::main();
    for left in [Some(120), Some(0), None] {
        keeper.stock(&main, left).await.unwrap();
        let view = joined(keeper, "42").await.view;
        assert_eq!(view["seatsLeft"], json!(left));
    }
}

async fn a_shop_behind_the_gate_serves_one_after_the_other(_: &Room, keeper: &Arc<dyn Gatekeeper>) {
    let gate = Gate::new(RoomId::main(), Arc::clone(keeper)).issue_missing();
    let shop = shop(gate.users(|head| head.extensions.get::<UserId>().cloned()));
    let first = ask(&shop, get("/pay").extension(user("42"))).await;
    assert_eq!((first.status, first.body.as_str()), (200, "v:42"));
    let second = ask(&shop, get("/pay").extension(user("43"))).await;
    assert_eq!(second.code(403), "NOT_ADMITTED");
    let place = second.problem()["place"].clone();
    assert_eq!(
        (&place["userId"], &place["position"]),
        (&"43".into(), &1.into())
    );
    let cookie = second.headers["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let waits = ask(&shop, get("/pay").header("cookie", &cookie)).await;
    assert_eq!(waits.code(403), "NOT_ADMITTED");

    let token = first.headers["x-queue-token"].to_str().unwrap();
    let admitted = keeper.verify(&RoomId::main(), token).await.unwrap();
    let holder = inside(admitted).holder;
    keeper.finish(&RoomId::main(), &holder).await.unwrap();
    let entered = ask(&shop, get("/pay").header("cookie", &cookie)).await;
    assert_eq!((entered.status, entered.body.as_str()), (200, "v:43"));
}

#[tokio::test]
async fn a_service_that_is_not_believed_is_told_that_a_setting_is_wrong() {
    let room = Room::open().await;
    let keeper = room.asked_with("another-key-than-the-rooms");
    let error = keeper.join(&RoomId::main(), None).await.unwrap_err();
    assert!(matches!(error, GateError::Misconfigured(_)), "{error:?}");
    assert!(!error.to_string().contains("another-key"), "{error}");
    let error = keeper.verify(&RoomId::main(), "x").await.unwrap_err();
    assert!(matches!(error, GateError::Misconfigured(_)), "{error:?}");
    room.close().await;
}
