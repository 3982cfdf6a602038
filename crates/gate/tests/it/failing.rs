//! A room that does not answer as asked.

use std::time::Duration;

use ropeline_gate::{Failure, GateError};
use tokio::time::Instant;

use crate::{
    behind::{ask, gate, get, shop},
    doorman::{Doorman, Mood},
};

fn away() -> GateError {
    GateError::Away(Duration::from_millis(3_500))
}

fn misconfigured() -> GateError {
    GateError::Misconfigured("the key <secret> is wrong".into())
}

#[tokio::test]
async fn nobody_is_let_in_unasked() {
    for (error, retry_after) in [(away(), "4"), (misconfigured(), "30")] {
        let shop = shop(gate(Doorman::in_mood(Mood::Failing(error))).issue_missing());
        for request in [get("/pay"), get("/pay").header("x-queue-token", "in-42")] {
            let reply = ask(&shop, request).await;
            assert_eq!(reply.code(503), "STORE_UNAVAILABLE");
            assert_eq!(reply.headers["retry-after"], retry_after);
            assert!(!reply.body.contains("secret"), "{}", reply.body);
        }
    }
}

#[tokio::test]
async fn a_service_may_prefer_to_stay_open() {
    for error in [away(), misconfigured()] {
        let gate = gate(Doorman::in_mood(Mood::Failing(error))).issue_missing();
        let shop = shop(gate.on_failure(Failure::Open));
        for request in [get("/pay"), get("/pay").header("x-queue-token", "in-42")] {
            let reply = ask(&shop, request).await;
            assert_eq!((reply.status, reply.body.as_str()), (200, "somebody"));
        }
    }
}

#[tokio::test]
async fn a_room_that_says_no_is_believed_even_by_a_gate_that_stays_open() {
    for (error, status, code) in [
        (GateError::RoomClosed, 409, "ROOM_CLOSED"),
        (GateError::RoomFull, 503, "ROOM_FULL"),
        (GateError::NoSuchRoom, 404, "ROOM_NOT_FOUND"),
    ] {
        let gate = gate(Doorman::in_mood(Mood::Failing(error))).issue_missing();
        let shop = shop(gate.on_failure(Failure::Open));
        assert_eq!(ask(&shop, get("/pay")).await.code(status), code);
    }
}

#[tokio::test(start_paused = true)]
async fn no_request_waits_longer_than_the_gate_is_patient() {
    let gate = gate(Doorman::in_mood(Mood::Silent)).issue_missing();
    let shop = shop(gate.patience(Duration::from_secs(7)));
    for request in [get("/pay"), get("/pay").header("x-queue-token", "in-42")] {
        let asked = Instant::now();
        let reply = ask(&shop, request).await;
        assert_eq!(reply.code(503), "STORE_UNAVAILABLE");
        let retry_after: u64 = reply.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!((2..=5).contains(&retry_after), "{retry_after}");
        assert_eq!(asked.elapsed().as_secs(), 7);
    }
}
