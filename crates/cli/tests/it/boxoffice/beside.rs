//! The box office beside the rooms, in one process.

use ropeline_testing::{Persistence, TestRedis, http::Ask};
use serde_json::json;

use super::{SHIPPED, buyer::Buyer, says};
use crate::process::{Site, mode};

#[test]
fn the_box_office_is_beside_the_rooms_and_outlives_a_restart() {
    let site = Site::new(SHIPPED);
    let server = site.start();
    says(&server, &format!("box office  http://{}/", site.address()));
    let books = site.data().join("boxoffice.db");
    says(&server, &format!("database    {}", books.display()));
    assert_eq!(mode(&books), 0o600);
    let mut client = server.client();
    let refused = client.send(&Ask::get("/concert/dates"));
    assert_eq!(
        (refused.status, refused.code()),
        (401, "TOKEN_INVALID".into())
    );
    assert_eq!(refused.json()["joinAt"], "/wait/main");
    let buyer = Buyer::arrive(site.address());
    buyer.hold(buyer.free_seat());
    server.kill();

    let _server = site.start();
    assert_eq!(buyer.reservations(), ["HELD"], "the login holds too");
    assert_eq!(buyer.dates(), 3, "the demo concert is put up once");
}

#[test]
fn a_login_of_the_box_office_is_verified_by_the_rooms_beside_it() {
    let site = Site::new(SHIPPED);
    let server = site.start();
    let buyer = Buyer::arrive(site.address());
    let join = Ask::post("/api/v1/queue/tokens").json(&json!({}));
    let joined = server.client().send(&buyer.logged_in(join));
    let user = joined.json()["userId"].clone();
    assert_eq!((joined.status, user), (200, buyer.user.to_string().into()));
}

#[test]
fn asking_for_a_token_counts_as_a_join() {
    let site = Site::new(
        "trusted_proxies = ['127.0.0.1']\n[boxoffice]\nenabled = true\n[rate_limits]\njoins_per_minute = 5\n",
    );
    let server = site.start();
    let buyer = Buyer::sign_up(site.address());
    let path = format!("/user/{}/token/generate", buyer.user);
    let from = |ask: Ask| buyer.logged_in(ask.header("X-Forwarded-For", "198.51.100.7"));
    let mut client = server.client();
    for ask in [Ask::get, Ask::post, Ask::get, Ask::post, Ask::get] {
        assert_eq!(client.send(&from(ask(&path))).status, 200);
    }
    for ask in [Ask::get, Ask::post] {
        assert_eq!(client.send(&from(ask(&path))).code(), "RATE_LIMITED");
    }
    let join = client.send(&from(Ask::post("/api/v1/queue/tokens")));
    assert_eq!(join.code(), "RATE_LIMITED", "they are counted together");
}

#[test]
fn the_books_may_be_in_any_directory() {
    let site = Site::new(SHIPPED).with_data("50% of #1, really?");
    let _server = site.start();
    Buyer::arrive(site.address());
    assert!(site.data().join("boxoffice.db").exists());
}

#[test]
fn on_redis_without_a_database_the_box_office_stays_away_and_that_is_said() {
    let redis = TestRedis::with(Persistence::None, &[]);
    let site = Site::new(&format!(
        "store = 'redis://127.0.0.1:{}'\n{SHIPPED}",
        redis.port()
    ));
    let server = site.start();
    says(&server, "box office  not started");
    assert_eq!(server.client().send(&Ask::post("/user")).status, 404);
    assert!(!site.data().join("boxoffice.db").exists());
    drop(server);
    let books = site.data().join("shared.db");
    let site = site.with_flag("--database", &format!("sqlite:{}", books.display()));
    let server = site.start();
    says(&server, "shared.db");
    Buyer::arrive(site.address());
}

#[test]
fn a_database_that_cannot_be_used_ends_the_start() {
    let site = Site::new(SHIPPED);
    let text = b"a text, and not a database, however long it goes on: 0123456789 0123456789 0123456789 0123456789";
    let file = site.with_file("books", text);
    let site = site.with_flag("--database", &format!("sqlite:{}", file.display()));
    let complaint = site.ropeline("serve").complaint(1);
    assert!(
        complaint.contains("cannot use the database sqlite:"),
        "{complaint}"
    );
    assert!(complaint.contains("file is not a database"), "{complaint}");
}
