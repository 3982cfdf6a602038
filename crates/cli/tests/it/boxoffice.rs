//! The box office beside the rooms, and as a service of its own.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use ropeline_testing::{
    Persistence, TestRedis,
    http::{Ask, Client, Reply},
};
use serde_json::{Value, json};

use crate::process::{Server, Site, mode};

const SERVICE_KEY: &str = "a-key-for-the-shop-and-for-nobody-else";

/// Somebody who has logged in and is inside.
struct Buyer {
    id: i64,
    login: String,
    token: String,
}

impl Buyer {
    fn inside(client: &mut Client) -> Self {
        let made = client.send(&Ask::post("/user").json(&json!({"name": "Kim"})));
        assert_eq!(made.status, 201, "{}", made.json());
        let id = made.json()["userId"].as_i64().expect("a number");
        let login = text(&made, "accessToken");
        let mut buyer = Self {
            id,
            login,
            token: String::new(),
        };
        let place = client.send(&buyer.asks(Ask::get(&buyer.path("token/generate"))));
        assert_eq!(place.json()["status"], "ACTIVE", "{}", place.json());
        buyer.token = text(&place, "token");
        buyer
    }

    fn path(&self, what: &str) -> String {
        format!("/user/{}/{what}", self.id)
    }

    fn asks(&self, ask: Ask) -> Ask {
        let bearer = format!("Bearer {}", self.login);
        ask.header("Authorization", &bearer).token(&self.token)
    }

    fn reserves(&self, client: &mut Client, seat: u32) -> Reply {
        client.send(&Ask::post(&format!("/concert/{seat}/reservation")).token(&self.token))
    }

    fn reservations(&self, client: &mut Client) -> Value {
        let reply = client.send(&self.asks(Ask::get(&self.path("reservations"))));
        assert_eq!(reply.status, 200, "{}", reply.json());
        reply.json()
    }
}

fn text(reply: &Reply, name: &str) -> String {
    let text = reply.json()[name].as_str().map(str::to_owned);
    text.unwrap_or_else(|| panic!("{name}: {}", reply.json()))
}

fn says(server: &Server, text: &str) {
    let stdout = server.stdout();
    assert!(stdout.contains(text), "{text}:\n{stdout}");
}

#[test]
fn the_box_office_is_beside_the_rooms_and_outlives_a_restart() {
    let site = Site::new("");
    let server = site.start();
    says(&server, &format!("box office  http://{}/", site.address()));
    let books = site.data().join("boxoffice.db");
    says(&server, &format!("database    {}", books.display()));
    for secret in [books, site.data().join("boxoffice.key")] {
        assert_eq!(mode(&secret), 0o600, "{}", secret.display());
    }
    let mut client = server.client();
    let refused = client.send(&Ask::get("/concert/dates"));
    assert_eq!(
        (refused.status, refused.code()),
        (401, "TOKEN_INVALID".into())
    );
    let buyer = Buyer::inside(&mut client);
    let reserved = buyer.reserves(&mut client, 1);
    assert_eq!(reserved.status, 201, "{}", reserved.json());
    server.kill();

    let server = site.start();
    let mut client = server.client();
    let kept = buyer.reservations(&mut client);
    assert!(kept.to_string().contains("\"HELD\""), "{kept}");
    let dates = client.send(&Ask::get("/concert/dates").token(&buyer.token));
    let dates = dates.json()["dates"].as_array().map(Vec::len);
    assert_eq!(dates, Some(3), "the demo concert is put up once");
}

#[test]
fn a_login_of_the_box_office_is_verified_by_the_rooms_beside_it() {
    let server_site = Site::new("");
    let server = server_site.start();
    let mut client = server.client();
    let buyer = Buyer::inside(&mut client);
    let login = format!("Bearer {}", buyer.login);
    let join = Ask::post("/api/v1/queue/tokens").json(&json!({}));
    let joined = client.send(&join.header("Authorization", &login));
    assert_eq!(
        (joined.status, &joined.json()["userId"]),
        (200, &buyer.id.to_string().into())
    );
}

#[test]
fn the_books_may_be_in_any_directory() {
    let site = Site::new("").with_data("50% of #1, really?");
    let server = site.start();
    assert!(Buyer::inside(&mut server.client()).id > 0);
    assert!(site.data().join("boxoffice.db").exists());
}

#[test]
fn a_box_office_of_its_own_sells_behind_the_gate_of_a_room_elsewhere() {
    let key = |site: Site| site.with_flag("--service-key", SERVICE_KEY);
    let rooms = key(Site::new(
        "[boxoffice]\nenabled = false\n[rooms.main]\nactive_max = 1\npresence_ttl = '0s'\n",
    ));
    let room = rooms.start();
    let shop = key(Site::new(""));
    let gate = format!("http://{}", rooms.address());
    let office = shop.start_as(&format!("boxoffice --gate {gate}"));
    says(&office, &format!("main at {gate}"));
    says(&office, "boxoffice.db");
    let mut client = office.client();
    let buyer = Buyer::inside(&mut client);
    assert_eq!(buyer.reserves(&mut client, 1).status, 201);

    let waits = client.send(&Ask::post("/user").json(&json!({"name": "Lee"})));
    let login = format!("Bearer {}", text(&waits, "accessToken"));
    let path = format!("/user/{}/token/generate", waits.json()["userId"]);
    let place = client.send(&Ask::get(&path).header("Authorization", &login));
    assert_eq!(place.json()["status"], "WAITING");
    let refused = client.send(&Ask::get("/concert/dates").token(&text(&place, "token")));
    assert_eq!(
        (refused.status, refused.code()),
        (403, "NOT_ADMITTED".into())
    );

    let known = client.send(&Ask::get("/concert/dates"));
    assert_eq!(known.json()["joinAt"], format!("{gate}/wait/main"));
    drop(room);
    let away = client.send(&Ask::get("/concert/dates").token(&buyer.token));
    assert_eq!(
        (away.status, away.code()),
        (503, "STORE_UNAVAILABLE".into())
    );
    let said = office.stdout() + &office.stderr();
    assert!(!said.contains(SERVICE_KEY), "{said}");
}

#[test]
fn a_box_office_that_the_room_does_not_believe_does_not_start() {
    let rooms = Site::new("").with_flag("--service-key", SERVICE_KEY);
    let _room = rooms.start();
    let line = format!("boxoffice --gate http://{}", rooms.address());
    let keyless = Site::new("").ropeline(&line).complaint(1);
    assert!(keyless.contains("ROPELINE_SERVICE_KEY"), "{keyless}");
    let wrong = "another-key-than-that-of-the-room";
    let wrong_key = Site::new("")
        .with_flag("--service-key", wrong)
        .ropeline(&line);
    let complaint = wrong_key.complaint(1);
    assert!(complaint.contains("UNAUTHORIZED"), "{complaint}");
    assert!(!complaint.contains(wrong), "{complaint}");
    let elsewhere = Site::new("boxoffice.room = 'elsewhere'\n");
    let elsewhere = elsewhere.with_flag("--service-key", SERVICE_KEY);
    let complaint = elsewhere.ropeline(&line).complaint(1);
    assert!(complaint.contains("there is no such room"), "{complaint}");
}

#[test]
fn on_redis_without_a_database_the_box_office_stays_away_and_that_is_said() {
    let redis = TestRedis::with(Persistence::None, &[]);
    let site = Site::new(&format!("store = 'redis://127.0.0.1:{}'\n", redis.port()));
    let server = site.start();
    says(&server, "box office  not started");
    assert_eq!(server.client().send(&Ask::post("/user")).status, 404);
    assert!(!site.data().join("boxoffice.db").exists());
    drop(server);
    let books = site.data().join("shared.db");
    let site = site.with_flag("--database", &format!("sqlite:{}", books.display()));
    let server = site.start();
    says(&server, "shared.db");
    Buyer::inside(&mut server.client());
}

#[test]
fn a_database_that_cannot_be_used_ends_the_start() {
    let site = Site::new("");
    let no_database = site.with_file(
        "books",
        b"this is a text and not a database, however long it goes on",
    );
    let site = site.with_flag("--database", &format!("sqlite:{}", no_database.display()));
    let complaint = site.ropeline("serve").complaint(1);
    assert!(complaint.contains("cannot use the database"), "{complaint}");
    assert!(complaint.contains("not a database"), "{complaint}");
}

#[test]
fn a_secret_that_others_could_have_changed_is_not_replaced() {
    let site = Site::new("");
    drop(site.start());
    let key = site.data().join("boxoffice.key");
    write(&key, b"short");
    let complaint = site.ropeline("serve").complaint(1);
    assert!(
        complaint.contains("it holds 5 bytes, and not 32"),
        "{complaint}"
    );
}

fn write(file: &Path, bytes: &[u8]) {
    fs::write(file, bytes).expect("a file of the test's own");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(file, private).expect("a file of the test's own");
}

mod settings {
    use super::*;

    #[test]
    fn a_database_of_the_file_is_where_the_books_are() {
        let site = Site::new("");
        let books = site.with_file("other.db", b"");
        site.configure(&format!("database = 'sqlite:{}'\n", books.display()));
        let server = site.start();
        Buyer::inside(&mut server.client());
        says(&server, "other.db");
        assert!(!site.data().join("boxoffice.db").exists());
    }

    #[test]
    fn a_box_office_that_is_not_enabled_is_not_there() {
        let site = Site::new("[boxoffice]\nenabled = false\n");
        let server = site.start();
        let mut client = server.client();
        assert_eq!(client.send(&Ask::post("/user")).status, 404);
        assert_eq!(client.send(&Ask::get("/")).status, 200);
        assert!(
            !server.stdout().contains("box office"),
            "{}",
            server.stdout()
        );
        assert!(!site.data().join("boxoffice.db").exists());
    }

    #[test]
    fn buyers_come_through_the_room_that_is_named() {
        let site = Site::new("[boxoffice]\nroom = 'hall'\n[rooms.hall]\nactive_max = 5\n");
        let server = site.start();
        let mut client = server.client();
        let buyer = Buyer::inside(&mut client);
        let other = client.send(&Ask::post("/api/v1/queue/tokens").json(&json!({})));
        let refused = client.send(&Ask::get("/concert/dates").token(&text(&other, "token")));
        assert_eq!(
            (refused.status, refused.code()),
            (401, "TOKEN_INVALID".into())
        );
        let entered = client.send(&Ask::get("/concert/dates").token(&buyer.token));
        assert_eq!(entered.status, 200);
        drop(server);
        site.configure("[boxoffice]\nroom = 'nowhere'\n");
        let complaint = site.ropeline("serve").complaint(1);
        assert!(
            complaint.contains("a room that is not there: nowhere"),
            "{complaint}"
        );
    }

    #[test]
    fn a_seat_is_held_for_hold_ttl_and_so_many_at_once() {
        let site = Site::new("[boxoffice]\nhold_ttl = '1s'\nholds_max = 2\n");
        let server = site.start();
        let mut client = server.client();
        let (buyer, other) = (Buyer::inside(&mut client), Buyer::inside(&mut client));
        assert_eq!(buyer.reserves(&mut client, 1).status, 201);
        assert_eq!(buyer.reserves(&mut client, 2).status, 201);
        let beyond = buyer.reserves(&mut client, 3);
        assert_eq!(beyond.code(), "HOLD_LIMIT", "{}", beyond.json());
        crate::wait::until(std::time::Duration::from_secs(10), "the hold ends", || {
            let reply = other.reserves(&mut client, 1);
            (reply.status == 201).then_some(())
        });
    }
}
