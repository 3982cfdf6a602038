//! What a server answered, believed only as far as it can be understood.

use std::time::Duration;

use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{RETRY_AFTER, SET_COOKIE},
};
use reqwest::Response;
use ropeline_core::{Holder, Ordinal, RoomId, Visitor};
use ropeline_web::{Kind, retry_soon};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::deepest;
use crate::{
    Admitted, Cookies, Decision, GateError, Refusal, Ticket, Waiting,
    kinds::{
        NOT_ADMITTED, ROOM_CLOSED, ROOM_FULL, ROOM_NOT_FOUND, STORE_UNAVAILABLE, TOKEN_EXPIRED,
        TOKEN_INVALID, TOKEN_NOT_FOUND,
    },
};

/// A place view has less than a thousand; what is longer is not from a room.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// However long a server would have us wait, it may be back earlier.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// An answer that was read to its end.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Judgement {
    checked: bool,
    visitor: Option<String>,
    ordinal: Option<u64>,
    verified: Option<bool>,
    remaining_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refused {
    code: String,
    position: Option<u64>,
    poll_after_ms: Option<u64>,
}

impl Answer {
    pub(super) async fn read(mut response: Response) -> Result<Self, String> {
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| deepest(&error))? {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(format!("an answer of more than {BODY_BYTES_MAX} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Self {
            status,
            headers,
            body,
        })
    }

    /// What the gate decides by it. Nothing but a whole and known answer opens it.
    pub(super) fn decision(&self, room: &RoomId) -> Result<Decision, GateError> {
        if self.status.is_success() {
            let judged: Judgement = self.json()?;
            return match (judged.checked, judged.admitted(room)) {
                (true, Some(admitted)) => Ok(Decision::Enter(admitted)),
                (true, None) => Err(self.strange()),
                (false, known) => Ok(Decision::Unchecked(known)),
            };
        }
        let Ok(refused) = self.json::<Refused>() else {
            return Err(self.failure());
        };
        let is = |kind: &Kind| refused.code == kind.code;
        if is(&TOKEN_INVALID) {
            Ok(Decision::Refuse(Refusal::Invalid))
        } else if is(&TOKEN_EXPIRED) {
            Ok(Decision::Refuse(Refusal::Expired))
        } else if is(&TOKEN_NOT_FOUND) {
            Ok(Decision::Refuse(Refusal::Gone))
        } else if is(&NOT_ADMITTED) {
            refused.waiting().ok_or_else(|| self.strange())
        } else {
            Err(self.failure())
        }
    }

    /// The place that was given.
    pub(super) fn ticket(&self, room: &RoomId) -> Result<Ticket, GateError> {
        if !self.status.is_success() {
            return Err(self.failure());
        }
        let view: Value = self.json()?;
        if !view["token"].is_string() {
            return Err(self.strange());
        }
        Ok(Ticket {
            inside: view["status"] == "ACTIVE",
            cookie: self.cookie(room),
            view,
        })
    }

    pub(super) fn done(&self) -> Result<(), GateError> {
        if self.status.is_success() {
            Ok(())
        } else {
            Err(self.failure())
        }
    }

    /// The room's cookie; a proxy between may have set some of its own.
    fn cookie(&self, room: &RoomId) -> Option<HeaderValue> {
        let of_room = |cookie: &&HeaderValue| {
            let kinds = [Cookies::Plain, Cookies::HostOnly];
            let is = |kind: Cookies| kind.find([*cookie], room.as_str()).is_some();
            kinds.into_iter().any(is)
        };
        self.headers
            .get_all(SET_COOKIE)
            .iter()
            .find(of_room)
            .cloned()
    }

    fn failure(&self) -> GateError {
        let refused = self.json::<Refused>().ok();
        let is = |kind: &Kind| refused.as_ref().is_some_and(|it| it.code == kind.code);
        if is(&ROOM_CLOSED) {
            GateError::RoomClosed
        } else if is(&ROOM_FULL) {
            GateError::RoomFull
        } else if is(&ROOM_NOT_FOUND) {
            GateError::NoSuchRoom
        } else if is(&STORE_UNAVAILABLE) || self.status.is_server_error() || self.asks_to_wait() {
            GateError::Away(self.retry_after())
        } else {
            self.strange()
        }
    }

    /// A caller that was told when to come again was understood.
    fn asks_to_wait(&self) -> bool {
        self.headers.contains_key(RETRY_AFTER)
    }

    fn retry_after(&self) -> Duration {
        let text = self
            .headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let seconds = text.and_then(|text| text.parse().ok());
        seconds.map_or_else(retry_soon, |seconds| {
            Duration::from_secs(seconds).min(RETRY_AFTER_MAX)
        })
    }

    /// The room does not answer so: the key, the address or the version is not right.
    fn strange(&self) -> GateError {
        let refused = self.json::<Refused>().ok();
        let code = refused
            .map(|refused| refused.code)
            .filter(|code| is_code(code));
        let status = self.status;
        GateError::Misconfigured(match code {
            Some(code) => format!("it answered {status} with {code}").into(),
            None => format!("it answered {status} with something that no room says").into(),
        })
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, GateError> {
        serde_json::from_slice(&self.body).map_err(|_| {
            let status = self.status;
            let text = format!("it answered {status} with something that no room says");
            GateError::Misconfigured(text.into())
        })
    }
}

impl Judgement {
    fn admitted(&self, room: &RoomId) -> Option<Admitted> {
        Some(Admitted {
            room: room.clone(),
            holder: Holder {
                visitor: Visitor::parse(self.visitor.as_deref()?).ok()?,
                ordinal: Ordinal(self.ordinal?),
            },
            verified: self.verified?,
            left: self.remaining_ms.map(Duration::from_millis),
        })
    }
}

impl Refused {
    fn waiting(&self) -> Option<Decision> {
        Some(Decision::Wait(Waiting {
            position: self.position?,
            poll_after: Duration::from_millis(self.poll_after_ms?),
        }))
    }
}

/// Whether a text is a problem's code, and so harmless in a log.
fn is_code(text: &str) -> bool {
    let fits = (1..=64).contains(&text.len());
    fits && text
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}
