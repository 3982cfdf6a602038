//! The bytes that are sent, laid out before the clock starts.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::ids::Ids;

/// An endless supply of requests. Clones draw from the same supply, so no two connections send the
/// same request as long as there are enough different ones.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    texts: Texts,
    drawn: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
enum Texts {
    /// Taken in turn, again and again.
    Prepared(Arc<[Vec<u8>]>),
    /// One text, into which the number of the request is written: never the same twice.
    Numbered { text: Vec<u8>, digits: Range<usize> },
}

impl Requests {
    fn new(texts: Texts) -> Self {
        Self {
            texts,
            drawn: Arc::default(),
        }
    }

    pub(crate) fn draw(&mut self) -> &[u8] {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        self.nth(number)
    }

    pub(crate) fn nth(&mut self, number: u64) -> &[u8] {
        match &mut self.texts {
            Texts::Prepared(texts) => {
                let count = u64::try_from(texts.len()).unwrap_or(u64::MAX);
                &texts[usize::try_from(number % count).unwrap_or(0)]
            }
            Texts::Numbered { text, digits } => {
                write_decimal(&mut text[digits.clone()], number);
                text
            }
        }
    }
}

/// What the yardstick is asked.
pub(crate) fn hello() -> Requests {
    prepared([get("/hello/world", "")])
}

/// Reads on behalf of the holders of `tokens`, in turn.
pub(crate) fn with_tokens(path: &str, tokens: &[String]) -> Requests {
    prepared(
        tokens
            .iter()
            .map(|token| get(path, &format!("X-Queue-Token: {token}\r\n"))),
    )
}

/// Joins of ever new visitors of a group.
pub(crate) fn joins(room: &str, group: &str) -> Requests {
    let ids = Ids::of(group);
    let body_start = format!(r#"{{"room":"{room}","userId":"{}"#, ids.start());
    let body = format!(r#"{{"room":"{room}","userId":"{}"}}"#, ids.nth(0));
    let head = format!(
        "POST /api/v1/queue/tokens HTTP/1.1\r\nHost: localhost\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let first_digit = head.len() + body_start.len();
    Requests::new(Texts::Numbered {
        text: (head + &body).into_bytes(),
        digits: first_digit..first_digit + Ids::DIGITS,
    })
}

/// These, in turn, again and again.
pub(crate) fn prepared(texts: impl IntoIterator<Item = Vec<u8>>) -> Requests {
    let texts: Arc<[Vec<u8>]> = texts.into_iter().collect();
    assert!(!texts.is_empty(), "there must be something to ask");
    Requests::new(Texts::Prepared(texts))
}

pub(crate) fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").into_bytes()
}

pub(crate) fn post(path: &str, headers: &str, json: &str) -> Vec<u8> {
    let length = json.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{headers}\r\n{json}"
    )
    .into_bytes()
}

fn write_decimal(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_join_names_another_visitor_of_the_group() {
        let mut joins = joins("main", "bench-joining");
        let mut other = joins.clone();
        let first = String::from_utf8(joins.draw().to_vec()).expect("ASCII");
        let second = String::from_utf8(other.draw().to_vec()).expect("ASCII");

        let (head, body) = first.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
        let ids = Ids::of("bench-joining");
        let join = |number| format!(r#"{{"room":"main","userId":"{}"}}"#, ids.nth(number));
        assert_eq!(body, join(0));
        assert!(second.ends_with(&join(1)));
        let later = String::from_utf8(joins.nth(1_234_567).to_vec()).expect("ASCII");
        assert!(later.ends_with(&join(1_234_567)));
    }

    #[test]
    fn tokens_are_taken_in_turn() {
        let tokens = ["a", "b"].map(str::to_owned);
        let mut requests = with_tokens("/status", &tokens);
        let mut sent = || String::from_utf8(requests.draw().to_vec()).expect("ASCII");
        assert!(sent().contains("X-Queue-Token: a\r\n\r\n"));
        assert!(sent().contains("X-Queue-Token: b\r\n\r\n"));
        assert!(sent().contains("X-Queue-Token: a\r\n\r\n"));
    }
}
