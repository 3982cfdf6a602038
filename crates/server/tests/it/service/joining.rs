//! A service joins for its users.

use ropeline_testing::http::Ask;
use serde_json::{Value, json};

use super::way::{BOTH, Way, service};
use crate::{
    app::{ADMIN_KEY, TOKENS, TestApp, field},
    site::{Site, login},
};

#[test]
fn a_user_whom_a_service_joins_is_verified_and_has_one_place() {
    for (first, second) in [(Way::Http, Way::InProcess), (Way::InProcess, Way::Http)] {
        let mut app = TestApp::new();
        app.token_of("inside");
        let joined = first.join(&mut app, Some("42")).unwrap();
        let resumed = second.join(&mut app, Some("42")).unwrap();
        assert!(!joined.inside && joined.view["status"] == "WAITING");
        assert_eq!(
            (&joined.view["userId"], &joined.view["ordinal"]),
            (&json!("42"), &json!(2))
        );
        assert_eq!(joined.view, resumed.view, "the same in every member");
        for ticket in [&joined, &resumed] {
            let token = ticket.view["token"].as_str().unwrap();
            let cookie = ticket.cookie.as_ref().unwrap().to_str().unwrap();
            assert!(
                cookie.starts_with(&format!("rl_main={token}; Path=/;")),
                "{cookie}"
            );
        }
        app.advance(10);
        let token = joined.view["token"].as_str().unwrap();
        assert_eq!(
            app.verify(token).header("x-queue-user-verified"),
            Some("true")
        );
        let inside = first.join(&mut app, Some("42")).unwrap();
        assert!(inside.inside && inside.view["position"] == 0);
    }
}

#[test]
fn a_service_is_not_given_the_place_of_somebody_who_stated_the_user_id() {
    for way in BOTH {
        let mut app = TestApp::new();
        let stranger = app.token_of("42");
        let joined = way.join(&mut app, Some("42")).unwrap();
        assert_eq!(joined.view["ordinal"], 2);
        app.send(Ask::delete(TOKENS).token(&stranger));
        let again = way.join(&mut app, Some("42")).unwrap();
        assert_eq!(again.view["ordinal"], 2, "their own place is there");
    }
}

#[test]
fn a_new_place_is_201_and_a_resumed_one_200() {
    let mut app = TestApp::new();
    for (status, user) in [(201, json!(42)), (200, json!("42")), (200, json!(42))] {
        let reply = app.send(service("main", "tokens").json(&json!({"userId": user})));
        assert_eq!(
            (reply.status, field(&reply, "userId")),
            (status, json!("42"))
        );
    }
}

#[test]
fn somebody_without_a_name_gets_a_new_place_each_time() {
    let mut app = TestApp::new();
    for (ordinal, way) in [Way::Http, Way::Http, Way::InProcess]
        .into_iter()
        .enumerate()
    {
        let ticket = way.join(&mut app, None).unwrap();
        assert_eq!(ticket.view["ordinal"], ordinal + 1);
        assert_eq!(ticket.view["userId"], Value::Null);
    }
    let empty = app.send(service("main", "tokens"));
    assert_eq!(empty.status, 201, "a body may be left out");
}

/// How many are inside, missed their turn, and are served next, without asking for anybody's place.
fn figures(app: &mut TestApp) -> [Value; 3] {
    let ask = Ask::get("/api/v1/admin/rooms/main");
    let room = app.send(ask.header("Authorization", &format!("Bearer {ADMIN_KEY}")));
    ["active", "aside", "door"].map(|name| field(&room, name))
}

#[test]
fn who_is_joined_again_by_a_service_is_there_when_their_turn_comes() {
    let config = "[rooms.main]\nactive_max = 1\npass_ttl = '60s'\npresence_ttl = '20s'\n";
    for way in BOTH {
        let mut app = TestApp::with(config);
        let inside = app.token_of("inside");
        for user in ["away", "there"] {
            way.join(&mut app, Some(user)).unwrap();
        }
        for _ in 0..5 {
            app.advance(10);
            app.verify(&inside);
            way.join(&mut app, Some("there")).unwrap();
        }
        app.send(Ask::delete(TOKENS).token(&inside));
        assert_eq!(figures(&mut app), [1, 1, 0].map(Value::from));
        let now_inside = way.join(&mut app, Some("there")).unwrap();
        assert!(now_inside.inside, "nobody waits for who is away");
        let back = way.join(&mut app, Some("away")).unwrap();
        assert_eq!(back.view["position"], 1);
        assert_eq!(figures(&mut app), [1, 0, 1].map(Value::from));
    }
}

#[test]
fn a_room_that_takes_nobody_says_so_both_ways() {
    let mut app = TestApp::with("[rooms.main]\nactive_max = 1\nwaiting_max = 1\n");
    app.token_of("inside");
    Way::Http.join(&mut app, Some("waiting")).unwrap();
    for way in BOTH {
        assert_eq!(way.join(&mut app, Some("x")).unwrap_err(), "ROOM_FULL");
    }
    let close = Ask::post("/api/v1/admin/rooms/main/close");
    app.send(close.header("Authorization", &format!("Bearer {ADMIN_KEY}")));
    for way in BOTH {
        assert_eq!(way.join(&mut app, Some("x")).unwrap_err(), "ROOM_CLOSED");
        let resumed = way.join(&mut app, Some("waiting")).unwrap();
        assert_eq!(resumed.view["ordinal"], 2, "who has a place keeps it");
    }
}

#[test]
fn a_room_of_logins_takes_a_services_word_for_one() {
    for way in BOTH {
        let mut site = Site::sharing_a_secret("jwt");
        let joined = way.join(&mut site.app, Some("ann")).unwrap();
        let by_login = site.join(&login("ann"));
        assert_eq!(
            (by_login.status, field(&by_login, "ordinal")),
            (200, json!(1))
        );
        let token = joined.view["token"].as_str().unwrap();
        assert_eq!(
            site.app.verify(token).header("x-queue-user-verified"),
            Some("true")
        );
        assert_eq!(
            way.join(&mut site.app, None).unwrap_err(),
            "INVALID_REQUEST"
        );
    }
}

#[test]
fn an_anonymous_room_takes_no_name_from_a_service_either() {
    for way in BOTH {
        let mut app = TestApp::with("[rooms.main]\nbatch = 5\nidentity = 'anonymous'\n");
        assert_eq!(
            way.join(&mut app, Some("ann")).unwrap_err(),
            "INVALID_REQUEST"
        );
        assert_eq!(way.join(&mut app, None).unwrap().view["ordinal"], 1);
    }
}
