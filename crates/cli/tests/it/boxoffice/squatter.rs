//! Strangers who state the user ids of buyers, and tokens from before those were told apart.

use ropeline_core::{Claims, Clock};
use ropeline_server::token::KeyFile;
use ropeline_store::SystemClock;
use ropeline_testing::{Persistence, TestRedis, http::Ask};
use serde_json::json;

use super::{ALL_INSIDE, ONE_INSIDE, buyer::Buyer};
use crate::{
    process::Site,
    visitor::{join, leave, status, token, token_of, verify},
};

/// The first user whom the box office makes.
const FIRST_USER: &str = "1";

/// The combined server on each kind of store; a Redis lives as long as its site.
fn sites(settings: &str) -> [(Site, Option<TestRedis>); 2] {
    let redis = TestRedis::with(Persistence::None, &[]);
    let on_redis = format!("store = 'redis://127.0.0.1:{}'\n{settings}", redis.port());
    let shared = Site::new(&on_redis);
    let books = format!(
        "sqlite:{}",
        shared.data().with_file_name("books.db").display()
    );
    let shared = shared.with_flag("--database", &books);
    [(Site::new(settings), None), (shared, Some(redis))]
}

#[test]
fn a_stranger_who_states_a_buyers_id_cannot_end_the_buyers_place() {
    for (site, _redis) in sites(ALL_INSIDE) {
        let server = site.start();
        let mut stranger = server.client();
        let squatted = token_of(&mut stranger, FIRST_USER);

        let buyer = Buyer::arrive(site.address());
        assert_eq!(buyer.user.to_string(), FIRST_USER);
        assert_eq!(buyer.place()["ordinal"], 2, "a place of their own");
        assert_eq!(stranger.send(&leave(&squatted)).status, 204);
        assert_eq!(buyer.standing(site.address()), "ACTIVE");
        buyer.pay(buyer.hold(buyer.free_seat()));
    }
}

#[test]
fn a_stranger_who_comes_later_does_not_meet_the_buyers_place() {
    for (site, _redis) in sites(ONE_INSIDE) {
        let server = site.start();
        let buyer = Buyer::arrive(site.address());
        let stranger = server.client().send(&join(FIRST_USER));
        assert_eq!(
            (stranger.status, stranger.json()["ordinal"].as_u64()),
            (201, Some(2))
        );
        assert_eq!(server.client().send(&leave(&token(&stranger))).status, 204);
        assert_eq!(buyer.standing(site.address()), "ACTIVE");
    }
}

#[test]
fn a_pass_of_somebody_who_stated_a_buyers_id_buys_nothing() {
    for (site, _redis) in sites(ALL_INSIDE) {
        let server = site.start();
        let buyer = Buyer::arrive(site.address());
        let squatted = token_of(&mut server.client(), FIRST_USER);
        let inside = server.client().send(&verify(&squatted));
        assert_eq!(
            (inside.status, inside.header("x-queue-user-verified")),
            (204, None)
        );
        let seat = buyer.free_seat();
        let reserve = Ask::post(&format!("/concert/{seat}/reservation")).token(&squatted);
        assert_eq!(server.client().send(&reserve).code(), "TOKEN_NOT_VERIFIED");
    }
}

/// What an earlier version had signed for this place: it called verified users as it did anybody who stated their id.
fn as_of_earlier_version(site: &Site, token: &str) -> String {
    let keys = KeyFile::open(&site.data()).expect("the server has made keys");
    let ring = keys.ring().expect("the keys are in order");
    let claims = ring.verify(token, SystemClock::start().now());
    let claims = claims.expect("a token that the server has signed");
    assert!(claims.sub.as_str().starts_with("u:") && !claims.vfd);
    ring.sign(&Claims {
        vfd: true,
        ..claims
    })
}

#[test]
fn a_verified_token_of_an_earlier_version_goes_on_until_its_place_ends() {
    for (site, _redis) in sites(ALL_INSIDE) {
        let server = site.start();
        let stated = token_of(&mut server.client(), FIRST_USER);
        let earlier = as_of_earlier_version(&site, &stated);
        server.kill();

        let server = site.start();
        let mut client = server.client();
        let place = client.send(&status(&earlier)).json();
        assert_eq!(
            (&place["ordinal"], &place["status"]),
            (&json!(1), &json!("ACTIVE"))
        );
        let gate = client.send(&verify(&earlier));
        assert_eq!(
            (
                gate.status,
                gate.header("x-queue-user"),
                gate.header("x-queue-user-verified")
            ),
            (204, Some(FIRST_USER), Some("true"))
        );
        let buyer = Buyer::sign_up(site.address());
        let by_login = |token: &str| {
            buyer
                .logged_in(Ask::post("/api/v1/queue/tokens"))
                .token(token)
        };
        let resumed = client.send(&by_login(&earlier));
        assert_eq!((resumed.status, token(&resumed)), (200, earlier.clone()));
        let buyer = buyer.with_token(earlier);
        buyer.pay(buyer.hold(buyer.free_seat()));
        assert_eq!(buyer.standing(site.address()), "TOKEN_EXPIRED");
    }
}

#[test]
fn a_place_of_an_earlier_version_is_nobodys_without_its_verified_token() {
    for (site, _redis) in sites(ALL_INSIDE) {
        let server = site.start();
        let mut client = server.client();
        let stated = token_of(&mut client, FIRST_USER);
        let buyer = Buyer::sign_up(site.address());
        let login = || buyer.logged_in(Ask::post("/api/v1/queue/tokens"));
        for ask in [login().token(&stated), login()] {
            let joined = client.send(&ask);
            assert_eq!(joined.json()["ordinal"], 2, "{}", joined.json());
        }
    }
}
