//! Who may go on with a place by a login, a token, or both.

use ropeline_testing::http::Ask;
use serde_json::json;

use crate::{
    app::{TOKENS, token},
    site::{Site, ask, invalid, login, place, problem, required},
};

#[test]
fn a_login_resumes_its_place_from_anywhere() {
    for identity in ["jwt", "open"] {
        let mut site = Site::sharing_a_secret(identity);
        site.join(&login("inside"));
        assert_eq!(site.join(&login("ann")).status, 201);
        let other_device = site.join(&login("ann"));
        assert_eq!(place(&other_device), (200, json!(2), json!("ann")));
        site.app.advance(10);
        let gate = site.app.verify(&token(&other_device));
        assert_eq!(gate.header("x-queue-user-verified"), Some("true"));
    }
}

#[test]
fn a_login_in_a_cookie_is_one_and_a_bad_one_is_none() {
    let by_cookie = |login: &str| {
        let cookie = format!("a=b; ropeline_login={login}");
        Ask::post(TOKENS).header("Cookie", &cookie)
    };
    for (identity, without) in [("open", 201), ("jwt", 401)] {
        let mut site = Site::sharing_a_secret(identity);
        let ann = site.app.send(by_cookie(&login("ann")));
        assert_eq!(place(&ann), (201, json!(1), json!("ann")));
        let gate = site.app.verify(&token(&ann));
        assert_eq!(gate.header("x-queue-user-verified"), Some("true"));
        let bob = site
            .app
            .send(by_cookie(&login("ann")).json(&json!({"userId": "bob"})));
        assert_ne!(bob.json()["userId"], "ann", "a name that is said counts");
        let forged = site.app.send(by_cookie(&format!("{}x", login("eve"))));
        assert_eq!(forged.status, without, "as without a cookie");
        assert_ne!(forged.json()["userId"], "eve");
        let nameless = by_cookie(&login("ann")).json(&json!({"room": "nameless"}));
        let nameless = site.app.send(nameless);
        assert_eq!(place(&nameless), (201, json!(1), json!(null)));
    }
}

#[test]
fn a_stated_user_id_never_meets_the_place_of_the_user_who_logged_in() {
    let mut site = Site::sharing_a_secret("open");
    let ann = token(&site.join(&login("ann")));
    let stranger = site.app.join("ann");
    assert_eq!(place(&stranger), (201, json!(2), json!("ann")));
    site.app.send(Ask::delete(TOKENS).token(&token(&stranger)));
    let body = json!({"userId": "ann"});
    let holder = site.app.send(Ask::post(TOKENS).json(&body).token(&ann));
    assert_eq!((holder.status, token(&holder)), (200, ann));
}

#[test]
fn a_login_is_not_given_the_place_of_a_stated_user_id() {
    let mut site = Site::sharing_a_secret("open");
    let stated = site.app.token_of("ann");
    let reply = site.app.send(ask(&login("ann")).token(&stated));
    assert_eq!(place(&reply), (201, json!(2), json!("ann")));
    let verified = token(&reply);
    assert_eq!(
        site.app.send(Ask::delete(TOKENS).token(&stated)).status,
        204
    );
    let again = site.app.send(ask(&login("ann")).token(&verified));
    assert_eq!(place(&again), (200, json!(2), json!("ann")));
    assert_eq!(token(&again), verified, "one token from here to the exit");
    assert!(
        again
            .header("set-cookie")
            .is_some_and(|cookie| cookie.contains(&verified))
    );
}

#[test]
fn a_login_in_a_cookie_vouches_for_the_same_id_in_the_body() {
    let mut site = Site::sharing_a_secret("open");
    let by_cookie = |user: &str| {
        let cookie = format!("ropeline_login={}", login("ann"));
        let body = json!({"userId": user});
        Ask::post(TOKENS).header("Cookie", &cookie).json(&body)
    };
    let ann = token(&site.app.send(by_cookie("ann")));
    let gate = site.app.verify(&ann);
    assert_eq!(gate.header("x-queue-user-verified"), Some("true"));
    let again = site.app.send(by_cookie("ann"));
    assert_eq!(place(&again), (200, json!(1), json!("ann")));
    let bob = token(&site.app.send(by_cookie("bob")));
    site.app.advance(10);
    let gate = site.app.verify(&bob);
    assert_eq!(
        (gate.status, gate.header("x-queue-user-verified")),
        (204, None)
    );
}

#[test]
fn somebody_elses_token_beside_a_login_is_ignored() {
    let mut site = Site::sharing_a_secret("open");
    let bob = site.app.token_of("bob");
    let nobody = token(&site.app.send(Ask::post(TOKENS)));
    for (user, token, ordinal) in [("ann", &bob, 3), ("eve", &nobody, 4)] {
        let reply = site.app.send(ask(&login(user)).token(token));
        assert_eq!(place(&reply), (201, json!(ordinal), json!(user)));
    }
}

#[test]
fn a_verified_place_in_hand_is_gone_on_with_when_the_login_has_run_out() {
    let mut site = Site::sharing_a_secret("jwt");
    let ann = token(&site.join(&login("ann")));
    let resumed = site.app.send(Ask::post(TOKENS).token(&ann));
    assert_eq!((resumed.status, token(&resumed)), (200, ann.clone()));
    let bob = Ask::post(TOKENS)
        .json(&json!({"userId": "bob"}))
        .token(&ann);
    assert_eq!(problem(&site.app.send(bob)), required());
    let bad = site.app.send(ask("nonsense").token(&ann));
    assert_eq!(problem(&bad), invalid());
    site.app.send(Ask::delete(TOKENS).token(&ann));
    let ended = site.app.send(Ask::post(TOKENS).token(&ann));
    assert_eq!(problem(&ended), required(), "a new place needs a login");
}

#[test]
fn a_repeated_join_with_a_login_has_the_same_place() {
    let mut site = Site::sharing_a_secret("jwt");
    let with_key = |user: &str| ask(&login(user)).header("Idempotency-Key", "k");
    let first = site.app.send(with_key("ann"));
    let again = site.app.send(with_key("ann"));
    assert_eq!(place(&first), (201, json!(1), json!("ann")));
    assert_eq!(place(&again), (200, json!(1), json!("ann")));
    let other = site.app.send(with_key("bob"));
    assert_eq!(place(&other), (201, json!(2), json!("bob")));
    let stated = Ask::post(TOKENS).json(&json!({"userId": "ann"}));
    let stated = site.app.send(stated.header("Idempotency-Key", "k"));
    assert_eq!(problem(&stated), required());
}
