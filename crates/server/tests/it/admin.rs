//! What operators see.

use ropeline_testing::http::Ask;

use crate::app::{ADMIN_KEY, TestApp};

const ROOMS: &str = "/api/v1/admin/rooms";

#[test]
fn without_the_key_nothing_is_told() {
    let mut app = TestApp::new();
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer wrong".to_owned(),
        format!("Bearer {ADMIN_KEY}x"),
        format!("Bearer {}", &ADMIN_KEY[1..]),
        format!("Basic {ADMIN_KEY}"),
        ADMIN_KEY.to_owned(),
    ];
    for header in wrong {
        for path in [
            ROOMS.to_owned(),
            format!("{ROOMS}/main"),
            format!("{ROOMS}/nowhere"),
        ] {
            let reply = app.send(Ask::get(&path).header("Authorization", &header));
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (401, "UNAUTHORIZED"),
                "{header}"
            );
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert_eq!(app.send(Ask::get(ROOMS)).status, 401);
}

#[test]
fn with_the_key_every_room_is_shown_in_figures() {
    let mut app = TestApp::with(
        "[rooms.main]\nbatch = 2\nactive_max = 3\nevery = \"10s\"\n[rooms.other]\npreset = \"seed-004\"\n",
    );
    for n in 0..5 {
        app.token_of(&format!("user-{n}"));
    }
    let ask = |path: &str| Ask::get(path).header("Authorization", &format!("Bearer {ADMIN_KEY}"));
    let rooms = app.send(ask(ROOMS)).json();
    assert_eq!(rooms["rooms"].as_array().unwrap().len(), 2);
    assert_eq!(rooms["rooms"][1]["policy"]["activeMax"], 200);
    let room = app.send(ask(&format!("{ROOMS}/main"))).json();
    for (field, value) in [
        ("waiting", 3),
        ("active", 2),
        ("aside", 0),
        ("issued", 5),
        ("head", 2),
        ("door", 0),
    ] {
        assert_eq!(room[field], value, "{field}");
    }
    assert_eq!(room["state"], "OPEN");
    assert_eq!(room["policy"]["every"], "10s");
    let missing = app.send(ask(&format!("{ROOMS}/nowhere")));
    assert_eq!(
        (missing.status, missing.code().as_str()),
        (404, "ROOM_NOT_FOUND")
    );
}
