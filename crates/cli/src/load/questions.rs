//! What a visitor asks, and what they make of the answers.

use std::{sync::Arc, time::Duration};

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use super::{
    crowd::{Crowd, Stop},
    judge::{Gate, Rule, Span},
    place::{Place, Standing},
    tally::{Question, Stage},
    turn::Turn,
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
    /// What `X-Queue-Ahead` says of the last place view.
    ahead: Option<String>,
    pass_life: Duration,
    user: Option<User>,
}

/// Somebody whom the box office knows.
struct User {
    id: u64,
    login: String,
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
            ahead: None,
            pass_life: Duration::ZERO,
            user: None,
        }
    }

    pub(crate) fn crowd(&self) -> &Arc<Crowd> {
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
    pub(crate) async fn join(&mut self, turn: Turn) -> Option<Place> {
        let key = format!("crowd-{:016x}-{}", self.crowd.run, self.who);
        let ask = || {
            self.logged_in(Method::POST, TOKENS)
                .header("Idempotency-Key", &key)
                .json(&json!({"room": self.crowd.room}))
        };
        let (answer, first_asked) = self.insist(Question::Join, &turn, ask).await?;
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
            _ => self.unknown(Question::Join, answer),
        }
    }

    pub(crate) async fn status(&mut self, turn: Turn) -> Option<Heard> {
        let ask = || self.with_token(Method::GET, "/api/v1/queue/status");
        let (answer, _) = self.insist(Question::Poll, &turn, ask).await?;
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
                self.unknown(Question::Poll, &answer);
                None
            }
        }
    }

    /// Asks the gate, as a protected service would for each page.
    pub(crate) async fn try_gate(&mut self) -> Option<()> {
        let (gate, span) = self.ask_gate().await?;
        self.crowd.judge().at_gate(self.who, span, gate);
        Some(())
    }

    pub(crate) async fn ask_gate(&self) -> Option<(Gate, Span)> {
        let path = format!("/api/v1/queue/verify?room={}", self.crowd.room);
        let ask = || self.with_token(Method::GET, &path);
        let turn = Turn::now(&self.crowd);
        let (answer, _) = self.insist(Question::Gate, &turn, ask).await?;
        let code = answer.problem().map(|problem| problem.code);
        let gate = match (answer.status.as_u16(), code.as_deref()) {
            (204, None) => Gate::Open,
            (403, Some("NOT_ADMITTED")) => Gate::Wait,
            (401, Some("TOKEN_EXPIRED" | "TOKEN_NOT_FOUND")) => Gate::Refused,
            _ => {
                self.unknown(Question::Gate, &answer);
                return None;
            }
        };
        Some((gate, self.crowd.span(&answer)))
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
        let turn = Turn::now(&self.crowd);
        let (answer, _) = self.insist(Question::Leave, &turn, ask).await?;
        if answer.status.as_u16() != 204 {
            self.unknown(Question::Leave, &answer);
            return None;
        }
        self.version = self.version.max(answer.version.unwrap_or_default());
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

    pub(crate) fn be_user(&mut self, id: u64, login: String) {
        self.user = Some(User { id, login });
    }

    /// The number by which the box office knows the visitor; 0 is nobody.
    pub(crate) fn user(&self) -> u64 {
        self.user.as_ref().map_or(0, |user| user.id)
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.crowd.http.request(method, path)
    }

    pub(crate) fn with_token(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .request(method, path)
            .header("X-Queue-Token", self.token.as_deref().unwrap_or_default())
            .header("X-Queue-Version", self.version);
        match &self.ahead {
            Some(ahead) => request.header("X-Queue-Ahead", ahead),
            None => request,
        }
    }

    pub(crate) fn logged_in(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.request(method, path);
        match &self.user {
            Some(user) => request.bearer_auth(&user.login),
            None => request,
        }
    }

    /// Asks until there is an answer that is not "later"; also says when it was first asked.
    pub(crate) async fn insist(
        &self,
        question: Question,
        turn: &Turn,
        ask: impl Fn() -> RequestBuilder,
    ) -> Option<(Answer, Duration)> {
        let (mut first_asked, mut silent_since) = (None, turn.begun);
        loop {
            let begun = self.crowd.now();
            let pause = match self.crowd.http.send(ask()).await {
                Ok(answer) => {
                    let span = self.crowd.span(&answer);
                    let first_asked = *first_asked.get_or_insert(span.asked);
                    if let Word::Answer = self.take_down(question, turn, &answer) {
                        return Some((answer, first_asked));
                    }
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

    fn take_down(&self, question: Question, turn: &Turn, answer: &Answer) -> Word {
        let span = self.crowd.span(answer);
        let word = Word::of(answer);
        let mut tally = self.crowd.tally();
        tally.answers += 1;
        match word {
            Word::Answer => tally.answered(question, turn, span),
            Word::Slower => tally.put_off.rate_limited += 1,
            Word::Later => tally.put_off.busy += 1,
        }
        word
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
        self.ahead = Some(format!("{};ordinal={}", place.ahead, place.ordinal));
        let mut tally = self.crowd.tally();
        tally.told(self.who, place);
        if let Standing::Inside { since } = place.standing {
            self.pass_life = Duration::from_secs(place.remaining_s.unwrap_or_default());
            tally.admissions.push(since);
        }
    }

    pub(crate) fn wrong(&self, rule: Rule, what: &str) {
        self.crowd.judge().wrong(rule, self.who, what);
    }

    /// The documents name no such answer.
    pub(crate) fn unknown(&self, question: Question, answer: &Answer) {
        let what = format!("{question:?}: {}", answer.summary());
        self.wrong(Rule::AnswerKnown, &what);
    }
}

/// Whether an answer is one, or says when to ask again.
enum Word {
    Answer,
    /// Too many come from this address.
    Slower,
    /// The server is busy or full.
    Later,
}

impl Word {
    fn of(answer: &Answer) -> Self {
        let code = || answer.problem().map(|problem| problem.code);
        match answer.status.as_u16() {
            429 => Self::Slower,
            503 if matches!(code().as_deref(), Some("STORE_UNAVAILABLE" | "ROOM_FULL")) => {
                Self::Later
            }
            _ => Self::Answer,
        }
    }
}
