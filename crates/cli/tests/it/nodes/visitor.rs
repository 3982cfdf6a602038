//! One visitor, who asks whichever node answers and returns what they were told.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, RequestBuilder};
use ropeline_testing::{
    history::{At, Op, Outcome, Question, Record, State},
    http::Reply,
};
use serde_json::json;

use super::{
    crowd::Crowd,
    plan::{Inside, Patience, Plan},
};
use crate::wait::any_of;

pub(crate) const TOKENS: &str = "/api/v1/queue/tokens";
/// Before a question is repeated.
const REPEAT_AFTER: Duration = Duration::from_millis(150);
/// Whoever asks once more at the end is answered within this.
const SHOW_UP_MAX: Duration = Duration::from_secs(20);
/// Of a hundred questions, so many go to another node though the last one answered.
const MOVES: u64 = 15;
/// Of a hundred polls in line, so many are followed by a try at the gate.
const TRIES_GATE: u64 = 3;

pub(crate) struct Visitor {
    crowd: Arc<Crowd>,
    number: usize,
    user: String,
    plan: Plan,
    /// How many times as often as told this one asks.
    haste: u32,
    node: usize,
    token: Option<String>,
    ordinal: Option<u64>,
    version: Option<u64>,
    /// How many were ahead by the last answer that said so.
    ahead: Option<u64>,
    pub(crate) fate: Fate,
}

/// How a visit went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// Not over yet.
    Here,
    /// Was inside and is done.
    Through,
    /// Gave up the place.
    Left,
    /// Does not ask any more.
    Vanished,
    /// Was told that the place is over.
    PutOut,
    /// Could not join.
    Refused,
}

impl Visitor {
    pub(crate) fn new(crowd: Arc<Crowd>, number: usize, plan: Plan, haste: u32) -> Self {
        Self {
            node: crowd.pick(),
            crowd,
            number,
            user: format!("visitor-{number}"),
            plan,
            haste,
            token: None,
            ordinal: None,
            version: None,
            ahead: None,
            fate: Fate::Here,
        }
    }

    /// The whole visit, or as much of it as there is time for.
    pub(crate) async fn visit(mut self) -> Self {
        tokio::time::sleep(self.plan.arrives).await;
        if let Some(fate) = self.story().await {
            self.fate = fate;
        }
        self
    }

    /// Asks once more, if there is still something to ask for.
    pub(crate) async fn show_up(mut self) -> Self {
        if self.token.is_some() && !matches!(self.fate, Fate::Through | Fate::Left | Fate::PutOut) {
            let until = self.crowd.recorder.now() + SHOW_UP_MAX;
            self.insist_until(Op::Poll, until).await;
        }
        self
    }

    async fn story(&mut self) -> Option<Fate> {
        let (joined, reply) = self.insist(Op::Join).await?;
        if joined.outcome != Outcome::Ok {
            return Some(Fate::Refused);
        }
        self.token = reply.json()["token"].as_str().map(str::to_owned);
        if joined.state() != Some(State::Inside)
            && let Some(fate) = self.wait(pause(&reply)).await?
        {
            return Some(fate);
        }
        self.be_inside().await
    }

    /// Waits for the turn; `Some(None)` if it came, else how the visit ended.
    async fn wait(&mut self, first: Duration) -> Option<Option<Fate>> {
        let joined_at = self.crowd.recorder.now();
        let mut pause_for = first;
        let mut patience = self.plan.patience;
        loop {
            tokio::time::sleep(pause_for / self.haste).await;
            let waited = self.crowd.recorder.now().saturating_sub(joined_at);
            match patience {
                Patience::Leaves { after } if waited >= after => return Some(self.leave().await),
                Patience::Vanishes { after } if waited >= after => {
                    return Some(Some(Fate::Vanished));
                }
                Patience::Wanders { after, away } if waited >= after => {
                    patience = Patience::Waits;
                    tokio::time::sleep(away).await;
                }
                _ => {}
            }
            if any_of(0..=99) < TRIES_GATE {
                self.ask(Op::Gate).await;
            }
            let (told, reply) = self.insist(Op::Poll).await?;
            match told.state() {
                Some(State::Waiting) => pause_for = pause(&reply),
                Some(State::Inside) => return Some(None),
                Some(State::Gone | State::Done) | None => return Some(Some(Fate::PutOut)),
            }
        }
    }

    /// Passes the gate now and then, and finishes.
    async fn be_inside(&mut self) -> Option<Fate> {
        let Inside::Finishes { stay } = self.plan.inside else {
            return Some(Fate::Vanished);
        };
        for _ in 0..2 {
            let (told, _) = self.insist(Op::Gate).await?;
            match told.state() {
                Some(State::Inside) => {}
                // The store has forgotten the pass: back to the door.
                Some(State::Waiting) => match self.wait(REPEAT_AFTER).await? {
                    None => {}
                    Some(fate) => return Some(fate),
                },
                Some(State::Gone | State::Done) | None => return Some(Fate::PutOut),
            }
            tokio::time::sleep(stay / 2).await;
        }
        self.leave().await.map(|_| Fate::Through)
    }

    /// Gives up the place or the pass, and tries in vain to use it.
    async fn leave(&mut self) -> Option<Fate> {
        self.insist(Op::Leave).await?;
        self.insist(Op::Gate).await?;
        self.insist(Op::Poll).await?;
        Some(Fate::Left)
    }

    /// Asks until somebody answers; `None` if the run is over.
    async fn insist(&mut self, op: Op) -> Option<(Record, Reply)> {
        self.insist_until(op, self.crowd.over_at).await
    }

    async fn insist_until(&mut self, op: Op, until: At) -> Option<(Record, Reply)> {
        while self.crowd.recorder.now() < until {
            match self.ask(op).await {
                Some((record, reply)) if record.outcome == Outcome::Ok || is_final(&reply) => {
                    return Some((record, reply));
                }
                _ => tokio::time::sleep(REPEAT_AFTER).await,
            }
            self.node = self.crowd.pick();
        }
        None
    }

    async fn ask(&mut self, op: Op) -> Option<(Record, Reply)> {
        if any_of(0..=99) < MOVES {
            self.node = self.crowd.pick();
        }
        let question = Question {
            client: self.number,
            node: self.node,
            op,
            user: self.user.clone(),
            holds: self.ordinal.filter(|_| op != Op::Join),
            returned: self.version.filter(|_| op != Op::Join),
        };
        let request = |client: &Client, base: String| self.request(op, client, &base);
        let (record, reply) = self.crowd.ask(question, request).await?;
        if let Some(told) = &record.told {
            self.ordinal = self.ordinal.or(told.ordinal);
            self.version = self.version.max(told.version);
            let ahead = told.position.map(|position| position.saturating_sub(1));
            self.ahead = ahead.or(self.ahead);
        }
        Some((record, reply))
    }

    fn request(&self, op: Op, client: &Client, base: &str) -> RequestBuilder {
        let request = match op {
            Op::Join => {
                let request = client.post(format!("{base}{TOKENS}"));
                return request
                    .header("Idempotency-Key", &self.user)
                    .json(&json!({"userId": self.user}));
            }
            Op::Poll => client.get(format!("{base}/api/v1/queue/status")),
            Op::Gate => client.get(format!("{base}/api/v1/queue/verify")),
            Op::Leave => client.delete(format!("{base}{TOKENS}")),
            Op::Audit | Op::Find => unreachable!("visitors are no operators"),
        };
        let request = request.header("X-Queue-Token", self.token.as_deref().unwrap_or_default());
        let request = match (self.ahead, self.ordinal) {
            (Some(ahead), Some(ordinal)) => {
                request.header("X-Queue-Ahead", format!("{ahead};ordinal={ordinal}"))
            }
            _ => request,
        };
        match self.version {
            Some(version) => request.header("X-Queue-Version", version),
            None => request,
        }
    }
}

/// An answer that no other node would give another one for.
pub(crate) fn is_final(reply: &Reply) -> bool {
    matches!(reply.status, 400..=499) && reply.status != 429
}

/// When to ask again.
fn pause(reply: &Reply) -> Duration {
    Duration::from_millis(reply.json()["pollAfterMs"].as_u64().unwrap_or(1_000))
}
