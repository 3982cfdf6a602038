//! A gatekeeper with rules of its own, small enough to see through.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use http::HeaderValue;
use ropeline_core::{Holder, Ordinal, RoomId, UserId, Visitor};
use ropeline_gate::{Admitted, Decision, GateError, Gatekeeper, Refusal, Ticket, Waiting};
use serde_json::json;

/// Reads who somebody is from the token: `in-42` is user 42 inside, `wait-3` is third in line, `done` and `gone` are over.
#[derive(Debug, Default)]
pub(crate) struct Doorman {
    mood: Mutex<Mood>,
    /// How many more may go inside when they join.
    free: AtomicU64,
    joined: Mutex<Vec<Option<String>>>,
    verified: AtomicU64,
}

#[derive(Debug, Clone, Default)]
pub(crate) enum Mood {
    #[default]
    Well,
    /// Fails every call.
    Failing(GateError),
    /// Takes joins, and fails from then on.
    FailingAtVerify,
    /// Never answers.
    Silent,
    /// Lets everybody through, known or not.
    Open,
}

impl Doorman {
    pub(crate) fn with_free(free: u64) -> Self {
        Self {
            free: free.into(),
            ..Self::default()
        }
    }

    pub(crate) fn in_mood(mood: Mood) -> Self {
        Self {
            mood: mood.into(),
            free: 1.into(),
            ..Self::default()
        }
    }

    /// The users whom places were asked for.
    pub(crate) fn joined(&self) -> Vec<Option<String>> {
        self.joined.lock().unwrap().clone()
    }

    /// How many tokens were judged.
    pub(crate) fn verified(&self) -> u64 {
        self.verified.load(Ordering::Relaxed)
    }

    async fn mood(&self) -> Result<Mood, GateError> {
        let mood = self.mood.lock().unwrap().clone();
        match mood {
            Mood::Failing(error) => Err(error),
            Mood::Silent => std::future::pending().await,
            mood => Ok(mood),
        }
    }
}

fn judge(room: &RoomId, token: &str) -> Decision {
    if let Some(user) = token.strip_prefix("in-") {
        return Decision::Enter(inside(room, user));
    }
    if let Some(position) = token.strip_prefix("wait-") {
        return Decision::Wait(Waiting {
            position: position.parse().unwrap(),
            poll_after: Duration::from_millis(1_500),
        });
    }
    Decision::Refuse(match token {
        "done" => Refusal::Expired,
        "gone" => Refusal::Gone,
        _ => Refusal::Invalid,
    })
}

fn inside(room: &RoomId, user: &str) -> Admitted {
    let visitor = match UserId::parse(user) {
        Ok(user) => Visitor::verified(&user),
        Err(_) => Visitor::anonymous(7),
    };
    Admitted {
        room: room.clone(),
        holder: Holder {
            visitor,
            ordinal: Ordinal(7),
        },
        verified: true,
        left: Some(Duration::from_secs(300)),
    }
}

#[async_trait]
impl Gatekeeper for Doorman {
    async fn verify(&self, room: &RoomId, token: &str) -> Result<Decision, GateError> {
        self.verified.fetch_add(1, Ordering::Relaxed);
        match (self.mood().await?, judge(room, token)) {
            (Mood::FailingAtVerify, _) => Err(GateError::Away(Duration::from_secs(4))),
            (Mood::Open, Decision::Enter(known)) => Ok(Decision::Unchecked(Some(known))),
            (Mood::Open, _) => Ok(Decision::Unchecked(None)),
            (_, decision) => Ok(decision),
        }
    }

    async fn join(&self, _: &RoomId, user: Option<&UserId>) -> Result<Ticket, GateError> {
        self.mood().await?;
        let user = user.map(UserId::as_str);
        self.joined.lock().unwrap().push(user.map(str::to_owned));
        let free = self.free.load(Ordering::Relaxed);
        self.free.store(free.saturating_sub(1), Ordering::Relaxed);
        let token = match free {
            0 => "wait-12".to_owned(),
            _ => format!("in-{}", user.unwrap_or_default()),
        };
        let cookie = format!("rl_main={token}; Path=/; HttpOnly");
        Ok(Ticket {
            view: json!({"token": token, "userId": user, "position": 12, "pollAfterMs": 900}),
            cookie: HeaderValue::try_from(cookie).ok(),
            inside: free > 0,
        })
    }

    async fn keep(&self, _: &RoomId, _: &Holder, _: Duration) -> Result<(), GateError> {
        self.mood().await.map(|_| ())
    }

    async fn finish(&self, _: &RoomId, _: &Holder) -> Result<(), GateError> {
        self.mood().await.map(|_| ())
    }

    async fn ready(&self, _: &RoomId) -> Result<(), GateError> {
        self.mood().await.map(|_| ())
    }

    async fn stock(&self, _: &RoomId, _: Option<u64>) -> Result<(), GateError> {
        self.mood().await.map(|_| ())
    }
}
