//! Logins and points.

use http::{Method, header::SET_COOKIE};
use serde_json::json;

use super::{
    ask::problem,
    house::{House, login},
};
use crate::given::{Given, at_once};

on_both![
    a_user_is_made_logged_in_and_charged,
    a_cookie_does_where_there_is_no_header,
    over_https_another_hosts_login_cookie_is_none,
    of_two_different_login_cookies_neither_counts,
    amounts_that_are_none_change_nothing,
    a_charge_repeated_is_one_charge,
    names_are_short_and_not_empty,
];

async fn a_user_is_made_logged_in_and_charged(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    assert_eq!(house.balance(&kim).await, 0);
    let charged = house.charge(&kim, &json!({"amount": 30_000})).await;
    let expected = json!({"userId": kim.id.0, "balance": 30_000, "charged": 30_000});
    assert_eq!((charged.status.as_u16(), charged.body), (200, expected));
    let points = house.get(format!("/user/{}/point", kim.id)).login(&kim);
    assert_eq!(
        points.await.body,
        json!({"userId": kim.id.0, "balance": 30_000})
    );
}

async fn a_cookie_does_where_there_is_no_header(given: &Given) {
    let house = House::wide(given).await;
    let made = house.post("/user").json(&json!({"name": "Kim"})).await;
    let cookie = made.headers[SET_COOKIE].to_str().unwrap();
    let (pair, rest) = cookie.split_once(';').unwrap();
    assert_eq!(rest, " Path=/; Max-Age=43200; HttpOnly; SameSite=Lax");
    assert_eq!(
        pair,
        format!(
            "ropeline_login={}",
            made.body["accessToken"].as_str().unwrap()
        )
    );
    let path = format!("/user/{}/point", made.body["userId"]);
    let by_cookie = house.get(&path).header("Cookie", pair).await;
    assert_eq!(by_cookie.status.as_u16(), 200);
    let header_first = house.get(&path).header("Cookie", pair).bearer("x").await;
    assert_eq!(header_first.problem(), problem(401, "LOGIN_INVALID"));
}

async fn over_https_another_hosts_login_cookie_is_none(given: &Given) {
    let house = House::wide(given).await.over_https(given);
    let made = house.post("/user").json(&json!({"name": "Kim"})).await;
    let set = made.headers[SET_COOKIE].to_str().unwrap();
    let login = made.body["accessToken"].as_str().unwrap();
    let own = format!("__Host-ropeline_login={login}");
    assert_eq!(
        set,
        format!("{own}; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure")
    );
    let path = format!("/user/{}/point", made.body["userId"]);
    for (cookie, status) in [
        (own.clone(), 200),
        (format!("ropeline_login={login}"), 401),
        (format!("ropeline_login=another; {own}"), 200),
    ] {
        let points = house.get(&path).header("Cookie", &cookie).await;
        assert_eq!(points.status.as_u16(), status, "{cookie}");
    }
}

async fn of_two_different_login_cookies_neither_counts(given: &Given) {
    let house = House::wide(given).await;
    let (kim, mallory) = (house.person().await, house.person().await);
    let path = format!("/user/{}/point", mallory.id);
    let ask = |logins: [&str; 2]| {
        let [first, second] = logins.map(|login| format!("ropeline_login={login}"));
        house
            .get(&path)
            .header("Cookie", &format!("{first}; {second}"))
    };
    for logins in [
        [&*mallory.login, &*kim.login],
        [&*kim.login, &*mallory.login],
    ] {
        assert_eq!(ask(logins).await.problem(), problem(401, "LOGIN_REQUIRED"));
    }
    let twice = ask([&*mallory.login; 2]).await;
    assert_eq!(twice.status.as_u16(), 200);
}

async fn amounts_that_are_none_change_nothing(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    let path = format!("/user/charge/{}/point", kim.id);
    let huge = "9".repeat(400);
    for amount in [
        "-1",
        "0",
        "-0",
        "0.5",
        "1.0",
        "1e3",
        "1E3",
        "\"100\"",
        "null",
        "true",
        "[100]",
        "{}",
        "100000001",
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "1e400",
        &huge,
    ] {
        let body = format!("{{\"amount\": {amount}}}");
        let ask = house.ask(Method::PATCH, &path).login(&kim);
        let answer = ask.text(&body).await;
        assert_eq!(answer.problem(), problem(422, "INVALID_AMOUNT"), "{amount}");
    }
    for (body, status) in [
        ("{}", 422),
        ("{\"amount\": 007}", 400),
        ("[100]", 422),
        ("amount=1", 400),
    ] {
        let ask = house.ask(Method::PATCH, &path).login(&kim);
        let answer = ask.text(body).await;
        assert_eq!(
            answer.problem(),
            problem(status, "INVALID_REQUEST"),
            "{body}"
        );
    }
    assert_eq!(house.balance(&kim).await, 0);
    assert_eq!(given.count("transfers").await, 0);
}

async fn a_charge_repeated_is_one_charge(given: &Given) {
    let house = House::wide(given).await;
    let kim = house.person().await;
    let tries = (0..20).map(|_| {
        house
            .charge(&kim, &json!({"amount": 7}))
            .key("k-1")
            .into_future()
    });
    for answer in at_once(tries).await {
        assert_eq!(answer.body["balance"], 7);
    }
    let other = house.charge(&kim, &json!({"amount": 8})).key("k-1").await;
    assert_eq!(other.problem(), problem(422, "IDEMPOTENCY_KEY_REUSED"));
    for bad in ["", "two words", &"x".repeat(256)] {
        let answer = house.charge(&kim, &json!({"amount": 8})).key(bad).await;
        assert_eq!(answer.problem(), problem(400, "INVALID_REQUEST"), "{bad}");
        assert_eq!(
            answer.body["detail"],
            "An Idempotency-Key has 1 to 255 visible ASCII characters."
        );
    }
    assert_eq!(house.balance(&kim).await, 7);
}

async fn names_are_short_and_not_empty(given: &Given) {
    let house = House::wide(given).await;
    for name in ["", "  ", "a\0b", &"x".repeat(101)] {
        let answer = house.post("/user").json(&json!({"name": name})).await;
        assert_eq!(
            answer.problem(),
            problem(422, "INVALID_REQUEST"),
            "{name:?}"
        );
        assert_eq!(answer.body["errors"][0]["field"], "name");
    }
    for body in [
        json!({}),
        json!({"name": 1}),
        json!({"name": "Kim", "admin": true}),
    ] {
        let answer = house.post("/user").json(&body).await;
        assert_eq!(answer.problem(), problem(422, "INVALID_REQUEST"), "{body}");
    }
    assert_eq!(given.count("users").await, 0);
    // A login outlives no user, but a database may be lost.
    let nobody = login(&json!({"sub": "999"}));
    let points = house.get("/user/999/point").bearer(&nobody).await;
    assert_eq!(points.problem(), problem(404, "USER_NOT_FOUND"));
}
