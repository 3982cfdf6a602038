//! The rooms and their policies.

use std::{collections::BTreeMap, fmt::Write, sync::Arc, time::Duration};

use ropeline_core::{FieldError, Identity, Policy, Preset, RoomId};
use sha2::{Digest, Sha256};
use toml::de::{DeTable, DeValue};

use super::{
    keys,
    login::{VerifiedUsers, check_identity},
    section::Section,
    span,
    value::{Wrong, count, duration, text},
};

/// What the file says about a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomSettings {
    /// How the room lets people in.
    pub policy: Arc<Policy>,
    /// SHA-256 of the section without its comments and spaces, in hexadecimal.
    ///
    /// It is kept with the room, so that only a section that was changed is applied again.
    pub digest: String,
}

/// The rooms of the file, each taken as a whole, with what it leaves out from `defaults`.
pub(super) fn read(
    file: &mut Section<'_>,
    defaults: &Policy,
    users: VerifiedUsers,
) -> BTreeMap<RoomId, RoomSettings> {
    let mut rooms = BTreeMap::new();
    let Some(mut sections) = file.named_sections("rooms") else {
        return rooms;
    };
    for name in sections.written() {
        match RoomId::parse(name) {
            Ok(id) => {
                let section = sections.section(name, &keys::ROOM);
                let settings = section.and_then(|section| room(section, defaults, users));
                rooms.extend(settings.map(|settings| (id, settings)));
            }
            Err(error) => sections.refuse_name(name, &error.to_string()),
        }
    }
    rooms
}

/// Stands in for the defaults while the shipped file, which leaves nothing out, is read.
pub(super) fn unset() -> Policy {
    Policy {
        every: Duration::ZERO,
        batch: None,
        active_max: None,
        pass_ttl: Duration::ZERO,
        pass_max: Duration::ZERO,
        presence_ttl: Duration::ZERO,
        missed_turn_ttl: Duration::ZERO,
        waiting_max: 0,
        identity: Identity::Open,
    }
}

fn room(mut section: Section<'_>, defaults: &Policy, users: VerifiedUsers) -> Option<RoomSettings> {
    let policy = policy(&mut section, defaults);
    let errors = policy.clone().validated().err().unwrap_or_default();
    for error in errors.iter().chain(&check_identity(&policy, users).err()) {
        refuse(&mut section, &policy, error);
    }
    section.is_sound().then(|| RoomSettings {
        policy: Arc::new(policy),
        digest: digest(section.table()),
    })
}

fn policy(section: &mut Section<'_>, defaults: &Policy) -> Policy {
    let base = Policy {
        batch: None,
        active_max: None,
        ..defaults.clone()
    };
    let mut policy = match section.get("preset", preset) {
        Some(preset) => preset.over(&base),
        None => base,
    };
    for (key, slot) in [
        ("every", &mut policy.every),
        ("pass_ttl", &mut policy.pass_ttl),
        ("pass_max", &mut policy.pass_max),
        ("presence_ttl", &mut policy.presence_ttl),
        ("missed_turn_ttl", &mut policy.missed_turn_ttl),
    ] {
        section.set(slot, key, duration);
    }
    for (key, slot) in [
        ("batch", &mut policy.batch),
        ("active_max", &mut policy.active_max),
    ] {
        section.set(slot, key, |value| count(value).map(Some));
    }
    section.set(&mut policy.waiting_max, "waiting_max", count);
    section.set(&mut policy.identity, "identity", identity);
    policy
}

fn preset(value: &DeValue<'_>) -> Result<&'static Preset, Wrong> {
    Preset::named(text(value)?).map_err(|error| Wrong::new(error.message))
}

fn identity(value: &DeValue<'_>) -> Result<Identity, Wrong> {
    text(value)?
        .parse()
        .map_err(|error: FieldError| Wrong::new(error.message))
}

/// Notes what the policy as a whole has against a setting, unless that was refused by itself.
fn refuse(section: &mut Section<'_>, policy: &Policy, error: &FieldError) {
    let blames = |key: &str| section.has_failed(key);
    let follows_from_another = match error.field {
        "batch" => blames("active_max") || blames("preset"),
        "pass_max" => blames("pass_ttl") || blames("preset"),
        _ => false,
    };
    if blames(error.field) || follows_from_another {
        return;
    }
    let written = section.written().any(|key| key == error.field);
    let wrong = match error.field {
        "pass_max" => {
            let pass_ttl = span::format(policy.pass_ttl);
            let left_out = if written {
                String::new()
            } else {
                format!("; left out, it is {}", span::format(policy.pass_max))
            };
            let what = format!("{} (pass_ttl is {pass_ttl}){left_out}", error.message);
            Wrong::meant(what, format!("\"{pass_ttl}\""))
        }
        _ => Wrong::new(error.message.clone()),
    };
    section.refuse(error.field, &wrong);
}

/// The digest of a section that has been found right: keys in order, values in one way of writing.
fn digest(table: &DeTable<'_>) -> String {
    let sorted: BTreeMap<&str, &DeValue<'_>> = table
        .iter()
        .map(|(key, value)| (key.get_ref().as_ref(), value.get_ref()))
        .collect();
    let mut hasher = Sha256::new();
    for (key, value) in sorted {
        let value = match count(value) {
            Ok(count) => count.to_string(),
            Err(_) => format!("{:?}", value.as_str().unwrap_or_default()),
        };
        hasher.update(format!("{key} = {value}\n"));
    }
    hasher
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("a String takes everything");
            hex
        })
}
