//! Who is let through, and what the others are told.

use std::sync::Arc;

use ropeline_core::RoomId;
use ropeline_gate::{Cookies, Gate};

use crate::{
    behind::{ask, gate, get, shop},
    doorman::{Doorman, Mood},
};

#[tokio::test]
async fn who_is_inside_reaches_the_service_which_knows_them() {
    let shop = shop(gate(Doorman::default()));
    let reply = ask(&shop, get("/pay").header("x-queue-token", "in-42")).await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "v:42"));
    assert!(!reply.headers.contains_key("set-cookie"));
}

#[tokio::test]
async fn who_waits_learns_how_long() {
    let shop = shop(gate(Doorman::default()));
    let reply = ask(&shop, get("/pay").header("x-queue-token", "wait-3")).await;
    assert_eq!(reply.code(403), "NOT_ADMITTED");
    let problem = reply.problem();
    assert_eq!(problem["position"], 3);
    assert_eq!(problem["pollAfterMs"], 1_500);
    assert_eq!(problem["type"], "/problems/not-admitted");
}

#[tokio::test]
async fn a_token_that_is_good_for_nothing_is_401_and_says_where_to_join() {
    let shop = shop(gate(Doorman::default()).join_at("https://tickets.example/wait/main"));
    for (token, code) in [
        ("forged", "TOKEN_INVALID"),
        ("done", "TOKEN_EXPIRED"),
        ("gone", "TOKEN_NOT_FOUND"),
    ] {
        let reply = ask(&shop, get("/pay").header("x-queue-token", token)).await;
        assert_eq!(reply.code(401), code);
        assert_eq!(
            reply.problem()["joinAt"],
            "https://tickets.example/wait/main"
        );
    }
}

#[tokio::test]
async fn without_a_token_nobody_is_asked_about() {
    let keeper = Arc::new(Doorman::default());
    let shop = shop(Gate::new(RoomId::main(), Arc::clone(&keeper) as _));
    let reply = ask(&shop, get("/pay")).await;
    assert_eq!(reply.code(401), "TOKEN_INVALID");
    assert_eq!(reply.problem()["joinAt"], "/wait/main");
    assert_eq!((keeper.verified(), keeper.joined().len()), (0, 0));
}

#[tokio::test]
async fn the_token_is_taken_from_the_first_place_that_has_one() {
    let shop = shop(gate(Doorman::default()));
    let all = get("/")
        .header("x-queue-token", "in-header")
        .header("token", "in-plain")
        .header("cookie", "rl_main=in-cookie");
    assert_eq!(ask(&shop, all).await.body, "v:header");
    let plain = get("/")
        .header("token", "in-plain")
        .header("cookie", "rl_main=in-cookie");
    assert_eq!(ask(&shop, plain).await.body, "v:plain");
    let cookie = get("/").header("cookie", "a=b; rl_main=in-cookie; rl_other=in-other");
    assert_eq!(ask(&shop, cookie).await.body, "v:cookie");
    let both = get("/").header("cookie", "rl_main=in-anyhost; __Host-rl_main=in-thishost");
    assert_eq!(ask(&shop, both).await.body, "v:thishost");
}

#[tokio::test]
async fn a_bad_token_in_the_header_is_not_made_good_by_a_cookie() {
    let shop = shop(gate(Doorman::default()));
    let request = get("/")
        .header("x-queue-token", "forged")
        .header("cookie", "rl_main=in-cookie");
    assert_eq!(ask(&shop, request).await.code(401), "TOKEN_INVALID");
}

#[tokio::test]
async fn a_gate_behind_https_may_take_only_cookies_of_its_own_host() {
    let shop = shop(gate(Doorman::default()).cookies(Cookies::HostOnly));
    let tossed = get("/").header("cookie", "rl_main=in-anyhost");
    assert_eq!(ask(&shop, tossed).await.code(401), "TOKEN_INVALID");
    let own = get("/").header("cookie", "__Host-rl_main=in-thishost");
    assert_eq!(ask(&shop, own).await.body, "v:thishost");
}

#[tokio::test]
async fn exempt_paths_are_reached_without_asking() {
    let keeper = Arc::new(Doorman::default());
    let gate = Gate::new(RoomId::main(), Arc::clone(&keeper) as _);
    let shop = shop(gate.exempt("/").exempt("/assets/*"));
    assert_eq!(ask(&shop, get("/")).await.body, "somebody");
    let style = ask(
        &shop,
        get("/assets/style.css").header("x-queue-token", "in-42"),
    )
    .await;
    assert_eq!(style.body, "free");
    assert_eq!(style.headers["cache-control"], "public, max-age=60");
    assert_eq!(keeper.verified(), 0);
    for path in ["/pay", "/assets/../pay", "/assets/%2e%2e/pay", "/assets"] {
        assert_eq!(
            ask(&shop, get(path)).await.code(401),
            "TOKEN_INVALID",
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_room_that_opened_its_gate_lets_everybody_through() {
    let shop = shop(gate(Doorman::in_mood(Mood::Open)));
    let known = ask(&shop, get("/").header("x-queue-token", "in-42")).await;
    assert_eq!(known.body, "v:42");
    let unknown = ask(&shop, get("/").header("x-queue-token", "forged")).await;
    assert_eq!((unknown.status, unknown.body.as_str()), (200, "somebody"));
}

#[tokio::test]
async fn the_inner_of_two_gates_does_not_take_the_word_of_the_outer() {
    let inner = gate(Doorman::in_mood(Mood::Open));
    let shop = shop(inner).layer(Gate::new(
        RoomId::parse("outer").unwrap(),
        Arc::new(Doorman::default()),
    ));
    let request = get("/").header("x-queue-token", "in-42");
    assert_eq!(ask(&shop, request).await.body, "v:42");
    let by_cookies = get("/").header("cookie", "rl_outer=in-42; rl_main=forged");
    assert_eq!(ask(&shop, by_cookies).await.body, "somebody");
}
