//! Who may have which place.

use ropeline_testing::http::{Ask, Reply};
use serde_json::json;

use crate::app::{SERVICE_KEY, STATUS, TOKENS, TestApp, field, token};

#[test]
fn knowing_a_user_id_is_not_enough_to_have_its_place() {
    let mut app = TestApp::new();
    app.token_of("ann");
    let again = app.join("ann");
    assert_eq!(
        (again.status, again.code().as_str()),
        (409, "DUPLICATED_TOKEN")
    );
}

#[test]
fn with_the_token_in_hand_the_same_place_is_resumed() {
    let mut app = TestApp::new();
    app.token_of("inside");
    let token = app.token_of("ann");
    let body = json!({"userId": "ann"});
    for ask in [
        Ask::post(TOKENS).json(&body).token(&token),
        Ask::post(TOKENS)
            .json(&body)
            .header("Cookie", &format!("rl_main={token}")),
        Ask::post(TOKENS).token(&token),
    ] {
        let resumed = app.send(ask);
        assert_eq!(resumed.status, 200);
        assert_eq!(field(&resumed, "ordinal"), 2);
        assert_eq!(
            field(&resumed, "token"),
            token.as_str(),
            "one token from entry to exit"
        );
    }
}

#[test]
fn somebody_elses_token_is_ignored_at_join() {
    let mut app = TestApp::new();
    let ann = app.token_of("ann");
    let bob = app.send(
        Ask::post(TOKENS)
            .json(&json!({"userId": "bob"}))
            .token(&ann),
    );
    assert_eq!((bob.status, field(&bob, "ordinal")), (201, json!(2)));
    let nonsense = app.send(
        Ask::post(TOKENS)
            .json(&json!({"userId": "eve"}))
            .token("nonsense"),
    );
    assert_eq!(nonsense.status, 201);
}

#[test]
fn of_two_different_places_in_cookies_neither_counts() {
    let mut app = TestApp::new();
    let (ann, bob) = (app.token_of("ann"), app.token_of("bob"));
    let both = format!("rl_main={ann}; rl_main={bob}");
    let status = app.send(Ask::get(STATUS).header("Cookie", &both));
    assert_eq!(status.code(), "TOKEN_INVALID");
    let joined = app.send(Ask::post(TOKENS).header("Cookie", &both));
    assert_eq!((joined.status, field(&joined, "ordinal")), (201, json!(3)));
    let twice = format!("rl_main={bob}; rl_main={bob}");
    let status = app.send(Ask::get(STATUS).header("Cookie", &twice));
    assert_eq!(field(&status, "userId"), "bob");
}

#[test]
fn a_place_that_has_ended_is_not_resumed() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    app.send(Ask::delete(TOKENS).token(&token));
    let again = app.send(
        Ask::post(TOKENS)
            .json(&json!({"userId": "ann"}))
            .token(&token),
    );
    assert_eq!((again.status, field(&again, "ordinal")), (201, json!(2)));
}

#[test]
fn without_a_user_id_everybody_is_somebody_else() {
    let mut app = TestApp::new();
    let first = app.send(Ask::post(TOKENS));
    let second = app.send(Ask::post(TOKENS));
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(field(&first, "userId"), json!(null));
    assert_ne!(field(&first, "ordinal"), field(&second, "ordinal"));
    let resumed = app.send(Ask::post(TOKENS).token(&token(&second)));
    assert_eq!(
        (resumed.status, field(&resumed, "ordinal")),
        (200, json!(2))
    );
}

#[test]
fn an_integer_user_id_is_its_decimal_text() {
    let mut app = TestApp::new();
    let number = app.send(Ask::post(TOKENS).json(&json!({"userId": 42})));
    assert_eq!(
        (number.status, field(&number, "userId")),
        (201, json!("42"))
    );
    assert_eq!(app.join("42").status, 409);
}

#[test]
fn nobody_can_have_the_name_of_an_anonymous_visitor_as_user_id() {
    let mut app = TestApp::new();
    let nameless = token(&app.send(Ask::post(TOKENS)));
    let name = app.verify(&nameless);
    let name = name.header("x-queue-user").expect("the gate says a name");
    let by_service = Ask::post("/api/v1/service/rooms/main/tokens")
        .header("Authorization", &format!("Bearer {SERVICE_KEY}"));
    for ask in [Ask::post(TOKENS), by_service] {
        let reply = app.send(ask.json(&json!({"userId": name})));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (422, "INVALID_REQUEST")
        );
        let error = &reply.json()["errors"][0];
        assert_eq!(error["field"], "userId");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("names an anonymous visitor"), "{message}");
    }
}

#[test]
fn an_anonymous_room_takes_no_user_ids() {
    let mut app = TestApp::with("[rooms.main]\nbatch = 1\nidentity = \"anonymous\"\n");
    let named = app.join("ann");
    assert_eq!(
        (named.status, named.code().as_str()),
        (422, "INVALID_REQUEST")
    );
    assert_eq!(named.json()["errors"][0]["field"], "userId");
    assert_eq!(app.send(Ask::post(TOKENS)).status, 201);
}

#[test]
fn a_lost_answer_can_be_asked_for_again() {
    let mut app = TestApp::new();
    app.token_of("inside");
    let with_key = |body: &serde_json::Value, key: &str| {
        Ask::post(TOKENS).json(body).header("Idempotency-Key", key)
    };
    let place = |reply: Reply| (reply.status, field(&reply, "ordinal"));
    for (body, ordinal) in [(json!({"userId": "ann"}), 2), (json!({}), 3)] {
        let key = format!("key-{ordinal}");
        assert_eq!(
            place(app.send(with_key(&body, &key))),
            (201, json!(ordinal))
        );
        assert_eq!(
            place(app.send(with_key(&body, &key))),
            (200, json!(ordinal))
        );
    }
    let other_key = app.send(with_key(&json!({"userId": "ann"}), "another"));
    assert_eq!(other_key.code(), "DUPLICATED_TOKEN");
}

#[test]
fn two_users_may_send_the_same_key() {
    let mut app = TestApp::new();
    for (user, status, ordinal) in [("mallory", 201, 1), ("alice", 201, 2), ("alice", 200, 2)] {
        let join = Ask::post(TOKENS).json(&json!({"userId": user}));
        let reply = app.send(join.header("Idempotency-Key", "order-1"));
        assert_eq!(
            (reply.status, field(&reply, "ordinal")),
            (status, json!(ordinal)),
            "{user}"
        );
    }
}

#[test]
fn a_text_that_is_no_key_is_refused_in_the_words_of_every_service() {
    let mut app = TestApp::new();
    for bad in ["", "a b", &"x".repeat(256)] {
        let reply = app.send(Ask::post(TOKENS).header("Idempotency-Key", bad));
        let problem = reply.json();
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "INVALID_REQUEST")
        );
        assert_eq!(
            problem["detail"],
            "An Idempotency-Key has 1 to 255 visible ASCII characters."
        );
        assert_eq!(problem["errors"][0]["field"], "Idempotency-Key");
    }
}
