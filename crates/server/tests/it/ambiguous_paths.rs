//! Paths that a proxy and this server could read differently.

use ropeline_testing::http::Ask;
use serde_json::json;

use crate::app::{ADMIN_KEY, SERVICE_KEY, TestApp};

const AMBIGUOUS: [&str; 9] = [
    "/api/v1/admin/rooms/..%2f..%2f..%2f..%2fwait%2fx/reset",
    "/api/v1/admin/rooms/main%2freset",
    "/api/v1/admin/rooms/../rooms/main",
    "/api/v1/admin/rooms/main/visitors/..%2f..%2f..%2f..%2f..%2fwait%2fx",
    "/api/v1/admin/rooms/%2e%2e/rooms/main",
    "/api/v1/service/rooms/..%5c..%5cwait/tokens",
    "/api/v1/service/rooms/main/./tokens",
    "/admin/..%2Fwait/main",
    "/wait/..%2fapi%2fv1%2fadmin%2frooms",
];

#[test]
fn a_path_that_two_servers_could_read_differently_is_refused_before_its_key_is_looked_at() {
    let mut app = TestApp::new();
    for path in AMBIGUOUS {
        for method in ["GET", "POST", "DELETE"] {
            for key in ["", "wrong", ADMIN_KEY, SERVICE_KEY] {
                let ask = Ask::with(method, path).header("Authorization", &format!("Bearer {key}"));
                let reply = app.send(ask);
                assert_eq!(
                    (reply.status, &*reply.code()),
                    (400, "INVALID_REQUEST"),
                    "{method} {path}"
                );
            }
        }
    }
    let wrong = Ask::get("/api/v1/admin/rooms").header("Authorization", "Bearer wrong");
    assert_eq!(
        app.send(wrong).status,
        401,
        "none of them was counted as a guess"
    );
}

#[test]
fn the_ids_of_a_site_may_have_slashes_and_dots() {
    let mut app = TestApp::new();
    for (user, path) in [
        ("team/7", "team%2F7"),
        ("kim\\lee", "kim%5Clee"),
        ("a..b", "a..b"),
    ] {
        app.send(Ask::post("/api/v1/queue/tokens").json(&json!({"userId": user})));
        let ask = Ask::get(&format!("/api/v1/admin/rooms/main/visitors/{path}"));
        let found = app.send(ask.header("Authorization", &format!("Bearer {ADMIN_KEY}")));
        assert_eq!(found.json()["userId"], user);
    }
}
