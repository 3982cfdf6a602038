//! Places for who comes without a token.

use std::sync::Arc;

use http::Request;
use ropeline_core::{RoomId, UserId};
use ropeline_gate::Gate;

use crate::{
    behind::{ask, gate, get, shop},
    doorman::{Doorman, Mood},
};

#[tokio::test]
async fn who_finds_room_goes_through_and_takes_the_token_along() {
    let shop = shop(gate(Doorman::with_free(1)).issue_missing());
    let reply = ask(&shop, get("/pay")).await;
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (200, "a:00000000000000000000000000000007")
    );
    assert_eq!(reply.headers["set-cookie"], "rl_main=in-; Path=/; HttpOnly");
    assert_eq!(reply.headers["x-queue-token"], "in-");
}

#[tokio::test]
async fn an_answer_with_a_token_is_kept_by_no_cache() {
    let shop = shop(gate(Doorman::with_free(1)).issue_missing());
    let reply = ask(&shop, get("/assets/style.css")).await;
    assert_eq!(reply.body, "free");
    assert_eq!(reply.headers["cache-control"], "no-store");
    let again = get("/assets/style.css").header("cookie", "rl_main=in-42");
    let reply = ask(&shop, again).await;
    assert_eq!(reply.headers["cache-control"], "public, max-age=60");
}

#[tokio::test]
async fn who_finds_a_line_gets_a_place_in_it() {
    let shop = shop(gate(Doorman::with_free(0)).issue_missing());
    let reply = ask(&shop, get("/pay")).await;
    assert_eq!(reply.code(403), "NOT_ADMITTED");
    let problem = reply.problem();
    assert_eq!(problem["token"], "wait-12");
    assert_eq!(problem["place"]["token"], "wait-12");
    assert_eq!(problem["position"], 12);
    assert_eq!(problem["pollAfterMs"], 900);
    assert_eq!(
        reply.headers["set-cookie"],
        "rl_main=wait-12; Path=/; HttpOnly"
    );
    assert_eq!(reply.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn a_place_is_issued_to_the_user_that_the_service_knows() {
    let keeper = Arc::new(Doorman::with_free(9));
    let gate = Gate::new(RoomId::main(), Arc::clone(&keeper) as _)
        .issue_missing()
        .users(|head| head.extensions.get::<UserId>().cloned());
    let shop = shop(gate);
    let known = get("/pay").extension(UserId::parse("42").unwrap());
    assert_eq!(ask(&shop, known).await.body, "v:42");
    ask(&shop, get("/pay")).await;
    assert_eq!(keeper.joined(), [Some("42".to_owned()), None]);
}

#[tokio::test]
async fn a_token_that_has_ended_is_not_traded_for_a_new_place() {
    let keeper = Arc::new(Doorman::with_free(9));
    let shop = shop(Gate::new(RoomId::main(), Arc::clone(&keeper) as _).issue_missing());
    let reply = ask(&shop, get("/pay").header("cookie", "rl_main=done")).await;
    assert_eq!(reply.code(401), "TOKEN_EXPIRED");
    assert!(keeper.joined().is_empty());
}

#[tokio::test]
async fn a_page_of_another_site_cannot_make_a_browser_trade_its_place() {
    let keeper = Arc::new(Doorman::with_free(9));
    let shop = shop(Gate::new(RoomId::main(), Arc::clone(&keeper) as _).issue_missing());
    let forced = Request::post("/pay").header("sec-fetch-site", "cross-site");
    assert_eq!(ask(&shop, forced).await.code(401), "TOKEN_INVALID");
    assert!(keeper.joined().is_empty());
    let own = Request::post("/pay").header("sec-fetch-site", "same-origin");
    assert_eq!(ask(&shop, own).await.status, 200);
    let followed_link = get("/pay").header("sec-fetch-site", "cross-site");
    assert_eq!(ask(&shop, followed_link).await.status, 200);
}

#[tokio::test]
async fn a_place_is_not_lost_when_the_room_goes_away_right_after() {
    let shop = shop(gate(Doorman::in_mood(Mood::FailingAtVerify)).issue_missing());
    let reply = ask(&shop, get("/pay")).await;
    assert_eq!(reply.code(503), "STORE_UNAVAILABLE");
    assert_eq!(reply.problem()["token"], "in-");
    assert_eq!(reply.headers["set-cookie"], "rl_main=in-; Path=/; HttpOnly");
    assert_eq!(reply.headers["retry-after"], "4");
}
