//! A service that is answered by the same server as the rooms.

use axum::{Router, routing::get};
use http::StatusCode;
use ropeline_server::{Beside, SharedLogin};
use ropeline_testing::{http::Ask, login::LoginKey, write_secret};
use ropeline_web::{Explained, Kind};
use serde_json::json;
use utoipa::openapi::{
    HttpMethod, InfoBuilder, OpenApiBuilder, PathItem, PathsBuilder, path::OperationBuilder,
};

use crate::{
    app::{ADMIN_KEY, TOKENS, TestApp},
    site,
};

const SECRET: [u8; 32] = *b"the secret of a shop, 32 bytes .";
const ISSUER: &str = "shop";
const SOLD_OUT: Kind = Kind {
    code: "SHOP_SOLD_OUT",
    status: StatusCode::CONFLICT,
    title: "Nothing is left",
};
const EXPLAINED: &[Explained] = &[Explained::new(
    &SOLD_OUT,
    "Everything was sold.",
    "Come back another day.",
)];

/// A shop with a home page, one more route, and one for operators.
pub(crate) fn shop() -> Beside {
    let operation = OperationBuilder::new().operation_id(Some("shopGoods"));
    let paths = PathsBuilder::new().path("/shop/goods", PathItem::new(HttpMethod::Get, operation));
    let info = InfoBuilder::new().title("Shop").version("1");
    Beside {
        router: Router::new()
            .route("/", get(async || "the shop"))
            .route("/shop/goods", get(async || "goods"))
            .route(
                "/api/v1/admin/goods",
                get(async || "for operators").post(async |body: String| body),
            ),
        openapi: OpenApiBuilder::new().info(info).paths(paths).build(),
        explained: EXPLAINED,
        login: Some(SharedLogin {
            secret: SECRET,
            issuer: ISSUER.to_owned(),
            audience: "rooms".to_owned(),
        }),
    }
}

fn login(user: &str) -> String {
    let claims = json!({"iss": ISSUER, "aud": "rooms", "sub": user, "exp": site::now_s() + 60});
    LoginKey::hs256(&SECRET).login(&claims)
}

fn text(app: &mut TestApp, path: &str) -> String {
    let reply = app.send(Ask::get(path));
    assert_eq!(reply.status, 200, "{path}");
    String::from_utf8(reply.body).unwrap()
}

#[test]
fn its_pages_are_at_home_and_the_rooms_are_at_rooms() {
    let mut app = TestApp::beside("", shop());
    assert_eq!(text(&mut app, "/"), "the shop");
    assert_eq!(text(&mut app, "/shop/goods"), "goods");
    let rooms = text(&mut app, "/rooms").replace("&#x2f;", "/");
    assert!(rooms.contains("/wait/main#join"));
    assert!(
        rooms.contains("/rooms?lang=ko"),
        "the language switch stays there"
    );
    assert_eq!(app.join("ann").status, 201);
    let nothing = app.send(Ask::get("/shop/nothing"));
    assert_eq!(
        (nothing.status, nothing.code().as_str()),
        (404, "NOT_FOUND")
    );
}

#[test]
fn alone_the_rooms_are_at_home() {
    let mut app = TestApp::new();
    assert!(text(&mut app, "/").contains("/wait/main#join"));
    assert_eq!(app.send(Ask::get("/rooms")).code(), "NOT_FOUND");
}

#[test]
fn its_routes_and_problems_are_described_beside_the_rooms() {
    let mut app = TestApp::beside("", shop());
    let described = app.send(Ask::get("/openapi.json")).json();
    assert_eq!(described["info"]["title"], "Ropeline");
    let paths = &described["paths"];
    assert_eq!(paths["/shop/goods"]["get"]["operationId"], "shopGoods");
    assert!(paths[TOKENS]["post"].is_object());
    let codes = &paths["/problems/{code}"]["get"]["parameters"][0]["schema"]["enum"];
    for code in ["shop-sold-out", "token-expired"] {
        assert!(codes.as_array().unwrap().contains(&json!(code)), "{codes}");
        let explained = app.send(Ask::get(&format!("/problems/{code}")));
        assert_eq!(explained.status, 200, "{code}");
    }
    let explained = app.send(Ask::get("/problems/shop-sold-out")).json();
    assert_eq!(explained["whatToDo"], "Come back another day.");
    let alone = TestApp::new().send(Ask::get("/problems/shop-sold-out"));
    assert_eq!(alone.status, 404);
}

#[test]
fn its_logins_are_believed_where_the_operator_names_no_other() {
    let mut app = TestApp::beside("[rooms.main]\nbatch = 5\n", shop());
    let reply = app.send(site::ask(&login("ann")));
    assert_eq!(
        (reply.status, &reply.json()["userId"]),
        (201, &json!("ann"))
    );
    let token = reply.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(
        app.verify(&token).header("x-queue-user-verified"),
        Some("true")
    );
    let forged = app.send(site::ask(&site::login("ann")));
    assert_eq!(forged.code(), "LOGIN_INVALID");
}

#[test]
fn the_operators_own_logins_beat_its() {
    let directory = tempfile::tempdir().unwrap();
    let keys = directory.path().join("secret");
    write_secret(&keys, site::SECRET);
    let config = format!(
        "[login]\nsecret_file = '{}'\nissuer = '{}'\naudience = '{}'\n",
        keys.display(),
        site::ISSUER,
        site::AUDIENCE,
    );
    let mut app = TestApp::beside(&config, shop());
    assert_eq!(app.send(site::ask(&login("ann"))).code(), "LOGIN_INVALID");
    assert_eq!(app.send(site::ask(&site::login("ann"))).status, 201);
}

#[test]
fn its_routes_for_operators_are_guarded_as_the_rooms_are() {
    let mut app = TestApp::beside("", shop());
    let ask = |key: &str| {
        let ask = Ask::get("/api/v1/admin/goods");
        ask.header("Authorization", &format!("Bearer {key}"))
    };
    assert_eq!(
        app.send(Ask::get("/api/v1/admin/goods")).code(),
        "UNAUTHORIZED"
    );
    assert_eq!(app.send(ask(ADMIN_KEY)).body, b"for operators");
    for _ in 0..20 {
        assert_eq!(app.send(ask("wrong")).code(), "UNAUTHORIZED");
    }
    assert_eq!(app.send(ask("wrong")).code(), "RATE_LIMITED");
    assert_eq!(app.send(ask(ADMIN_KEY)).body, b"for operators");
    assert_eq!(app.send(Ask::get("/shop/goods")).status, 200);
}
