//! The place view, as a visitor reads it.

#[cfg(test)]
pub(crate) mod tests;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// Every key that a place view has.
const KEYS: [&str; 22] = [
    "token",
    "room",
    "userId",
    "ordinal",
    "status",
    "position",
    "ahead",
    "behind",
    "next",
    "beforeLine",
    "etaSeconds",
    "etaRange",
    "admitAt",
    "issuedAt",
    "expiresAt",
    "remainingSeconds",
    "pollAfterMs",
    "version",
    "asOf",
    "roomState",
    "seatsLeft",
    "message",
];

/// What a visitor is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) token: String,
    pub(crate) ordinal: u64,
    pub(crate) standing: Standing,
    pub(crate) position: u64,
    pub(crate) ahead: u64,
    /// Goes in before the line.
    pub(crate) before_line: bool,
    pub(crate) poll_after: Duration,
    pub(crate) version: u64,
    pub(crate) as_of: Timestamp,
    /// The expected wait, or what is left of the pass.
    pub(crate) remaining_s: Option<u64>,
}

/// In line, or inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Standing {
    /// Waits; the estimate is missing while the room is paused.
    Waiting(Option<Estimate>),
    /// Has been inside since the server's time of day.
    Inside { since: Timestamp },
}

/// An expected wait and its band, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub(crate) wait: Duration,
    pub(crate) low: Duration,
    pub(crate) high: Duration,
}

impl Place {
    /// Reads a place view, or says what does not fit together in it.
    pub(crate) fn read(view: &Value) -> Result<Self, String> {
        let object = view.as_object().ok_or("the answer is not a JSON object")?;
        if let Some(missing) = KEYS.into_iter().find(|key| !object.contains_key(*key)) {
            return Err(format!("{missing} is missing"));
        }
        let standing = match view["status"].as_str() {
            Some("WAITING") => Standing::Waiting(waiting(view)?),
            Some("ACTIVE") => inside(view)?,
            _ => return Err(format!("status is {}", view["status"])),
        };
        Ok(Self {
            token: text(view, "token")?.to_owned(),
            ordinal: number(view, "ordinal")?,
            standing,
            position: number(view, "position")?,
            ahead: number(view, "ahead")?,
            before_line: flag(view, "beforeLine")?,
            poll_after: Duration::from_millis(number(view, "pollAfterMs")?),
            version: number(view, "version")?,
            as_of: moment(view, "asOf")?,
            remaining_s: view["remainingSeconds"].as_u64(),
        })
    }

    pub(crate) fn is_inside(&self) -> bool {
        matches!(self.standing, Standing::Inside { .. })
    }
}

/// What must hold of who waits, and the estimate.
fn waiting(view: &Value) -> Result<Option<Estimate>, String> {
    number(view, "behind")?;
    let next = flag(view, "next")?;
    must(
        !next || number(view, "ahead")? == 0,
        "is next, but somebody is ahead",
    )?;
    must(
        view["expiresAt"].is_null(),
        "a pass runs out, but status is WAITING",
    )?;
    must(
        view["remainingSeconds"] == view["etaSeconds"],
        "remainingSeconds and etaSeconds differ while waiting",
    )?;
    let Some(wait_s) = view["etaSeconds"].as_u64() else {
        must(view["etaRange"].is_null(), "a range without an estimate")?;
        return Ok(None);
    };
    moment(view, "admitAt")?;
    let end = |key: &str| view["etaRange"][key].as_u64();
    let (Some(low_s), Some(high_s)) = (end("low"), end("high")) else {
        return Err("an estimate without its range".into());
    };
    must(
        low_s <= wait_s && wait_s <= high_s,
        "etaSeconds lies outside of etaRange",
    )?;
    Ok(Some(Estimate {
        wait: Duration::from_secs(wait_s),
        low: Duration::from_secs(low_s),
        high: Duration::from_secs(high_s),
    }))
}

/// What must hold of who is inside.
fn inside(view: &Value) -> Result<Standing, String> {
    must(
        !flag(view, "next")? && !flag(view, "beforeLine")?,
        "goes in next, but status is ACTIVE",
    )?;
    must(
        view["behind"].is_null(),
        "behind is told, but status is ACTIVE",
    )?;
    must(
        view["etaRange"].is_null(),
        "a range is told, but status is ACTIVE",
    )?;
    must(
        view["etaSeconds"] == 0,
        "etaSeconds is not 0, but status is ACTIVE",
    )?;
    moment(view, "expiresAt")?;
    number(view, "remainingSeconds")?;
    let since = moment(view, "admitAt")?;
    Ok(Standing::Inside { since })
}

fn must(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

fn number(view: &Value, key: &str) -> Result<u64, String> {
    view[key]
        .as_u64()
        .ok_or_else(|| format!("{key} is {}, not a number", view[key]))
}

fn flag(view: &Value, key: &str) -> Result<bool, String> {
    view[key]
        .as_bool()
        .ok_or_else(|| format!("{key} is {}, not true or false", view[key]))
}

fn text<'a>(view: &'a Value, key: &str) -> Result<&'a str, String> {
    view[key]
        .as_str()
        .ok_or_else(|| format!("{key} is {}, not a text", view[key]))
}

fn moment(view: &Value, key: &str) -> Result<Timestamp, String> {
    let text = text(view, key)?;
    text.parse()
        .map_err(|_| format!("{key} is {text}, not a moment"))
}
