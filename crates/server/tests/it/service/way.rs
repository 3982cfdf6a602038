//! The six calls by either of the two ways.

use std::time::Duration;

use ropeline_core::{Holder, Ordinal, RoomId, UserId, Visitor};
use ropeline_gate::{Decision, GateError, Refusal, Ticket};
use ropeline_testing::http::{Ask, Reply};
use serde_json::{Value, json};

use crate::app::{SERVICE_KEY, TestApp};

/// One inside at once, and the next when a slot is free; passes of a minute, 150 seconds in all.
pub(super) const COUNTER: &str =
    "[rooms.main]\nactive_max = 1\npass_ttl = '60s'\npass_max = '150s'\npresence_ttl = '0s'\n";

/// The six calls by one of the two ways. What both answer is compared as text.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Http,
    InProcess,
}

pub(super) const BOTH: [Way; 2] = [Way::Http, Way::InProcess];

impl Way {
    pub(super) fn verify(self, app: &mut TestApp, room: &str, token: &str) -> String {
        match self {
            Self::Http => {
                let reply = app.send(service(room, "verify").token(token));
                match reply.status {
                    200 => reply.json().to_string(),
                    _ => refused(&reply),
                }
            }
            Self::InProcess => {
                let keeper = app.gatekeeper();
                match app.run(keeper.verify(&id(room), token)) {
                    Ok(decision) => words(&decision),
                    Err(error) => why(&error),
                }
            }
        }
    }

    pub(super) fn join(self, app: &mut TestApp, user: Option<&str>) -> Result<Ticket, String> {
        match self {
            Self::Http => {
                let reply = app.send(service("main", "tokens").json(&json!({"userId": user})));
                if !matches!(reply.status, 200 | 201) {
                    return Err(refused(&reply));
                }
                let cookie = reply.header("set-cookie").map(|text| text.parse().unwrap());
                let view = reply.json();
                let inside = view["status"] == "ACTIVE";
                Ok(Ticket {
                    view,
                    cookie,
                    inside,
                })
            }
            Self::InProcess => {
                let user = user.map(|user| UserId::parse(user).unwrap());
                let keeper = app.gatekeeper();
                let joined = app.run(keeper.join(&RoomId::main(), user.as_ref()));
                joined.map_err(|error| why(&error))
            }
        }
    }

    pub(super) fn keep(self, app: &mut TestApp, who: &Holder, seconds: u64) -> String {
        match self {
            Self::Http => {
                let body = json!({
                    "visitor": who.visitor, "ordinal": who.ordinal, "milliseconds": seconds * 1_000,
                });
                done(&app.send(service("main", "keep").json(&body)))
            }
            Self::InProcess => {
                let keeper = app.gatekeeper();
                let business = Duration::from_secs(seconds);
                let kept = app.run(keeper.keep(&RoomId::main(), who, business));
                kept.map_or_else(|error| why(&error), |()| String::new())
            }
        }
    }

    pub(super) fn finish(self, app: &mut TestApp, who: &Holder) -> String {
        match self {
            Self::Http => {
                let body = json!({"visitor": who.visitor, "ordinal": who.ordinal});
                done(&app.send(service("main", "finish").json(&body)))
            }
            Self::InProcess => {
                let keeper = app.gatekeeper();
                let finished = app.run(keeper.finish(&RoomId::main(), who));
                finished.map_or_else(|error| why(&error), |()| String::new())
            }
        }
    }

    pub(super) fn ready(self, app: &mut TestApp) -> String {
        match self {
            Self::Http => done(&app.send(service("main", "ready"))),
            Self::InProcess => {
                let keeper = app.gatekeeper();
                let ready = app.run(keeper.ready(&RoomId::main()));
                ready.map_or_else(|error| why(&error), |()| String::new())
            }
        }
    }

    pub(super) fn stock(self, app: &mut TestApp, left: Option<u64>) -> String {
        match self {
            Self::Http => done(&app.send(service("main", "stock").json(&json!({"left": left})))),
            Self::InProcess => {
                let keeper = app.gatekeeper();
                let told = app.run(keeper.stock(&RoomId::main(), left));
                told.map_or_else(|error| why(&error), |()| String::new())
            }
        }
    }
}

/// A request with the service key.
pub(super) fn service(room: &str, call: &str) -> Ask {
    let method = match call {
        "stock" => "PUT",
        "ready" => "GET",
        _ => "POST",
    };
    keyed(method, room, call, SERVICE_KEY)
}

pub(super) fn keyed(method: &'static str, room: &str, call: &str, key: &str) -> Ask {
    Ask::with(method, &format!("/api/v1/service/rooms/{room}/{call}"))
        .header("Authorization", &format!("Bearer {key}"))
}

pub(super) fn id(room: &str) -> RoomId {
    RoomId::parse(room).unwrap()
}

pub(super) fn holder(user: &str, ordinal: u64) -> Holder {
    Holder {
        visitor: Visitor::stated(&UserId::parse(user).unwrap()),
        ordinal: Ordinal(ordinal),
    }
}

fn done(reply: &Reply) -> String {
    match reply.status {
        204 => String::new(),
        _ => refused(reply),
    }
}

fn refused(reply: &Reply) -> String {
    let problem = reply.json();
    match reply.code().as_str() {
        "NOT_ADMITTED" => format!("wait {} {}", problem["position"], problem["pollAfterMs"]),
        code => code.to_owned(),
    }
}

/// A decision, as the service API says the same.
fn words(decision: &Decision) -> String {
    match decision {
        Decision::Enter(admitted) => json!({
            "checked": true, "visitor": admitted.holder.visitor, "userId": admitted.user_id(),
            "ordinal": admitted.holder.ordinal, "verified": admitted.verified,
            "remainingMs": admitted.left.map(|left| u64::try_from(left.as_millis()).unwrap()),
        })
        .to_string(),
        Decision::Unchecked(_) => "unchecked".to_owned(),
        Decision::Wait(waiting) => format!(
            "wait {} {}",
            waiting.position,
            waiting.poll_after.as_millis()
        ),
        Decision::Refuse(Refusal::Invalid) => "TOKEN_INVALID".to_owned(),
        Decision::Refuse(Refusal::Expired) => "TOKEN_EXPIRED".to_owned(),
        Decision::Refuse(Refusal::Gone) => "TOKEN_NOT_FOUND".to_owned(),
    }
}

fn why(error: &GateError) -> String {
    let code = match error {
        GateError::RoomClosed => "ROOM_CLOSED",
        GateError::RoomFull => "ROOM_FULL",
        GateError::NoSuchRoom => "ROOM_NOT_FOUND",
        GateError::Away(_) => "STORE_UNAVAILABLE",
        GateError::Misconfigured(_) => "INVALID_REQUEST",
    };
    code.to_owned()
}

/// Each call with a body that is right.
pub(super) fn calls() -> [(&'static str, &'static str, Value); 6] {
    let who = json!({"visitor": "u:ann", "ordinal": 1});
    let keep = json!({"visitor": "u:ann", "ordinal": 1, "milliseconds": 0});
    [
        ("POST", "verify", json!({})),
        ("POST", "tokens", json!({"userId": "ann"})),
        ("POST", "keep", keep),
        ("POST", "finish", who),
        ("GET", "ready", json!({})),
        ("PUT", "stock", json!({"left": 0})),
    ]
}
