//! A policy in words: in one line, as TOML, or as what changed.

use std::{fmt, time::Duration};

use ropeline_core::{Identity, Policy};

use super::span;

/// One line about how a room lets people in.
pub fn summary(policy: &Policy) -> String {
    let every = span::format(policy.every);
    let pace = match (policy.batch, policy.active_max) {
        (Some(batch), Some(cap)) => format!("{batch} every {every}, at most {cap} inside"),
        (Some(batch), None) => format!("{batch} every {every}, no cap inside"),
        (None, Some(cap)) => format!("{cap} inside, refilled as they leave"),
        (None, None) => "no limit".into(),
    };
    let logins = match policy.identity {
        Identity::Jwt => ", with a verified login",
        Identity::Open | Identity::Anonymous => "",
    };
    format!(
        "{pace}, passes of {}{logins}",
        span::format(policy.pass_ttl)
    )
}

/// What is different in `new`, one line per setting such as `batch: 50 -> 100`.
pub fn difference(old: &Policy, new: &Policy) -> Vec<String> {
    figures(old)
        .iter()
        .zip(figures(new))
        .filter(|((_, old), (_, new))| old != new)
        .map(|((name, old), (_, new))| format!("{name}: {old} -> {new}"))
        .collect()
}

/// The lines of a room's section that mean exactly this policy.
pub(super) fn toml_lines(policy: &Policy) -> Vec<String> {
    let line = |(name, figure): (&str, Figure)| match figure {
        Figure::Absent => None,
        Figure::Count(count) => Some(format!("{name} = {count}")),
        Figure::Span(_) | Figure::Word(_) => Some(format!("{name} = \"{figure}\"")),
    };
    figures(policy).into_iter().filter_map(line).collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Figure {
    Absent,
    Count(u64),
    Span(Duration),
    Word(&'static str),
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no limit"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Span(span) => f.write_str(&span::format(*span)),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// The settings of a policy, in the order of the shipped file.
fn figures(policy: &Policy) -> [(&'static str, Figure); 9] {
    let Policy {
        every,
        batch,
        active_max,
        pass_ttl,
        pass_max,
        presence_ttl,
        missed_turn_ttl,
        waiting_max,
        identity,
    } = policy;
    let limit = |limit: &Option<u64>| limit.map_or(Figure::Absent, Figure::Count);
    [
        ("every", Figure::Span(*every)),
        ("batch", limit(batch)),
        ("active_max", limit(active_max)),
        ("pass_ttl", Figure::Span(*pass_ttl)),
        ("pass_max", Figure::Span(*pass_max)),
        ("presence_ttl", Figure::Span(*presence_ttl)),
        ("missed_turn_ttl", Figure::Span(*missed_turn_ttl)),
        ("waiting_max", Figure::Count(*waiting_max)),
        ("identity", Figure::Word(identity.as_str())),
    ]
}
