//! An address that asks too often has to wait.

use http::StatusCode;
use serde_json::json;

use super::{
    ask::{Answer, Ask, problem},
    house::{ADMIN_KEY, House, Person},
};
use crate::given::Given;

const FEW: &str = "trusted_proxies = ['10.0.0.0/8']\n[rate_limits]\njoins_per_minute = 3\n\
                   admin_per_minute = 5\nadmin_failures_per_minute = 2\n";
const CONCERTS: &str = "/api/v1/admin/concerts";

async fn house(given: &Given) -> House {
    House::wide(given).await.limiting(given, FEW)
}

fn new_user(house: &House) -> Ask {
    house.post("/user").json(&json!({"name": "Kim"}))
}

#[tokio::test]
async fn an_address_that_makes_too_many_users_has_to_wait_and_others_need_not() {
    let given = Given::on_sqlite().await;
    let house = house(&given).await;
    for _ in 0..3 {
        let made = new_user(&house).from("198.51.100.7").await;
        assert_eq!(made.status, StatusCode::CREATED);
    }
    let refused = new_user(&house).from("198.51.100.7").await;
    assert_eq!(refused.problem(), problem(429, "RATE_LIMITED"));
    assert!(refused.headers.contains_key("retry-after"));
    let other = new_user(&house).from("198.51.100.8").await;
    assert_eq!(other.status, StatusCode::CREATED);
    assert_eq!(given.count("users").await, 4, "a refusal makes nobody");
    house.advance(std::time::Duration::from_secs(20)).await;
    let later = new_user(&house).from("198.51.100.7").await;
    assert_eq!(later.status, StatusCode::CREATED);
}

#[tokio::test]
async fn visitors_of_a_trusted_proxy_are_told_apart_and_nobody_else_is_believed() {
    let given = Given::on_sqlite().await;
    let house = house(&given).await;
    let by_proxy = |address: &str| {
        let ask = new_user(&house).from("10.1.2.3");
        ask.header("X-Forwarded-For", &format!("192.0.2.99, {address}"))
    };
    for _ in 0..3 {
        assert_eq!(by_proxy("198.51.100.7").await.status, StatusCode::CREATED);
    }
    assert_eq!(by_proxy("198.51.100.7").await.code(), "RATE_LIMITED");
    assert_eq!(by_proxy("198.51.100.8").await.status, StatusCode::CREATED);
    for invented in 0..4 {
        let ask = new_user(&house).from("203.0.113.5");
        let answer = ask.header("X-Forwarded-For", &format!("198.51.100.{invented}"));
        let limited = answer.await.code() == "RATE_LIMITED";
        assert_eq!(limited, invented == 3);
    }
}

#[tokio::test]
async fn a_form_that_is_sent_too_often_is_refused_with_a_page() {
    let given = Given::on_sqlite().await;
    let house = house(&given).await;
    given.seat().await;
    let enter = || {
        let ask = house.post("/tickets/1").form("name=Kim");
        ask.from("198.51.100.7").header("Accept-Language", "ko")
    };
    for _ in 0..3 {
        assert_eq!(enter().await.status, StatusCode::SEE_OTHER);
    }
    let refused = enter().await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    let told = "같은 네트워크에서 요청이 너무 많아요";
    assert!(refused.text.contains(told), "{}", refused.text);
    assert_eq!(given.count("users").await, 3);
}

#[tokio::test]
async fn opening_the_seats_counts_as_a_join_but_not_with_a_pass() {
    let given = Given::on_sqlite().await;
    let house = house(&given).await;
    let seat = given.seat().await;
    let [kim, lee] = [house.person().await, house.person().await];
    let lees = house.token(&lee).await;
    let held = given.office.reserve(lee.id, seat, None, house.now()).await;
    held.unwrap();
    let open = |person: &Person, cookies: &str| {
        let cookies = format!("ropeline_login={}{cookies}", person.login);
        let ask = house.get("/tickets/1").header("Cookie", &cookies);
        ask.from("198.51.100.7")
    };
    let shows = |answer: &Answer, inside: &str| {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let inside = format!("data-inside=\"{inside}\"");
        assert!(answer.text.contains(&inside), "{}", answer.text);
    };
    let first = open(&kim, "").await;
    shows(&first, "yes");
    let pass = first.headers["set-cookie"].to_str().unwrap();
    let pass = format!("; {}", pass.split(';').next().unwrap());
    for _ in 0..4 {
        let with_pass = open(&kim, &pass).await;
        shows(&with_pass, "yes");
        assert!(!with_pass.headers.contains_key("set-cookie"));
    }
    // A pass of somebody else is none.
    shows(&open(&kim, &format!("; rl_main={lees}")).await, "yes");
    shows(&open(&kim, "").await, "yes");
    let refused = open(&kim, "").header("Accept-Language", "en").await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.text.contains("RATE_LIMITED"), "{}", refused.text);
    assert!(!refused.headers.contains_key("set-cookie"));
    shows(&open(&kim, &pass).await, "yes");
    shows(&open(&lee, "").await, "no");
}

#[tokio::test]
async fn wrong_keys_and_requests_of_operators_are_counted() {
    let given = Given::on_sqlite().await;
    let house = house(&given).await;
    let concert = |key: &str, address: &str| {
        let ask = house.post(CONCERTS).bearer(key).from(address);
        ask.json(&json!({"title": "Winter"}))
    };
    for _ in 0..2 {
        let wrong = concert("a-wrong-key", "198.51.100.7").await;
        assert_eq!(wrong.problem(), problem(401, "UNAUTHORIZED"));
    }
    let guess = concert("a-wrong-key", "198.51.100.7").await;
    assert_eq!(guess.problem(), problem(429, "RATE_LIMITED"));
    for _ in 0..5 {
        let made = concert(ADMIN_KEY, "198.51.100.8").await;
        assert_eq!(made.status, StatusCode::CREATED);
    }
    let sixth = concert(ADMIN_KEY, "198.51.100.8").await;
    assert_eq!(sixth.problem(), problem(429, "RATE_LIMITED"));
    assert_eq!(given.count("concerts").await, 5);
}
