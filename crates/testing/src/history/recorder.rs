//! Takes down what clients ask and are answered.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ropeline_core::Policy;
use serde_json::Value;

use super::{
    History, Moments,
    fault::{Fault, Kind, Target, Turn},
    record::{At, Counts, Op, Outcome, Record, State, Told},
};
use crate::http::Reply;

/// Where everybody who takes part in a run writes.
#[derive(Debug)]
pub struct Recorder {
    policy: Policy,
    moments: Moments,
    start: Instant,
    /// The time of day at the start: servers name moments by it.
    day: jiff::Timestamp,
    records: Mutex<Vec<Record>>,
    faults: Mutex<Vec<Fault>>,
}

/// What is about to be asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who asks.
    pub client: usize,
    /// Who is asked.
    pub node: usize,
    /// What.
    pub op: Op,
    /// On whose behalf.
    pub user: String,
    /// The ordinal of the token that is shown.
    pub holds: Option<u64>,
    /// The version that is returned.
    pub returned: Option<u64>,
}

/// What has been asked and not been answered yet.
#[derive(Debug)]
pub struct Asked {
    question: Question,
    t0: At,
}

impl Recorder {
    /// Starts a run in a room of this policy, kept in the files of the only server.
    #[expect(
        clippy::disallowed_methods,
        reason = "servers under test live in real time"
    )]
    pub fn start(policy: Policy) -> Self {
        Self {
            policy,
            moments: Moments::Exact,
            start: Instant::now(),
            day: jiff::Timestamp::now(),
            records: Mutex::default(),
            faults: Mutex::default(),
        }
    }

    /// The room is kept in a store of its own.
    #[must_use]
    pub fn with_shared_store(self) -> Self {
        Self {
            moments: Moments::Rough,
            ..self
        }
    }

    /// The moment.
    pub fn now(&self) -> At {
        self.start.elapsed()
    }

    /// Notes the moment before a question is sent.
    pub fn asks(&self, question: Question) -> Asked {
        Asked {
            question,
            t0: self.now(),
        }
    }

    /// Nobody waits for the answer any longer.
    pub fn unanswered(&self, asked: Asked) {
        let t1 = self.now();
        self.add(asked.record(t1, Outcome::Unknown));
    }

    /// Takes down the answer, and says how it is understood.
    pub fn answered(&self, asked: Asked, reply: &Reply) -> Record {
        let t1 = self.now();
        let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let code = body["code"].as_str().map(str::to_owned);
        let told = self.told(asked.question.op, reply, &body, code.as_deref());
        let counts = counts(&body).filter(|_| asked.question.op == Op::Audit);
        let outcome = match (reply.status, told.is_some() || counts.is_some()) {
            (_, true) => Outcome::Ok,
            // Not accepted, or not known.
            (500.., _) if code.as_deref() != Some("ROOM_FULL") => Outcome::Unknown,
            (_, false) => Outcome::Fail,
        };
        let record = Record {
            status: Some(reply.status),
            code,
            told,
            counts,
            ..asked.record(t1, outcome)
        };
        self.add(record.clone());
        record
    }

    /// Something begins to go wrong, or stops.
    pub fn fault(&self, fault: Kind, target: Target, turn: Turn) {
        let at = self.now();
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(Fault {
            at,
            fault,
            target,
            turn,
        });
    }

    /// Something went wrong, as is seen only now: it began so long ago, and is over.
    pub fn fault_since(&self, fault: Kind, target: Target, ago: Duration) {
        let now = self.now();
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, turn) in [(now.saturating_sub(ago), Turn::On), (now, Turn::Off)] {
            faults.push(Fault {
                at,
                fault,
                target,
                turn,
            });
        }
    }

    /// All that was written, when everybody has been asked once more since `drained_at`.
    pub fn finish(self, drained_at: Option<At>) -> History {
        let mut records = self.records.into_inner().unwrap_or_default();
        records.sort_by_key(|record| record.t0);
        for (id, record) in records.iter_mut().enumerate() {
            record.id = id;
        }
        let mut faults = self.faults.into_inner().unwrap_or_default();
        faults.sort_by_key(|fault| fault.at);
        History {
            policy: self.policy,
            moments: self.moments,
            records,
            faults,
            drained_at,
        }
    }

    fn add(&self, record: Record) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.push(record);
    }

    fn told(&self, op: Op, reply: &Reply, body: &Value, code: Option<&str>) -> Option<Told> {
        match (op, reply.status, code) {
            (Op::Join, 200 | 201, _) | (Op::Poll, 200, _) => self.place(body),
            (Op::Find, 200, _) => Some(Told {
                ordinal: body["ordinal"].as_u64(),
                ..Told::only(state(body)?)
            }),
            (Op::Find, _, Some("VISITOR_NOT_FOUND")) => Some(Told::only(State::Gone)),
            (Op::Gate, 204, _) => Some(Told {
                expires_at: self.moment(reply.header("x-queue-expires-at")),
                ..Told::only(State::Inside)
            }),
            (Op::Gate, 403, Some("NOT_ADMITTED")) => Some(Told {
                position: body["position"].as_u64(),
                ..Told::only(State::Waiting)
            }),
            (Op::Poll | Op::Gate, _, Some("TOKEN_EXPIRED")) => Some(Told::only(State::Done)),
            // Whether there was a pass to finish with is not said.
            (Op::Leave, 204, _) | (Op::Poll | Op::Gate, _, Some("TOKEN_NOT_FOUND")) => {
                Some(Told::only(State::Gone))
            }
            _ => None,
        }
    }

    fn place(&self, view: &Value) -> Option<Told> {
        let state = state(view)?;
        let admitted_at = self.moment(view["admitAt"].as_str());
        Some(Told {
            state,
            ordinal: view["ordinal"].as_u64(),
            epoch: epoch(view["token"].as_str()?),
            position: view["position"].as_u64(),
            before_line: view["beforeLine"].as_bool(),
            version: view["version"].as_u64(),
            as_of: self.moment(view["asOf"].as_str()),
            // Of who waits it is a guess.
            admitted_at: admitted_at.filter(|_| state == State::Inside),
            expires_at: self.moment(view["expiresAt"].as_str()),
        })
    }

    /// A time of day as a moment of the run; what was before it counts as its start.
    fn moment(&self, text: Option<&str>) -> Option<At> {
        let time: jiff::Timestamp = text?.parse().ok()?;
        let since = time.duration_since(self.day);
        Some(At::try_from(since).unwrap_or_default())
    }
}

impl Asked {
    fn record(self, t1: At, outcome: Outcome) -> Record {
        let Question {
            client,
            node,
            op,
            user,
            holds,
            returned,
        } = self.question;
        Record {
            id: 0,
            client,
            node,
            op,
            user,
            holds,
            returned,
            t0: self.t0,
            t1,
            outcome,
            status: None,
            code: None,
            told: None,
            counts: None,
        }
    }
}

fn state(view: &Value) -> Option<State> {
    match view["status"].as_str()? {
        "WAITING" => Some(State::Waiting),
        "ACTIVE" => Some(State::Inside),
        _ => None,
    }
}

/// The figures of `/api/v1/admin/rooms/{room}/stats`.
fn counts(stats: &Value) -> Option<Counts> {
    let totals = &stats["totals"];
    let ways = ["left", "finished", "expired", "missed", "revoked"];
    let ended: Option<Vec<u64>> = ways.iter().map(|way| totals[way].as_u64()).collect();
    Some(Counts {
        issued: totals["joined"].as_u64()?,
        waiting: stats["waiting"].as_u64()?,
        door: stats["door"].as_u64()?,
        aside: stats["aside"].as_u64()?,
        active: stats["active"].as_u64()?,
        ended: ended?.iter().sum(),
        admitted: totals["admitted"].as_u64()?,
        departed: totals["departed"].as_u64()?,
    })
}

/// The room's epoch, which only the token tells.
fn epoch(token: &str) -> Option<u64> {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?);
    let claims: Value = serde_json::from_slice(&payload.ok()?).ok()?;
    claims["epoch"].as_u64()
}
