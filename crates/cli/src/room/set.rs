//! Settings of a room as they are typed: `batch=100 active_max=none every=10s`.

use reqwest::Method;
use ropeline_server::config::{difference, summary};
use serde_json::{Map, Value, json};

use super::{
    args::{CreateArgs, SetArgs},
    desk::Desk,
    trouble::meant,
    views::{Room, read},
};
use crate::{failure::Failure, http::Answer, units::span};

/// What a setting may be.
#[derive(Clone, Copy)]
enum Kind {
    Span,
    Count,
    /// A count, or none.
    Limit,
    Word,
}

/// The settings of a room: their names in `ropeline.toml` and in the API.
const KEYS: [(&str, &str, Kind); 9] = [
    ("every", "every", Kind::Span),
    ("batch", "batch", Kind::Limit),
    ("active_max", "activeMax", Kind::Limit),
    ("pass_ttl", "passTtl", Kind::Span),
    ("pass_max", "passMax", Kind::Span),
    ("presence_ttl", "presenceTtl", Kind::Span),
    ("missed_turn_ttl", "missedTurnTtl", Kind::Span),
    ("waiting_max", "waitingMax", Kind::Count),
    ("identity", "identity", Kind::Word),
];

/// Changes a room: what the server answered, and what is different.
pub(super) async fn change(desk: &Desk, args: &SetArgs) -> Result<(Answer, String), Failure> {
    let policy = policy(&args.settings)?;
    let room = &args.named.room;
    let before: Room = read(&desk.room(room).await?)?;
    let body = json!({"policy": policy});
    let path = format!("/{room}");
    let answer = desk.send(Method::PATCH, &path, Some(&body)).await?;
    let after: Room = read(&answer)?;
    let changes = difference(&before.policy, &after.policy);
    let text = if changes.is_empty() {
        format!("nothing changed: {room} was set so already")
    } else {
        changes.join("\n")
    };
    Ok((answer, text))
}

/// Makes a room: what the server answered, and how it lets people in.
pub(super) async fn create(desk: &Desk, args: &CreateArgs) -> Result<(Answer, String), Failure> {
    let room = &args.named.room;
    let mut body = json!({"room": room});
    if let Some(preset) = &args.preset {
        body["preset"] = preset.as_str().into();
    }
    if !args.settings.is_empty() {
        body["policy"] = policy(&args.settings)?.into();
    }
    let answer = desk.send(Method::POST, "", Some(&body)).await?;
    let made: Room = read(&answer)?;
    let text = format!("{room} is made: {}", summary(&made.policy));
    Ok((answer, text))
}

/// The policy of an API request, or everything that is wrong with it.
fn policy(settings: &[String]) -> Result<Map<String, Value>, Failure> {
    let mut policy = Map::new();
    let mut wrong = Vec::new();
    for setting in settings {
        match parse(setting) {
            Ok((name, value)) => {
                if policy.insert(name.into(), value).is_some() {
                    wrong.push(format!("{setting}: was given twice"));
                }
            }
            Err(error) => wrong.push(error),
        }
    }
    if wrong.is_empty() {
        return Ok(policy);
    }
    let names = KEYS.map(|(name, ..)| name).join(", ");
    wrong.push(format!("The settings are: {names}"));
    Err(Failure::Usage(wrong.join("\n")))
}

fn parse(setting: &str) -> Result<(&'static str, Value), String> {
    let (key, value) = setting
        .split_once('=')
        .ok_or_else(|| format!("{setting}: write key=value, such as batch=100"))?;
    if key == "preset" {
        return Err("preset: is for new rooms, as `room create NAME --preset NAME`".to_owned());
    }
    let known = KEYS.iter().find(|(name, ..)| *name == key);
    let (_, api_name, kind) = known.ok_or_else(|| {
        let meant = meant(key, KEYS.map(|(name, ..)| name));
        format!("{key}: is not a setting of a room{meant}")
    })?;
    let value = kind.read(value);
    let value = value.map_err(|what| format!("{key}: {what}"))?;
    Ok((api_name, value))
}

impl Kind {
    fn read(self, text: &str) -> Result<Value, String> {
        let count = |what: &str| text.parse::<u64>().map_err(|_| what.to_owned());
        Ok(match self {
            Self::Limit if text == "none" => Value::Null,
            Self::Limit => count("write a whole number, or none for no limit")?.into(),
            Self::Count => count("write a whole number")?.into(),
            Self::Span => span(text).map(|_| text.into())?,
            Self::Word => text.into(),
        })
    }
}
