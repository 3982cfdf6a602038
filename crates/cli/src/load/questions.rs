//! What a visitor asks, and what they make of the answers.

use std::{sync::Arc, time::Duration};

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use super::{
    crowd::{Crowd, Stop},
    judge::{Gate, Rule, Span},
    place::{Place, Standing},
    tally::{Question, Stage},
};
use crate::http::Answer;

const TOKENS: &str = "/api/v1/queue/tokens";
/// Whoever gets no answer at all for so long gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Before a question without an answer is repeated.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// One visitor's side of the conversation.
pub(crate) struct Desk {
    crowd: Arc<Crowd>,
    who: usize,
    token: Option<String>,
    /// The highest that was seen.
    version: u64,
    pass_life: Duration,
}

/// What a status answer comes to.
pub(crate) enum Heard {
    Place(Place),
    /// There is no such place any more.
    Ended,
}

impl Desk {
    pub(crate) fn new(crowd: Arc<Crowd>, who: usize) -> Self {
        Self {
            crowd,
            who,
            token: None,
            version: 0,
            pass_life: Duration::ZERO,
        }
    }

    pub(crate) fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    pub(crate) fn who(&self) -> usize {
        self.who
    }

    pub(crate) fn enter(&self, stage: Stage) {
        self.crowd.tally().enter(self.who, stage);
    }

    /// What the pass had left when it was last seen.
    pub(crate) fn pass_life(&self) -> Duration {
        self.pass_life
    }

    /// Joins; a lost answer is asked for again with the same key.
    pub(crate) async fn join(&mut self) -> Option<Place> {
        let key = format!("crowd-{:016x}-{}", self.crowd.run, self.who);
        let ask = || {
            let request = self.crowd.http.request(Method::POST, TOKENS);
            request
                .header("Idempotency-Key", &key)
                .json(&json!({"room": self.crowd.room}))
        };
        let (answer, first_asked) = self.insist(Question::Join, ask).await?;
        if !answer.status.is_success() {
            self.refused(&answer);
            return None;
        }
        let place = self.read(&answer)?;
        let span = Span {
            asked: first_asked,
            ..self.crowd.span(&answer)
        };
        self.token = Some(place.token.clone());
        self.crowd.judge().joined(self.who, span, &place);
        self.take_in(&place);
        Some(place)
    }

    /// Nobody can join a room that is not there or closed: the run is over, and the answer not wrong.
    fn refused(&self, answer: &Answer) {
        match answer.problem() {
            Some(problem) if answer.status.is_client_error() => {
                self.crowd.stop(Stop::Refused(problem.to_string()));
            }
            _ => self.wrong(Rule::AnswerKnown, &format!("join: {}", answer.summary())),
        }
    }

    pub(crate) async fn status(&mut self) -> Option<Heard> {
        let ask = || self.with_token(Method::GET, "/api/v1/queue/status");
        let (answer, _) = self.insist(Question::Status, ask).await?;
        let span = self.crowd.span(&answer);
        match answer.status.as_u16() {
            200 => {
                let place = self.read(&answer)?;
                self.crowd.judge().polled(self.who, span, &place);
                self.take_in(&place);
                Some(Heard::Place(place))
            }
            401 | 404 => {
                let summary = answer.summary();
                self.crowd.judge().lost(self.who, span, &summary);
                Some(Heard::Ended)
            }
            _ => {
                self.wrong(Rule::AnswerKnown, &format!("status: {}", answer.summary()));
                None
            }
        }
    }

    /// Asks the gate, as a protected service would for each page.
    pub(crate) async fn try_gate(&mut self) -> Option<()> {
        let path = format!("/api/v1/queue/verify?room={}", self.crowd.room);
        let ask = || self.with_token(Method::GET, &path);
        let (answer, _) = self.insist(Question::Gate, ask).await?;
        let code = answer.problem().map(|problem| problem.code);
        let gate = match (answer.status.as_u16(), code.as_deref()) {
            (204, None) => Gate::Open,
            (403, Some("NOT_ADMITTED")) => Gate::Wait,
            (401, Some("TOKEN_EXPIRED" | "TOKEN_NOT_FOUND")) => Gate::Refused,
            _ => {
                self.wrong(Rule::AnswerKnown, &format!("gate: {}", answer.summary()));
                return None;
            }
        };
        let span = self.crowd.span(&answer);
        self.crowd.judge().at_gate(self.who, span, gate);
        Some(())
    }

    /// After the end, the gate must be shut.
    pub(crate) async fn expect_refusal(&mut self) -> Option<()> {
        self.try_gate().await?;
        self.token = None;
        Some(())
    }

    /// Gives up the place, or finishes with the pass.
    pub(crate) async fn leave(&mut self) -> Option<()> {
        let ask = || self.with_token(Method::DELETE, TOKENS);
        let (answer, _) = self.insist(Question::Leave, ask).await?;
        if answer.status.as_u16() != 204 {
            self.wrong(Rule::AnswerKnown, &format!("leave: {}", answer.summary()));
            return None;
        }
        self.crowd.judge().ended(self.who);
        Some(())
    }

    /// Leaves as the run ends, without insisting.
    pub(crate) async fn hand_back(&mut self) {
        if self.token.is_some() {
            let request = self.with_token(Method::DELETE, TOKENS);
            self.crowd.http.send(request).await.ok();
        }
    }

    fn with_token(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.crowd.http.request(method, path);
        request
            .header("X-Queue-Token", self.token.as_deref().unwrap_or_default())
            .header("X-Queue-Version", self.version)
    }

    /// Asks until there is an answer that is not "later"; also says when it was first asked.
    async fn insist(
        &self,
        question: Question,
        ask: impl Fn() -> RequestBuilder,
    ) -> Option<(Answer, Duration)> {
        let (mut first_asked, mut silent_since) = (None, self.crowd.now());
        loop {
            let begun = self.crowd.now();
            let answer = self.crowd.http.send(ask()).await;
            let pause = match answer {
                Ok(answer) => {
                    let span = self.crowd.span(&answer);
                    let first_asked = *first_asked.get_or_insert(span.asked);
                    let took = span.answered.saturating_sub(span.asked);
                    let mut tally = self.crowd.tally();
                    tally.answered(question, took);
                    if !says_later(&answer) {
                        return Some((answer, first_asked));
                    }
                    tally.put_off += 1;
                    silent_since = span.answered;
                    answer.retry_after.unwrap_or(REPEAT_AFTER)
                }
                Err(error) => {
                    first_asked.get_or_insert(begun);
                    self.crowd.tally().unanswered += 1;
                    if self.crowd.now().saturating_sub(silent_since) > PATIENCE {
                        self.wrong(Rule::Answered, &format!("{question:?}: {error}"));
                        return None;
                    }
                    REPEAT_AFTER
                }
            };
            if !self.crowd.rest(pause).await {
                return None;
            }
        }
    }

    /// Reads a place view; one that does not fit is wrong.
    fn read(&self, answer: &Answer) -> Option<Place> {
        let view = answer.json().unwrap_or_default();
        Place::read(&view)
            .inspect_err(|what| self.wrong(Rule::ViewFits, what))
            .ok()
    }

    fn take_in(&mut self, place: &Place) {
        self.version = self.version.max(place.version);
        let mut tally = self.crowd.tally();
        tally.told(self.who, place);
        if let Standing::Inside { since } = place.standing {
            self.pass_life = Duration::from_secs(place.remaining_s.unwrap_or_default());
            tally.admissions.push(since);
        }
    }

    fn wrong(&self, rule: Rule, what: &str) {
        self.crowd.judge().wrong(rule, self.who, what);
    }
}

/// The server is busy or full, and says when to come back.
fn says_later(answer: &Answer) -> bool {
    let code = answer.problem().map(|problem| problem.code);
    match (answer.status.as_u16(), code.as_deref()) {
        (429, _) => true,
        (503, Some(code)) => matches!(code, "STORE_UNAVAILABLE" | "ROOM_FULL"),
        _ => false,
    }
}
