//! One row of another queue.

use jiff::Timestamp;
use ropeline_core::{UserId, Was};
use serde::Deserialize;
use serde_json::Value;

use super::{
    issued_at,
    status::{self, Status},
};

/// A place that is to be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) user: UserId,
    pub(super) issued_at: Timestamp,
    /// Where it stands in the file, from 1.
    pub(super) line: u64,
    pub(super) was: Was,
}

/// Why a line is no place to be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoRow {
    /// It had ended, in this word.
    Ended(String),
    /// It makes no sense.
    Rejected(String),
}

/// The columns that matter; a dump may have others.
#[derive(Deserialize)]
struct Columns {
    #[serde(rename = "userId", alias = "user_id", default)]
    user_id: Value,
    #[serde(rename = "issuedAt", alias = "issued_at", default)]
    issued_at: Value,
    #[serde(default)]
    status: Value,
}

impl Row {
    pub(super) fn parse(line: u64, text: &[u8]) -> Result<Self, NoRow> {
        // A list would be taken for the columns in their order.
        if text.trim_ascii_start().starts_with(b"[") {
            let advice = "a list: write one object on each line, for example with `jq -c '.[]'`";
            return Err(NoRow::Rejected(advice.to_owned()));
        }
        let columns: Columns = serde_json::from_slice(text)
            .map_err(|error| NoRow::Rejected(format!("not a JSON object: {error}")))?;
        // An ended row is skipped whatever else is in it: nobody waits for it.
        let was = was(&columns.status)?;
        let user = user(&columns.user_id).map_err(NoRow::Rejected)?;
        let issued_at = issued_at::parse(&columns.issued_at);
        let issued_at = issued_at.map_err(|expected| NoRow::Rejected(expected.to_owned()))?;
        Ok(Self {
            user,
            issued_at,
            line,
            was,
        })
    }
}

fn was(status: &Value) -> Result<Was, NoRow> {
    let Value::String(word) = status else {
        return Err(NoRow::Rejected(format!(
            "status is a word such as WAITING or ACTIVE, not {}: name it in the export, with CASE",
            kind(status)
        )));
    };
    match status::parse(word) {
        Some(Status::Live(was)) => Ok(was),
        Some(Status::Ended) => Err(NoRow::Ended(word.clone())),
        None => Err(NoRow::Rejected(format!(
            "status {word:?} is none that is known: WAITING, ACTIVE or EXPIRED, or another word for these"
        ))),
    }
}

/// A user id as text, or as an integer that stands for its decimal text.
fn user(value: &Value) -> Result<UserId, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        other => return Err(format!("userId is text or an integer, not {}", kind(other))),
    };
    UserId::parse_for_visitor(&text).map_err(|error| format!("userId {text:?}: {error}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(String, Was), NoRow> {
        let row = Row::parse(1, text.as_bytes())?;
        Ok((row.user.as_str().to_owned(), row.was))
    }

    fn reason(text: &str) -> String {
        match parsed(text) {
            Err(NoRow::Rejected(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_row_is_read_with_its_columns_in_either_spelling() {
        for text in [
            r#"{"userId":"ann","issuedAt":"2024-07-01 09:00:00","status":"WAIT"}"#,
            r#"{"id":9,"user_id":"ann","issued_at":1719824400,"status":"waiting","x":null}"#,
        ] {
            assert_eq!(parsed(text), Ok(("ann".into(), Was::Waiting)), "{text}");
        }
    }

    #[test]
    fn an_integer_stands_for_its_decimal_text() {
        let row = r#"{"userId":42,"issuedAt":1719824400,"status":"ACTIVE"}"#;
        assert_eq!(parsed(row), Ok(("42".into(), Was::Inside)));
    }

    #[test]
    fn an_ended_row_is_skipped_even_without_the_rest() {
        let ended = NoRow::Ended("EXPIRED".into());
        assert_eq!(parsed(r#"{"status":"EXPIRED"}"#), Err(ended));
    }

    #[test]
    fn a_row_that_makes_no_sense_is_told_why() {
        for (text, part) in [
            ("{", "not a JSON object"),
            ("7", "not a JSON object"),
            ("[{}]", "one object on each line"),
            ("\u{0}", "not a JSON object"),
            (r#"{"userId":"ann","issuedAt":1}"#, "status is a word"),
            (r#"{"userId":"ann","issuedAt":1,"status":0}"#, "with CASE"),
            (r#"{"userId":"ann","issuedAt":1,"status":"HUH"}"#, "\"HUH\""),
            (r#"{"issuedAt":1,"status":"WAIT"}"#, "not nothing"),
            (
                r#"{"userId":1.5,"issuedAt":1,"status":"WAIT"}"#,
                "userId is text or an integer",
            ),
            (
                r#"{"userId":"a b","issuedAt":1,"status":"WAIT"}"#,
                "no space",
            ),
            (
                r#"{"userId":"a:00000000000000000000000000000007","issuedAt":1,"status":"WAIT"}"#,
                "names an anonymous visitor",
            ),
            (
                r#"{"userId":"가","issuedAt":1,"status":"WAIT"}"#,
                "printable ASCII",
            ),
            (
                r#"{"userId":"ann","status":"WAIT"}"#,
                "issuedAt is RFC 3339",
            ),
        ] {
            assert!(reason(text).contains(part), "{text}: {}", reason(text));
        }
    }
}
