//! Passes last as long as the business inside, and no longer.

use super::way::{BOTH, COUNTER, holder};
use crate::app::{TestApp, field};

#[test]
fn business_keeps_a_pass_beyond_its_life_but_not_beyond_pass_max() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        let token = app.token_of("ann");
        assert_eq!(way.keep(&mut app, &holder("ann", 1), 300), "");
        for _ in 0..4 {
            assert_eq!(field(&app.status(&token), "status"), "ACTIVE");
            app.advance(37);
        }
        let expires = field(&app.status(&token), "expiresAt");
        assert_eq!(expires, "2023-11-14T22:15:50.000Z", "150 s after admission");
        app.advance(2);
        assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
    }
}

#[test]
fn when_the_business_is_over_the_pass_lasts_as_from_a_use() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        let token = app.token_of("ann");
        let ann = holder("ann", 1);
        way.keep(&mut app, &ann, 120);
        app.advance(10);
        assert_eq!(way.keep(&mut app, &ann, 0), "");
        let expires = field(&app.status(&token), "expiresAt");
        assert_eq!(expires, "2023-11-14T22:14:30.000Z");
        app.advance(60);
        assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
        assert_eq!(
            way.keep(&mut app, &ann, 60),
            "",
            "who is not inside has nothing to keep"
        );
        assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
    }
}

#[test]
fn finishing_twice_is_finishing_once_and_lets_the_next_in() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        let [ann, bob, cid] = ["ann", "bob", "cid"].map(|user| app.token_of(user));
        assert_eq!(way.finish(&mut app, &holder("ann", 1)), "");
        assert_eq!(app.verify(&ann).code(), "TOKEN_EXPIRED");
        assert_eq!(app.verify(&bob).status, 204);
        for who in [
            holder("ann", 1),
            holder("ann", 1),
            holder("ann", 2),
            holder("eve", 9),
        ] {
            assert_eq!(way.finish(&mut app, &who), "");
        }
        assert_eq!(
            app.verify(&bob).status,
            204,
            "a repetition ends nobody else's pass"
        );
        assert_eq!(app.verify(&cid).status, 403);
        assert_eq!(
            way.finish(&mut app, &holder("cid", 3)),
            "",
            "nobody in line is finished"
        );
        assert_eq!(app.verify(&cid).status, 403);
    }
}

#[test]
fn what_names_an_old_place_does_nothing_to_the_new_one() {
    for way in BOTH {
        let mut app = TestApp::with(COUNTER);
        app.token_of("ann");
        way.finish(&mut app, &holder("ann", 1));
        let again = app.token_of("ann");
        let before = app.status(&again).json();
        assert_eq!(way.finish(&mut app, &holder("ann", 1)), "");
        assert_eq!(way.keep(&mut app, &holder("ann", 1), 3_600), "");
        let after = app.status(&again).json();
        assert_eq!(after["status"], "ACTIVE");
        assert_eq!(after["expiresAt"], before["expiresAt"]);
    }
}

#[test]
fn the_longest_business_is_the_same_in_process() {
    let mut app = TestApp::with(COUNTER);
    app.token_of("ann");
    for way in BOTH {
        assert_eq!(way.keep(&mut app, &holder("ann", 1), 86_400), "");
        assert_eq!(
            way.keep(&mut app, &holder("ann", 1), 86_401),
            "INVALID_REQUEST"
        );
        assert_eq!(
            way.finish(&mut app, &holder("ann", u64::MAX)),
            "INVALID_REQUEST"
        );
    }
}
