//! How many seats are left, as those who wait are told.

use ropeline_testing::http::Ask;
use serde_json::{Value, json};

use crate::app::{ADMIN_KEY, TestApp, field};

fn seats(app: &mut TestApp, token: &str) -> (Value, Value) {
    let status = app.status(token);
    (field(&status, "roomState"), field(&status, "seatsLeft"))
}

/// The page of somebody who waits, without scripts.
fn page(app: &mut TestApp, token: &str, language: &str) -> String {
    let ask = Ask::get("/wait/main?nojs=1")
        .header("Cookie", &format!("rl_main={token}"))
        .header("Accept-Language", language);
    String::from_utf8(app.send(ask).body).unwrap()
}

fn waiting(app: &mut TestApp) -> String {
    app.token_of("inside");
    app.token_of("waiting")
}

#[test]
fn the_place_view_says_how_many_are_left_and_whether_that_is_none() {
    let mut app = TestApp::new();
    let inside = app.token_of("inside");
    let waiting = app.token_of("waiting");
    for (left, state) in [
        (None, "OPEN"),
        (Some(120), "OPEN"),
        (Some(0), "SOLD_OUT"),
        (Some(1), "OPEN"),
        (None, "OPEN"),
    ] {
        app.stock(left);
        for token in [&inside, &waiting] {
            assert_eq!(seats(&mut app, token), (json!(state), json!(left)));
        }
    }
}

#[test]
fn a_room_that_is_sold_out_takes_joins_and_lets_people_in() {
    let mut app = TestApp::new();
    let waiting = waiting(&mut app);
    app.stock(Some(0));
    assert_eq!(app.join("late").status, 201);
    app.advance(10);
    assert_eq!(field(&app.status(&waiting), "status"), "ACTIVE");
}

#[test]
fn what_is_left_is_still_known_after_a_restart() {
    let mut app = TestApp::new();
    let waiting = waiting(&mut app);
    app.stock(Some(0));
    let mut app = app.restarted();
    assert_eq!(seats(&mut app, &waiting), (json!("SOLD_OUT"), json!(0)));
}

#[test]
fn the_waiting_page_says_how_many_are_left() {
    let mut app = TestApp::new();
    let waiting = waiting(&mut app);
    assert!(!page(&mut app, &waiting, "en").contains("Seats left"));
    app.stock(Some(1_200));
    assert!(page(&mut app, &waiting, "en").contains("Seats left</dt><dd id=\"seats\">1,200<"));
    assert!(page(&mut app, &waiting, "ko").contains("남은 좌석</dt><dd id=\"seats\">1,200석<"));
}

#[test]
fn the_waiting_page_says_kindly_that_nothing_is_left() {
    let mut app = TestApp::new();
    let waiting = waiting(&mut app);
    let sorry = "every seat is taken at the moment";
    assert!(!page(&mut app, &waiting, "en").contains(sorry));
    app.stock(Some(0));
    let english = page(&mut app, &waiting, "en");
    assert!(english.contains(sorry) && english.contains(">none for now<"));
    let korean = page(&mut app, &waiting, "ko");
    assert!(korean.contains("지금은 남은 좌석이 없어요") && korean.contains(">지금은 없음<"));
}

#[test]
fn operators_see_the_seats_beside_the_state() {
    let mut app = TestApp::new();
    app.stock(Some(0));
    let key = format!("Bearer {ADMIN_KEY}");
    let room = app.send(Ask::get("/api/v1/admin/rooms/main").header("Authorization", &key));
    assert_eq!(field(&room, "state"), "OPEN");
    assert_eq!(field(&room, "seatsLeft"), 0);
}

#[test]
fn the_home_page_says_that_a_room_is_sold_out() {
    let mut app = TestApp::new();
    app.stock(Some(0));
    let home = app.send(Ask::get("/").header("Accept-Language", "ko"));
    assert!(String::from_utf8(home.body).unwrap().contains(">매진<"));
}
