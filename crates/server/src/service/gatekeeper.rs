//! A room asked by a service of the same process.

use std::time::Duration;

use async_trait::async_trait;
use ropeline_core::{Claims, Ending, Holder, RoomId, UserId};
use ropeline_gate::{Admitted, Decision, GateError, Gatekeeper, Refusal, Ticket, Waiting};
use ropeline_web::retry_soon;

use super::rules;
use crate::{
    app::App,
    error::ApiError,
    queue::{Entry, Holding},
};

/// The rooms of this process.
#[derive(Debug)]
pub(crate) struct InProcess(pub(crate) App);

#[async_trait]
impl Gatekeeper for InProcess {
    async fn verify(&self, room: &RoomId, token: &str) -> Result<Decision, GateError> {
        let Self(app) = self;
        match rules::verify(app, room, Some(token)).await {
            Ok(Entry::Inside(claims, until)) => {
                let left = app.now().until(until);
                Ok(Decision::Enter(admitted(claims, Some(left))))
            }
            Ok(Entry::Unchecked(claims)) => Ok(Decision::Unchecked(
                claims.map(|claims| admitted(claims, None)),
            )),
            Err(error) => turned_away(error),
        }
    }

    async fn join(&self, room: &RoomId, user: Option<&UserId>) -> Result<Ticket, GateError> {
        let holding = rules::join(&self.0, room, user.cloned()).await?;
        Ok(ticket(&self.0, &holding))
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: &Holder,
        business: Duration,
    ) -> Result<(), GateError> {
        Ok(rules::keep(&self.0, room, holder.clone(), business).await?)
    }

    async fn finish(&self, room: &RoomId, holder: &Holder) -> Result<(), GateError> {
        Ok(rules::finish(&self.0, room, holder.clone()).await?)
    }

    async fn ready(&self, room: &RoomId) -> Result<(), GateError> {
        Ok(rules::ready(&self.0, room)?)
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), GateError> {
        Ok(rules::stock(&self.0, room, left).await?)
    }
}

fn admitted(claims: Claims, left: Option<Duration>) -> Admitted {
    Admitted {
        holder: claims.holder(),
        room: claims.aud,
        verified: claims.vfd,
        left,
    }
}

/// What the gate decides about somebody who may not go on, or why it cannot say.
fn turned_away(error: ApiError) -> Result<Decision, GateError> {
    match error {
        ApiError::NotAdmitted {
            position,
            poll_after_ms,
        } => Ok(Decision::Wait(Waiting {
            position,
            poll_after: Duration::from_millis(poll_after_ms),
        })),
        ApiError::TokenInvalid => Ok(Decision::Refuse(Refusal::Invalid)),
        ApiError::TokenEnded(Ending::Done, _) => Ok(Decision::Refuse(Refusal::Expired)),
        ApiError::TokenEnded(Ending::Gone, _) => Ok(Decision::Refuse(Refusal::Gone)),
        error => Err(error.into()),
    }
}

fn ticket(app: &App, holding: &Holding) -> Ticket {
    let view = holding.view();
    Ticket {
        view: view.value(),
        cookie: Some(holding.cookie(app)),
        inside: view.is_active(),
    }
}

impl From<ApiError> for GateError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::RoomClosed => Self::RoomClosed,
            ApiError::RoomFull => Self::RoomFull,
            ApiError::NoSuchRoom(_) => Self::NoSuchRoom,
            ApiError::Store(_) => Self::Away(retry_soon()),
            error => Self::Misconfigured(error.detail().into()),
        }
    }
}
