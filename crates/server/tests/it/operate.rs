//! What operators do to rooms, over HTTP.

use ropeline_testing::http::{Ask, Reply};
use serde_json::{Value, json};

use crate::app::{ADMIN_KEY, SERVICE_KEY, TOKENS, TestApp, field, token};

const ROOMS: &str = "/api/v1/admin/rooms";

fn with_key(ask: Ask) -> Ask {
    ask.header("Authorization", &format!("Bearer {ADMIN_KEY}"))
}

impl TestApp {
    fn show(&mut self, path: &str) -> Reply {
        self.send(with_key(Ask::get(&format!("{ROOMS}{path}"))))
    }

    fn tell(&mut self, path: &str) -> Reply {
        self.send(with_key(Ask::post(&format!("{ROOMS}{path}"))))
    }

    fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.send(with_key(Ask::post(&format!("{ROOMS}{path}"))).json(body))
    }

    fn patch(&mut self, path: &str, body: &Value) -> Reply {
        self.send(with_key(Ask::patch(&format!("{ROOMS}{path}"))).json(body))
    }

    fn remove(&mut self, path: &str) -> Reply {
        self.send(with_key(Ask::delete(&format!("{ROOMS}{path}"))))
    }

    fn status_of(&mut self, token: &str) -> Value {
        field(&self.status(token), "status")
    }
}

fn refused(reply: &Reply) -> (u16, String) {
    (reply.status, reply.code())
}

#[test]
fn every_change_needs_the_key() {
    let mut app = TestApp::new();
    let room = format!("{ROOMS}/main");
    let mut asks = vec![
        Ask::post(ROOMS).json(&json!({"room": "x"})),
        Ask::patch(&room).json(&json!({"policy": {"batch": 9}})),
        Ask::delete(&format!("{ROOMS}/x")),
        Ask::get(&format!("{room}/stats")),
        Ask::get(&format!("{room}/visitors/ann")),
        Ask::delete(&format!("{room}/visitors/ann")),
        Ask::get(&format!("{room}/visitors?userId=ann")),
        Ask::delete(&format!("{room}/visitors?userId=ann")),
        Ask::post(&format!("{room}/admit")).json(&json!({"count": 1})),
    ];
    let words = ["pause", "resume", "open", "close", "drain", "reset"];
    asks.extend(words.map(|word| Ask::post(&format!("{room}/{word}"))));
    for ask in asks {
        assert_eq!(refused(&app.send(ask)), (401, "UNAUTHORIZED".into()));
    }
    assert_eq!(field(&app.show("/main"), "state"), "OPEN");
}

#[test]
fn a_pause_keeps_everybody_where_they_are() {
    let mut app = TestApp::new();
    app.token_of("ann");
    let waiting = app.token_of("bob");
    let paused = app.tell("/main/pause");
    assert_eq!(
        (paused.status, field(&paused, "state")),
        (200, json!("PAUSED"))
    );
    app.advance(10);
    assert_eq!(app.status_of(&waiting), "WAITING");
    assert_eq!(field(&app.status(&waiting), "roomState"), "PAUSED");
    assert_eq!(field(&app.tell("/main/resume"), "state"), "OPEN");
    assert_eq!(app.status_of(&waiting), "ACTIVE");
}

#[test]
fn a_closed_room_takes_nobody_until_it_is_opened() {
    let mut app = TestApp::new();
    assert_eq!(field(&app.tell("/main/close"), "state"), "CLOSED");
    assert_eq!(refused(&app.join("ann")), (409, "ROOM_CLOSED".into()));
    assert_eq!(field(&app.tell("/main/open"), "state"), "OPEN");
    assert_eq!(app.join("ann").status, 201);
}

#[test]
fn a_drained_room_closes_when_the_last_one_has_left() {
    let mut app = TestApp::new();
    let last = app.token_of("ann");
    assert_eq!(field(&app.tell("/main/drain"), "state"), "DRAINING");
    app.send(Ask::delete(TOKENS).token(&last));
    assert_eq!(field(&app.show("/main"), "state"), "CLOSED");
}

#[test]
fn a_reset_puts_everybody_out() {
    let mut app = TestApp::new();
    let tokens = [app.token_of("ann"), app.token_of("bob")];
    assert_eq!(field(&app.tell("/main/reset"), "waiting"), 0);
    for token in tokens {
        assert_eq!(
            refused(&app.status(&token)),
            (404, "TOKEN_NOT_FOUND".into())
        );
    }
}

#[test]
fn more_can_be_admitted_at_once() {
    let mut app = TestApp::new();
    for n in 0..5 {
        app.token_of(&format!("user-{n}"));
    }
    let after = app.post("/main/admit", &json!({"count": 3}));
    assert_eq!((after.status, field(&after, "active")), (200, json!(4)));
    for wrong in [
        json!({"count": 0}),
        json!({"count": 1_000_001}),
        json!({"count": -1}),
        json!({}),
    ] {
        let reply = app.post("/main/admit", &wrong);
        assert_eq!(refused(&reply), (422, "INVALID_REQUEST".into()), "{wrong}");
    }
    assert_eq!(field(&app.show("/main"), "active"), 4);
}

#[test]
fn a_policy_is_changed_at_once_and_only_where_said() {
    let mut app = TestApp::new();
    for n in 0..5 {
        app.token_of(&format!("user-{n}"));
    }
    let changed = app.patch("/main", &json!({"policy": {"batch": 3, "passTtl": "90s"}}));
    assert_eq!(changed.status, 200, "{}", changed.json());
    let policy = field(&changed, "policy");
    assert_eq!(
        (&policy["batch"], &policy["passTtl"]),
        (&json!(3), &json!("90s"))
    );
    assert_eq!(policy["every"], "10s", "what was not said stays");
    assert_eq!(field(&changed, "active"), 3, "it holds from now on");
    let changed = app.patch("/main", &json!({"policy": {"batch": null, "activeMax": 4}}));
    assert_eq!(field(&changed, "policy")["batch"], Value::Null);
    assert_eq!(field(&changed, "active"), 4);
}

#[test]
fn a_policy_that_makes_no_sense_is_refused_with_every_reason() {
    let mut app = TestApp::new();
    let before = field(&app.show("/main"), "policy");
    let reply = app.patch(
        "/main",
        &json!({"policy": {"every": "1ms", "batch": 0, "waitingMax": 0}}),
    );
    assert_eq!(refused(&reply), (422, "INVALID_REQUEST".into()));
    let errors = field(&reply, "errors");
    let fields: Vec<_> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["field"])
        .collect();
    assert_eq!(
        fields,
        ["policy.every", "policy.batch", "policy.waitingMax"]
    );
    let wrong = [
        json!({"policy": {"batch": null}}),
        json!({"policy": {"every": "5 seconds"}}),
        json!({"policy": {"every": 5}}),
        json!({"policy": {"bach": 5}}),
        json!({"policy": ["5s", 9]}),
        json!([{"batch": 5}]),
        json!({"batch": 5}),
        json!({}),
    ];
    for body in wrong {
        assert_eq!(app.patch("/main", &body).status, 422, "{body}");
    }
    assert_eq!(field(&app.show("/main"), "policy"), before);
}

#[test]
fn a_room_is_closed_to_stated_ids_only_where_somebody_vouches_for_users() {
    let jwt = json!({"policy": {"identity": "jwt"}});
    let mut app = TestApp::without_service_key("");
    assert_eq!(app.patch("/main", &jwt).status, 422);
    let mut app = TestApp::new();
    assert_eq!(app.patch("/main", &jwt).status, 200);
    assert_eq!(
        refused(&app.join("ann")),
        (401, "LOGIN_REQUIRED".to_owned())
    );
}

#[test]
fn a_room_is_made_used_deleted_and_made_again() {
    let mut app = TestApp::new();
    let new = json!({"room": "album", "policy": {"activeMax": 1, "presenceTtl": "0s"}});
    let made = app.post("", &new);
    assert_eq!(made.status, 201, "{}", made.json());
    assert_eq!(made.header("location"), Some("/api/v1/admin/rooms/album"));
    assert_eq!(field(&made, "policy")["batch"], Value::Null);
    assert_eq!(field(&made, "policy")["passTtl"], "5m", "as shipped");
    assert_eq!(refused(&app.post("", &new)), (409, "ROOM_EXISTS".into()));
    let join = |app: &mut TestApp| {
        let reply = app.send(Ask::post(TOKENS).json(&json!({"room": "album", "userId": "ann"})));
        assert_eq!(reply.status, 201, "{}", reply.json());
        token(&reply)
    };
    let old = join(&mut app);
    assert_eq!(app.remove("/album").status, 204);
    for _ in 0..2 {
        assert_eq!(
            refused(&app.remove("/album")),
            (404, "ROOM_NOT_FOUND".into())
        );
    }
    assert_eq!(refused(&app.status(&old)), (404, "ROOM_NOT_FOUND".into()));
    assert_eq!(
        app.send(Ask::get("/api/v1/queue/verify?room=album").token(&old))
            .status,
        401
    );
    assert_eq!(app.post("", &new).status, 201);
    assert_eq!(refused(&app.status(&old)), (404, "TOKEN_NOT_FOUND".into()));
    let new = join(&mut app);
    assert_eq!(app.status_of(&new), "ACTIVE");
}

#[test]
fn a_new_room_can_take_the_figures_of_a_preset_or_those_shipped() {
    let mut app = TestApp::new();
    let preset = app.post(
        "",
        &json!({"room": "a", "preset": "seed-004", "policy": {"activeMax": 7}}),
    );
    let policy = field(&preset, "policy");
    assert_eq!(
        (&policy["activeMax"], &policy["passTtl"]),
        (&json!(7), &json!("10m"))
    );
    let shipped = app.post("", &json!({"room": "b"}));
    assert_eq!(field(&shipped, "policy")["batch"], 50);
    for wrong in [
        json!({"room": "c", "preset": "seed-999"}),
        json!({"room": "c", "policy": {}}),
        json!({"room": "C!"}),
        json!({}),
    ] {
        assert_eq!(app.post("", &wrong).status, 422, "{wrong}");
    }
}

#[test]
fn the_room_main_cannot_be_deleted() {
    let mut app = TestApp::new();
    assert_eq!(refused(&app.remove("/main")), (409, "ROOM_REQUIRED".into()));
    assert_eq!(app.show("/main").status, 200);
}

#[test]
fn a_visitor_is_found_and_put_out() {
    let mut app = TestApp::new();
    let inside = app.token_of("ann");
    let waiting = app.token_of("bob");
    let ann = app.show("/main/visitors/ann").json();
    assert_eq!(
        (&ann["status"], &ann["position"]),
        (&json!("ACTIVE"), &json!(0))
    );
    assert_eq!(ann["expiresAt"], field(&app.status(&inside), "expiresAt"));
    let bob = app.show("/main/visitors/bob").json();
    assert_eq!(
        (&bob["status"], &bob["position"]),
        (&json!("WAITING"), &json!(1))
    );
    assert_eq!(app.remove("/main/visitors/ann").status, 204);
    let gone = app.verify(&inside);
    assert_eq!(refused(&gone), (401, "TOKEN_NOT_FOUND".into()));
    for path in ["/main/visitors/ann", "/main/visitors/nobody"] {
        assert_eq!(refused(&app.show(path)), (404, "VISITOR_NOT_FOUND".into()));
        assert_eq!(
            refused(&app.remove(path)),
            (404, "VISITOR_NOT_FOUND".into())
        );
    }
    assert_eq!(app.status_of(&waiting), "WAITING", "others stay");
}

/// A stranger who states the id of a user whom a service vouches for; both wait.
fn namesakes() -> (TestApp, [String; 2]) {
    let mut app = TestApp::new();
    app.token_of("inside");
    let stated = app.token_of("ann");
    let join = Ask::post("/api/v1/service/rooms/main/tokens").json(&json!({"userId": "ann"}));
    let joined = app.send(join.header("Authorization", &format!("Bearer {SERVICE_KEY}")));
    (app, [stated, token(&joined)])
}

#[test]
fn of_two_visitors_with_one_user_id_the_verified_one_is_shown_first() {
    let (mut app, _) = namesakes();
    for (query, verified, ordinal) in [
        ("", true, 3),
        ("?verified=true", true, 3),
        ("?verified=false", false, 2),
    ] {
        let ann = app.show(&format!("/main/visitors/ann{query}"));
        assert_eq!(field(&ann, "verified"), verified, "{query}");
        assert_eq!(field(&ann, "ordinal"), ordinal, "{query}");
    }
    let only_stated = app.show("/main/visitors/inside").json();
    assert_eq!(only_stated["verified"], false);
    for query in ["?verified=maybe", "?vfd=true"] {
        let wrong = app.show(&format!("/main/visitors/ann{query}"));
        assert_eq!(wrong.code(), "INVALID_REQUEST", "{query}");
    }
}

#[test]
fn both_visitors_with_one_user_id_are_put_out_unless_one_is_named() {
    for (query, expected) in [
        ("", ["TOKEN_NOT_FOUND", "TOKEN_NOT_FOUND"]),
        ("?verified=true", ["WAITING", "TOKEN_NOT_FOUND"]),
        ("?verified=false", ["TOKEN_NOT_FOUND", "WAITING"]),
    ] {
        let (mut app, tokens) = namesakes();
        let path = format!("/main/visitors/ann{query}");
        assert_eq!(app.remove(&path).status, 204);
        for (token, expected) in tokens.iter().zip(expected) {
            let reply = app.status(token).json();
            let state = reply["status"].as_str().or_else(|| reply["code"].as_str());
            assert_eq!(state, Some(expected), "{query}");
        }
        assert_eq!(refused(&app.remove(&path)).1, "VISITOR_NOT_FOUND");
    }
}

/// User ids that are no part of a path: a proxy may read it differently, or cut it.
const AWKWARD: [(&str, &str); 5] = [
    ("..", ".."),
    ("a/../b", "a/../b"),
    ("a%2F..%2Fb", "a%252F..%252Fb"),
    ("a&verified=true", "a%26verified%3Dtrue"),
    ("a+b", "a%2Bb"),
];

#[test]
fn a_visitor_whose_user_id_is_no_part_of_a_path_is_found_and_put_out_by_a_query() {
    let mut app = TestApp::new();
    for (user, escaped) in AWKWARD {
        let token = app.token_of(user);
        let path = format!("/main/visitors?userId={escaped}");
        assert_eq!(field(&app.show(&path), "userId"), user);
        let stated = format!("{path}&verified=false");
        assert_eq!(field(&app.show(&stated), "userId"), user);
        assert_eq!(app.show(&format!("{path}&verified=true")).status, 404);
        assert_eq!(app.remove(&path).status, 204, "{user}");
        assert_eq!(app.verify(&token).status, 401, "{user}");
        assert_eq!(refused(&app.show(&path)).1, "VISITOR_NOT_FOUND");
    }
    for query in [
        "",
        "?verified=true",
        "?userId=",
        "?userId=a&user=b",
        "?userId=a%20b",
    ] {
        let wrong = app.show(&format!("/main/visitors{query}"));
        assert_eq!(refused(&wrong), (400, "INVALID_REQUEST".into()), "{query}");
    }
}

#[test]
fn an_anonymous_visitor_is_put_out_by_the_name_that_the_gate_says() {
    let mut app = TestApp::new();
    let reply = app.send(Ask::post(TOKENS));
    let token = token(&reply);
    let name = app
        .verify(&token)
        .header("x-queue-user")
        .unwrap()
        .to_owned();
    assert_eq!(app.remove(&format!("/main/visitors/{name}")).status, 204);
    assert_eq!(app.verify(&token).status, 401);
}

#[test]
fn what_was_not_measured_is_null_and_not_zero() {
    let mut app = TestApp::new();
    let stats = app.show("/main/stats").json();
    assert_eq!(
        stats["estimates"],
        json!({"count": 0, "meanErrorSeconds": null, "meanAbsErrorSeconds": null, "withinBand": null})
    );
    assert_eq!(
        stats["waits"],
        json!({"count": 0, "p50Seconds": null, "p90Seconds": null, "p99Seconds": null, "maxSeconds": null})
    );
    let described = app.send(Ask::get("/openapi.json")).json();
    let grade = &described["components"]["schemas"]["GradeView"]["properties"];
    assert_eq!(grade["withinBand"]["type"], json!(["number", "null"]));
}

#[test]
fn figures_tell_rates_waits_and_the_worth_of_estimates() {
    let mut app = TestApp::new();
    app.show("/main/stats");
    for n in 0..7 {
        app.token_of(&format!("user-{n}"));
    }
    for _ in 0..30 {
        app.advance(2);
        app.show("/main/stats");
    }
    let stats = app.show("/main/stats").json();
    assert_eq!(stats["totals"]["joined"], 7);
    assert_eq!(stats["totals"]["admitted"], 7);
    assert_eq!(stats["waiting"], 0);
    assert_eq!(stats["perMinute"]["admitted"], 7.0);
    assert_eq!(stats["waits"]["count"], 7);
    let longest = stats["waits"]["maxSeconds"].as_f64().unwrap();
    assert!((56.0..=60.0).contains(&longest), "{longest}");
    assert!(stats["estimates"]["count"].as_u64().unwrap() > 10);
    let error = stats["estimates"]["meanAbsErrorSeconds"].as_f64().unwrap();
    assert!(error <= 2.0, "{error}");
    let series = stats["series"].as_array().unwrap();
    assert_eq!(series.len(), 31);
    assert_eq!(
        (&series[1]["waiting"], &series[30]["waiting"]),
        (&json!(6), &json!(0))
    );
    let metrics = app.send(Ask::get("/metrics"));
    let metrics = String::from_utf8(metrics.body).unwrap();
    for line in [
        "ropeline_room_wait_seconds_bucket{room=\"main\",le=\"60\"} 7",
        "ropeline_room_wait_seconds_count{room=\"main\"} 7",
        "ropeline_room_estimate_within_band_ratio{room=\"main\"} 1",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    for window in ["59s", "13h", "soon"] {
        let path = format!("/main/stats?window={window}");
        assert!([400, 422].contains(&app.show(&path).status), "{window}");
    }
}

#[test]
fn what_operators_do_is_written_down() {
    let mut app = TestApp::new();
    app.tell("/main/pause");
    app.patch("/main", &json!({"policy": {"batch": 0}}));
    app.token_of("ann");
    app.remove("/main/visitors/ann");
    let log = app.file("audit.log");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| (&line["action"], &line["outcome"]))
        .collect();
    assert_eq!(
        json!(told),
        json!([
            ["pause", "done"],
            ["change", "INVALID_REQUEST"],
            ["revoke", "done"]
        ])
    );
    assert_eq!(lines[2]["details"], json!({"userId": "ann"}));
    for line in &lines {
        assert_eq!(
            (&line["by"], &line["room"]),
            (&json!("key"), &json!("main"))
        );
        assert!(line["requestId"].is_string() && line["address"].is_string());
    }
    assert!(!log.contains(ADMIN_KEY));
}

#[test]
fn what_operators_changed_holds_after_a_restart() {
    let mut app = TestApp::new();
    app.patch("/main", &json!({"policy": {"batch": 9}}));
    app.post("", &json!({"room": "album", "policy": {"activeMax": 1}}));
    app.post("", &json!({"room": "gone"}));
    app.remove("/gone");
    app.tell("/album/close");
    app.tell("/main/pause");
    let mut app = app.restarted();
    let main = app.show("/main").json();
    assert_eq!(
        (&main["state"], &main["policy"]["batch"]),
        (&json!("PAUSED"), &json!(9))
    );
    assert_eq!(field(&app.show("/album"), "state"), "CLOSED");
    assert_eq!(app.show("/gone").status, 404);
    assert_eq!(app.file("audit.log").lines().count(), 6);
}
