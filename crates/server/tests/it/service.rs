//! What a service behind the gate asks of a room, over HTTP and in the same process.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Holder, Ordinal, RoomId, UserId, Visitor};
use ropeline_gate::{Decision, GateError, Gatekeeper, Refusal, Ticket};
use ropeline_testing::http::{Ask, Reply};
use serde_json::{Value, json};

use crate::{
    app::{ADMIN_KEY, SERVICE_KEY, TOKENS, TestApp, field, token},
    site::{Site, login},
};

/// One inside at once, and the next when a slot is free; passes of a minute, 150 seconds in all.
const COUNTER: &str =
    "[rooms.main]\nactive_max = 1\npass_ttl = '60s'\npass_max = '150s'\npresence_ttl = '0s'\n";

/// The five calls by one of the two ways. What both answer is compared as text.
#[derive(Clone, Copy)]
enum Way {
    Http,
    InProcess,
}

const BOTH: [Way; 2] = [Way::Http, Way::InProcess];

impl Way {
    fn verify(self, app: &mut TestApp, room: &str, token: &str) -> String {
        match self {
            Self::Http => {
                let reply = app.send(service(room, "verify").token(token));
                match reply.status {
                    200 => reply.json().to_string(),
                    _ => refused(&reply),
                }
            }
            Self::InProcess => {
                let keeper = app.gatekeeper();
                match app.run(keeper.verify(&id(room), token)) {
                    Ok(decision) => words(&decision),
                    Err(error) => why(&error),
                }
            }
        }
    }

    fn join(self, app: &mut TestApp, user: Option<&str>) -> Result<Ticket, String> {
        match self {
            Self::Http => {
                let reply = app.send(service("main", "tokens").json(&json!({"userId": user})));
                if !matches!(reply.status, 200 | 201) {
                    return Err(refused(&reply));
                }
                let cookie = reply.header("set-cookie").map(|text| text.parse().unwrap());
                let view = reply.json();
                let inside = view["status"] == "ACTIVE";
                Ok(Ticket {
                    view,
                    cookie,
                    inside,
                })
            }
            Self::InProcess => {
                let user = user.map(|user| UserId::parse(user).unwrap());
                let keeper = app.gatekeeper();
                let joined = app.run(keeper.join(&RoomId::main(), user.as_ref()));
                joined.map_err(|error| why(&error))
            }
        }
    }

    fn keep(self, app: &mut TestApp, who: &Holder, seconds: u64) -> String {
        match self {
            Self::Http => {
                let body = json!({
                    "visitor": who.visitor, "ordinal": who.ordinal, "milliseconds": seconds * 1_000,
                });
                done(&app.send(service("main", "keep").json(&body)))
            }
            Self::InProcess => {
                let keeper = app.gatekeeper();
                let business = Duration::from_secs(seconds);
                let kept = app.run(keeper.keep(&RoomId::main(), who, business));
                kept.map_or_else(|error| why(&error), |()| String::new())
            }
        }
    }

    fn finish(self, app: &mut TestApp, who: &Holder) -> String {
        match self {
            Self::Http => {
                let body = json!({"visitor": who.visitor, "ordinal": who.ordinal});
                done(&app.send(service("main", "finish").json(&body)))
            }
            Self::InProcess => {
                let keeper = app.gatekeeper();
                let finished = app.run(keeper.finish(&RoomId::main(), who));
                finished.map_or_else(|error| why(&error), |()| String::new())
            }
        }
    }
}

/// A request with the service key.
fn service(room: &str, call: &str) -> Ask {
    let method = if call == "stock" { "PUT" } else { "POST" };
    keyed(method, room, call, SERVICE_KEY)
}

fn keyed(method: &'static str, room: &str, call: &str, key: &str) -> Ask {
    Ask::with(method, &format!("/api/v1/service/rooms/{room}/{call}"))
        .header("Authorization", &format!("Bearer {key}"))
}

fn id(room: &str) -> RoomId {
    RoomId::parse(room).unwrap()
}

fn holder(user: &str, ordinal: u64) -> Holder {
    Holder {
        visitor: Visitor::user(&UserId::parse(user).unwrap()),
        ordinal: Ordinal(ordinal),
    }
}

fn done(reply: &Reply) -> String {
    match reply.status {
        204 => String::new(),
        _ => refused(reply),
    }
}

fn refused(reply: &Reply) -> String {
    let problem = reply.json();
    match reply.code().as_str() {
        "NOT_ADMITTED" => format!("wait {} {}", problem["position"], problem["pollAfterMs"]),
        code => code.to_owned(),
    }
}

/// A decision, as the service API says the same.
fn words(decision: &Decision) -> String {
    match decision {
        Decision::Enter(admitted) => json!({
            "checked": true, "visitor": admitted.holder.visitor, "userId": admitted.user_id(),
            "ordinal": admitted.holder.ordinal, "verified": admitted.verified,
            "remainingMs": admitted.left.map(|left| u64::try_from(left.as_millis()).unwrap()),
        })
        .to_string(),
        Decision::Unchecked(_) => "unchecked".to_owned(),
        Decision::Wait(waiting) => format!(
            "wait {} {}",
            waiting.position,
            waiting.poll_after.as_millis()
        ),
        Decision::Refuse(Refusal::Invalid) => "TOKEN_INVALID".to_owned(),
        Decision::Refuse(Refusal::Expired) => "TOKEN_EXPIRED".to_owned(),
        Decision::Refuse(Refusal::Gone) => "TOKEN_NOT_FOUND".to_owned(),
    }
}

fn why(error: &GateError) -> String {
    let code = match error {
        GateError::RoomClosed => "ROOM_CLOSED",
        GateError::RoomFull => "ROOM_FULL",
        GateError::NoSuchRoom => "ROOM_NOT_FOUND",
        GateError::Away(_) => "STORE_UNAVAILABLE",
        GateError::Misconfigured(_) => "INVALID_REQUEST",
    };
    code.to_owned()
}

#[test]
fn both_ways_judge_every_token_alike() {
    let mut app = TestApp::with(&format!("{COUNTER}[rooms.other]\nbatch = 5\n"));
    let other = app.send(Ask::post(TOKENS).json(&json!({"room": "other"})));
    let finished = app.token_of("finished");
    app.send(Ask::delete(TOKENS).token(&finished));
    let [inside, waiting, gone] = ["ann", "bob", "gone"].map(|user| app.token_of(user));
    app.send(Ask::delete(TOKENS).token(&gone));
    app.advance(20);
    let expected = [
        (inside.as_str(), ""),
        (&waiting, "wait 1 "),
        (&finished, "TOKEN_EXPIRED"),
        (&gone, "TOKEN_NOT_FOUND"),
        (&token(&other), "TOKEN_INVALID"),
        ("", "TOKEN_INVALID"),
        ("nonsense", "TOKEN_INVALID"),
    ];
    for (token, expected) in expected {
        let [http, in_process] = BOTH.map(|way| way.verify(&mut app, "main", token));
        assert_eq!(http, in_process);
        assert!(http.starts_with(expected), "{http}");
    }
    let renewed: Value =
        serde_json::from_str(&Way::Http.verify(&mut app, "main", &inside)).unwrap();
    let all = json!({
        "checked": true, "visitor": "u:ann", "userId": "ann", "ordinal": 2, "verified": false, "remainingMs": 60_000,
    });
    assert_eq!(renewed, all);
    let without = app.send(service("main", "verify"));
    assert_eq!(
        (without.status, without.code().as_str()),
        (401, "TOKEN_INVALID")
    );
    let gone = app.send(service("main", "verify").token(&gone));
    assert_eq!(
        (gone.status, gone.code().as_str()),
        (401, "TOKEN_NOT_FOUND")
    );
}

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

#[test]
fn who_is_joined_again_by_a_service_is_there_when_their_turn_comes() {
    let config = "[rooms.main]\nactive_max = 1\npass_ttl = '60s'\npresence_ttl = '20s'\n";
    for way in BOTH {
        let mut app = TestApp::with(config);
        let inside = app.token_of("inside");
        let [away, there] = ["away", "there"].map(|user| way.join(&mut app, Some(user)).unwrap());
        for _ in 0..5 {
            app.advance(10);
            app.verify(&inside);
            way.join(&mut app, Some("there")).unwrap();
        }
        app.send(Ask::delete(TOKENS).token(&inside));
        let status = |app: &mut TestApp, ticket: &Ticket| {
            field(
                &app.status(ticket.view["token"].as_str().unwrap()),
                "status",
            )
        };
        assert_eq!(
            status(&mut app, &there),
            "ACTIVE",
            "nobody waits for who is away"
        );
        let back = way.join(&mut app, Some("away")).unwrap();
        assert_eq!(back.view["position"], 1);
        app.send(Ask::delete(TOKENS).token(there.view["token"].as_str().unwrap()));
        assert_eq!(status(&mut app, &away), "ACTIVE", "who is back is next");
    }
}

#[test]
fn business_keeps_a_pass_beyond_its_life_but_not_beyond_pass_max() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        let token = app.token_of("ann");
        assert_eq!(way.keep(&mut app, &holder("ann", 1), 300), "");
        for _ in 0..4 {
            assert_eq!(field(&app.status(&token), "status"), "ACTIVE");
            app.advance(37);
        }
        let expires = field(&app.status(&token), "expiresAt");
        assert_eq!(expires, "2023-11-14T22:15:50.000Z", "150 s after admission");
        app.advance(2);
        assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
    }
}

#[test]
fn when_the_business_is_over_the_pass_lasts_as_from_a_use() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        let token = app.token_of("ann");
        let ann = holder("ann", 1);
        way.keep(&mut app, &ann, 120);
        app.advance(10);
        assert_eq!(way.keep(&mut app, &ann, 0), "");
        let expires = field(&app.status(&token), "expiresAt");
        assert_eq!(expires, "2023-11-14T22:14:30.000Z");
        app.advance(60);
        assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
        assert_eq!(
            way.keep(&mut app, &ann, 60),
            "",
            "who is not inside has nothing to keep"
        );
        assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
    }
}

#[test]
fn finishing_twice_is_finishing_once_and_lets_the_next_in() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        let [ann, bob, cid] = ["ann", "bob", "cid"].map(|user| app.token_of(user));
        assert_eq!(way.finish(&mut app, &holder("ann", 1)), "");
        assert_eq!(app.verify(&ann).code(), "TOKEN_EXPIRED");
        assert_eq!(app.verify(&bob).status, 204);
        for who in [
            holder("ann", 1),
            holder("ann", 1),
            holder("ann", 2),
            holder("eve", 9),
        ] {
            assert_eq!(way.finish(&mut app, &who), "");
        }
        assert_eq!(
            app.verify(&bob).status,
            204,
            "a repetition ends nobody else's pass"
        );
        assert_eq!(app.verify(&cid).status, 403);
        assert_eq!(
            way.finish(&mut app, &holder("cid", 3)),
            "",
            "nobody in line is finished"
        );
        assert_eq!(app.verify(&cid).status, 403);
    }
}

#[test]
fn what_names_an_old_place_does_nothing_to_the_new_one() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        app.token_of("ann");
        way.finish(&mut app, &holder("ann", 1));
        let again = app.token_of("ann");
        let before = app.status(&again).json();
        assert_eq!(way.finish(&mut app, &holder("ann", 1)), "");
        assert_eq!(way.keep(&mut app, &holder("ann", 1), 3_600), "");
        let after = app.status(&again).json();
        assert_eq!(after["status"], "ACTIVE");
        assert_eq!(after["expiresAt"], before["expiresAt"]);
    }
}

#[test]
fn a_room_that_takes_nobody_says_so_both_ways() {
    let mut app = TestApp::with("[rooms.main]\nactive_max = 1\nwaiting_max = 1\n");
    app.token_of("inside");
    app.token_of("waiting");
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

/// Each call with a body that is right.
fn calls() -> [(&'static str, &'static str, Value); 4] {
    let who = json!({"visitor": "u:ann", "ordinal": 1});
    let keep = json!({"visitor": "u:ann", "ordinal": 1, "milliseconds": 0});
    [
        ("POST", "verify", json!({})),
        ("POST", "tokens", json!({"userId": "ann"})),
        ("POST", "keep", keep),
        ("POST", "finish", who),
    ]
}

#[test]
fn a_room_that_is_not_there_is_404_by_every_call() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    for (_, call, body) in calls() {
        let reply = app.send(service("nowhere", call).token(&token).json(&body));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (404, "ROOM_NOT_FOUND"),
            "{call}"
        );
        let reply = app.send(service("No-Slug", call).token(&token).json(&body));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "INVALID_REQUEST"),
            "{call}"
        );
    }
    let (keeper, nowhere, ann) = (app.gatekeeper(), id("nowhere"), holder("ann", 1));
    let missing = Err(GateError::NoSuchRoom);
    assert_eq!(
        app.run(keeper.verify(&nowhere, &token)).map(|_| ()),
        missing
    );
    assert_eq!(app.run(keeper.join(&nowhere, None)).map(|_| ()), missing);
    assert_eq!(
        app.run(keeper.keep(&nowhere, &ann, Duration::ZERO)),
        missing
    );
    assert_eq!(app.run(keeper.finish(&nowhere, &ann)), missing);
}

#[test]
fn without_the_service_key_no_call_is_answered() {
    let mut app = TestApp::with(&format!(
        "rate_limits.admin_failures_per_minute = 0\n{COUNTER}"
    ));
    let token = app.token_of("ann");
    for (method, call, body) in calls() {
        let path = format!("/api/v1/service/rooms/main/{call}");
        let ask = Ask::with(method, &path).token(&token).json(&body);
        let with = |proof: &str| ask.clone().header("Authorization", proof);
        for ask in [
            ask.clone(),
            with("Bearer wrong"),
            with("Bearer "),
            with(&format!("Basic {SERVICE_KEY}")),
            with(&format!("Bearer {ADMIN_KEY}")),
            ask.clone()
                .header("Cookie", &format!("rl__admin={SERVICE_KEY}")),
        ] {
            let reply = app.send(ask);
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (401, "UNAUTHORIZED"),
                "{call}"
            );
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert_eq!(app.verify(&token).status, 204, "nothing of it was done");
    let admin = Ask::get("/api/v1/admin/rooms");
    let reply = app.send(admin.header("Authorization", &format!("Bearer {SERVICE_KEY}")));
    assert_eq!(reply.code(), "UNAUTHORIZED", "a service is no operator");
}

#[test]
fn where_no_service_key_is_set_no_service_is_believed() {
    let mut app = TestApp::without_service_key(COUNTER);
    for key in [SERVICE_KEY, ADMIN_KEY, ""] {
        for (method, call, body) in calls() {
            let reply = app.send(keyed(method, "main", call, key).json(&body));
            assert_eq!(reply.code(), "UNAUTHORIZED", "{call}");
        }
    }
}

#[test]
fn guessing_the_service_key_is_stopped_and_keeps_no_operator_out() {
    let mut app = TestApp::with("trusted_proxies = ['127.0.0.1']\n");
    let mut ask = |key: &str, from: &str| {
        let ask = keyed("POST", "main", "tokens", key).header("X-Forwarded-For", from);
        app.send(ask).status
    };
    let guesses: Vec<_> = (0..25)
        .map(|n| ask(&format!("guess-{n}"), "198.51.100.7"))
        .collect();
    assert_eq!(guesses[..20], [401; 20]);
    assert_eq!(guesses[20..], [429; 5]);
    assert_eq!(
        ask(SERVICE_KEY, "198.51.100.7"),
        429,
        "nor with the right one, for a while"
    );
    assert_eq!(ask(SERVICE_KEY, "198.51.100.8"), 201);
    let admin = Ask::get("/api/v1/admin/rooms").header("X-Forwarded-For", "198.51.100.7");
    let operator = app.send(admin.header("Authorization", &format!("Bearer {ADMIN_KEY}")));
    assert_eq!(operator.status, 200);
}

#[test]
fn with_the_right_key_a_service_may_ask_as_often_as_it_likes() {
    let mut app = TestApp::with(
        "trusted_proxies = ['127.0.0.1']\n[rate_limits]\njoins_per_minute = 2\nadmin_per_minute = 2\n",
    );
    for user in 0..50 {
        let ask = service("main", "tokens").json(&json!({"userId": user}));
        let reply = app.send(ask.header("X-Forwarded-For", "198.51.100.7"));
        assert_eq!(reply.status, 201);
    }
}

#[test]
fn a_call_that_makes_no_sense_is_refused_and_changes_nothing() {
    let mut app = TestApp::with(COUNTER);
    let token = app.token_of("ann");
    let before = app.status(&token).json();
    let ann = |milliseconds: Value| json!({"visitor": "u:ann", "ordinal": 1, "milliseconds": milliseconds});
    let who = |visitor: Value, ordinal: Value| json!({"visitor": visitor, "ordinal": ordinal});
    let deep = "[".repeat(5_000);
    let cases = [
        ("tokens", json!({"userId": ""}).to_string()),
        ("tokens", json!({"userId": "a b"}).to_string()),
        ("tokens", json!({"userId": 1.5}).to_string()),
        ("tokens", json!({"room": "main"}).to_string()),
        ("tokens", json!(["ann"]).to_string()),
        ("tokens", "{".to_owned()),
        ("keep", deep),
        ("keep", String::new()),
        ("keep", ann(json!(86_400_001)).to_string()),
        ("keep", ann(json!(-1)).to_string()),
        ("keep", ann(json!(1.5)).to_string()),
        ("keep", ann(json!("300000")).to_string()),
        ("keep", ann(json!(null)).to_string()),
        ("keep", who(json!("u:ann"), json!(1)).to_string()),
        ("finish", ann(json!(0)).to_string()),
        ("finish", who(json!("ann"), json!(1)).to_string()),
        ("finish", who(json!("u:"), json!(1)).to_string()),
        ("finish", who(json!("u:a\nb"), json!(1)).to_string()),
        (
            "finish",
            who(json!(format!("u:{}", "x".repeat(129))), json!(1)).to_string(),
        ),
        ("finish", who(json!("u:ann"), json!(0)).to_string()),
        ("finish", who(json!("u:ann"), json!(-1)).to_string()),
        ("finish", who(json!("u:ann"), json!(u64::MAX)).to_string()),
        ("finish", who(json!("u:ann"), json!("1")).to_string()),
    ];
    for (call, body) in cases {
        let shown = body.chars().take(60).collect::<String>();
        let reply = app.send(service("main", call).raw("application/json", body.as_bytes()));
        assert!(
            matches!(reply.status, 400 | 422),
            "{call} {shown}: {}",
            reply.status
        );
        assert_eq!(reply.code(), "INVALID_REQUEST", "{call} {shown}");
    }
    let plain = app.send(service("main", "finish").raw("text/plain", b"{}"));
    assert_eq!(plain.status, 415);
    assert_eq!(app.status(&token).json(), before);
    let longest = app.send(service("main", "keep").json(&ann(json!(86_400_000))));
    assert_eq!(longest.status, 204);
}

#[test]
fn the_longest_business_is_the_same_in_process() {
    let mut app = TestApp::with(COUNTER);
    app.token_of("ann");
    for way in BOTH {
        assert_eq!(way.keep(&mut app, &holder("ann", 1), 86_400), "");
        assert_eq!(
            way.keep(&mut app, &holder("ann", 1), 86_401),
            "INVALID_REQUEST"
        );
        assert_eq!(
            way.finish(&mut app, &holder("ann", u64::MAX)),
            "INVALID_REQUEST"
        );
    }
}

#[test]
fn a_gatekeeper_outlives_the_server_and_then_says_that_the_room_is_away() {
    let mut app = TestApp::new();
    app.token_of("ann");
    let keeper: Arc<dyn Gatekeeper> = app.gatekeeper();
    app.stop_serving();
    let finished = app.run(keeper.finish(&RoomId::main(), &holder("ann", 1)));
    assert!(matches!(finished, Err(GateError::Away(_))), "{finished:?}");
}
