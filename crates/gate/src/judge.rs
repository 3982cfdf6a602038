//! What comes of a request at the gate.

use std::time::Duration;

use http::{HeaderMap, header::COOKIE, request::Parts};
use ropeline_web::{Problem, is_from_another_site, retry_soon};
use tokio::time::{Instant, timeout_at};

use crate::{
    Admitted, Decision, Failure, Gate, GateError, Refusal, Ticket, Waiting,
    credentials::{cookie_token, header_token},
    error,
    layer::Missing,
};

/// What comes of a request, and the place that was issued on the way.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) issued: Option<Issued>,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    /// Goes on, known or not.
    Through(Option<Admitted>),
    /// Is answered here.
    Stop(Problem),
}

/// A place for somebody who came without a token.
#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) token: String,
    pub(crate) ticket: Ticket,
}

impl Gate {
    /// Asks the gatekeeper about a request, for no longer than the gate's patience.
    pub(crate) async fn judge(&self, head: &Parts) -> Judged {
        let deadline = Instant::now() + self.patience;
        match (self.token(&head.headers), self.missing) {
            (Some(token), _) => self.verify(token, deadline).await.into(),
            (None, Missing::Issue) if !is_forced(head) => self.issue(head, deadline).await,
            (None, _) => self.refuse(Refusal::Invalid).into(),
        }
    }

    /// The queue token of a request where this gate looks for it: in a header, else in the room's cookie.
    pub fn token<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        header_token(headers).or_else(|| match self.cookies {
            Some(kind) => kind.find(headers.get_all(COOKIE), self.room.as_str()),
            None => cookie_token(headers, &self.room),
        })
    }

    async fn verify(&self, token: &str, deadline: Instant) -> Verdict {
        let decision = self.keeper.verify(&self.room, token);
        match before(deadline, decision).await {
            Ok(Decision::Enter(admitted)) => Verdict::Through(Some(admitted)),
            Ok(Decision::Unchecked(known)) => Verdict::Through(known),
            Ok(Decision::Wait(waiting)) => Verdict::Stop(error::waiting(waiting)),
            Ok(Decision::Refuse(refusal)) => self.refuse(refusal),
            Err(error) => self.failed(&error),
        }
    }

    /// Joins for who came without a token. One who is inside at once is judged like everybody else, by the new token.
    async fn issue(&self, head: &Parts, deadline: Instant) -> Judged {
        let user = self.users.as_ref().and_then(|user_of| user_of(head));
        let joined = self.keeper.join(&self.room, user.as_ref());
        let issued = match before(deadline, joined).await.and_then(Issued::of) {
            Ok(issued) => issued,
            Err(error) => return self.failed(&error).into(),
        };
        let verdict = if issued.ticket.inside {
            self.verify(&issued.token, deadline).await
        } else {
            Verdict::Stop(error::waiting(issued.waiting()))
        };
        Judged::issued(verdict, issued)
    }

    fn refuse(&self, refusal: Refusal) -> Verdict {
        Verdict::Stop(error::refused(refusal, &self.join_at))
    }

    /// A room that says no is believed; one that cannot be asked is dealt with as the service wishes.
    fn failed(&self, error: &GateError) -> Verdict {
        let cannot_ask = matches!(error, GateError::Away(_) | GateError::Misconfigured(_));
        if cannot_ask && let Some(times) = self.trouble.met() {
            let (room, failure) = (&self.room, self.failure);
            tracing::warn!(room.id = %room, %error, times, ?failure, "the gate could not ask the waiting room");
        }
        match self.failure {
            Failure::Open if cannot_ask => Verdict::Through(None),
            _ => Verdict::Stop(error::failed(error, &self.room)),
        }
    }
}

/// Whether a page of another site made the browser send this, which would keep the new cookie in place of one that it was
/// not allowed to send along.
fn is_forced(head: &Parts) -> bool {
    is_from_another_site(&head.method, &head.headers, &[])
}

async fn before<T>(
    deadline: Instant,
    answer: impl Future<Output = Result<T, GateError>>,
) -> Result<T, GateError> {
    let answered = timeout_at(deadline, answer).await;
    answered.unwrap_or_else(|_| Err(GateError::Away(retry_soon())))
}

impl Issued {
    fn of(ticket: Ticket) -> Result<Self, GateError> {
        let token = ticket.view["token"].as_str().map(str::to_owned);
        let missing = || GateError::Misconfigured("a place came without its token".into());
        Ok(Self {
            token: token.ok_or_else(missing)?,
            ticket,
        })
    }

    fn waiting(&self) -> Waiting {
        let figure = |name: &str| self.ticket.view[name].as_u64();
        Waiting {
            position: figure("position").unwrap_or(1),
            poll_after: figure("pollAfterMs").map_or_else(retry_soon, Duration::from_millis),
        }
    }
}

impl Judged {
    /// Who is stopped learns of the new place in the problem too.
    fn issued(verdict: Verdict, issued: Issued) -> Self {
        let verdict = match verdict {
            Verdict::Stop(problem) => Verdict::Stop(
                problem
                    .with("place", issued.ticket.view.clone())
                    .with("token", issued.token.as_str()),
            ),
            through @ Verdict::Through(_) => through,
        };
        Self {
            verdict,
            issued: Some(issued),
        }
    }
}

impl From<Verdict> for Judged {
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            issued: None,
        }
    }
}
