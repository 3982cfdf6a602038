//! Turns that come, and passes that run out, by nothing but the passing of time.

use std::time::Duration;

use crate::{
    process::Site,
    visitor::{Place, status, token_of},
    wait::{Stopwatch, until},
};

const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn a_turn_comes_and_the_pass_runs_out_by_themselves() {
    let site = Site::new(
        "[rooms.main]\nevery = \"200ms\"\nbatch = 1\npass_ttl = \"1s\"\npass_max = \"0s\"\n",
    );
    let server = site.start();
    let mut client = server.client();
    let watch = Stopwatch::start();
    // Two who join within one tick, so that the second has to wait for the next.
    let tokens = [token_of(&mut client, "ann"), token_of(&mut client, "bob")];
    for token in &tokens {
        until(PATIENCE, "the turn comes", || {
            let place = Place::of(&client.send(&status(token)))?;
            (place.status == "ACTIVE").then_some(())
        });
    }
    for token in &tokens {
        let reply = until(PATIENCE, "the pass runs out", || {
            let reply = client.send(&status(token));
            (reply.status != 200).then_some(reply)
        });
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (401, "TOKEN_EXPIRED")
        );
        // Room time counts whole milliseconds.
        let elapsed = watch.elapsed();
        assert!(
            elapsed >= Duration::from_millis(999),
            "not before: {elapsed:?}"
        );
    }
}
