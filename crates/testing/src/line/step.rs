//! What can happen in a story.

use std::time::Duration;

use proptest::prelude::*;
use ropeline_core::{Identity, Policy, Was};

/// A policy and what happens under it.
#[derive(Debug, Clone)]
pub struct Story {
    /// The policy at the beginning.
    pub policy: Policy,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One event. Numbers stand for visitors, or pick one of the tokens given out so far, ended ones too.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "each is a command of core, with the same name")]
pub enum Step {
    Advance(u64),
    Join(Vec<u8>),
    JoinWithKey(u8),
    RepeatKey,
    ReuseKey(u8),
    Renew(Vec<usize>),
    Restore(Vec<usize>),
    /// A node sends again what it has acknowledged.
    Retell(Vec<usize>),
    Mark(Vec<usize>),
    Keep(usize, u64),
    Leave(usize),
    Finish(usize),
    /// Somebody comes with a place that is another's, or that nobody was given.
    Stranger(usize),
    Revoke(u8),
    Settle,
    Admit(u64),
    Pause,
    Resume,
    Open,
    Close,
    Drain,
    Reset,
    SetPolicy(Policy),
    ChangePolicy {
        from: Basis,
        to: Policy,
    },
    Delete,
    Create(Policy),
    Merge,
    Suffer(u64),
    Import(Vec<(u8, Was)>),
    Stock(Option<u64>),
}

/// From which policy a change was worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The one that holds.
    Current,
    /// One that does not.
    Outdated,
}

impl Step {
    /// The step's name in a tally.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Advance(_) => "advance",
            Self::Join(_) => "join",
            Self::JoinWithKey(_) | Self::RepeatKey | Self::ReuseKey(_) => "join with key",
            Self::Renew(_) => "renew",
            Self::Restore(_) => "restore",
            Self::Retell(_) => "retell",
            Self::Mark(_) => "mark",
            Self::Keep(..) => "keep",
            Self::Leave(_) => "leave",
            Self::Finish(_) => "finish",
            Self::Stranger(_) => "stranger",
            Self::Revoke(_) => "revoke",
            Self::Settle => "settle",
            Self::Admit(_) => "admit",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Open => "open",
            Self::Close => "close",
            Self::Drain => "drain",
            Self::Reset => "reset",
            Self::SetPolicy(_) => "set policy",
            Self::ChangePolicy { .. } => "change policy",
            Self::Delete => "delete",
            Self::Create(_) => "create",
            Self::Merge => "merge",
            Self::Suffer(_) => "suffer",
            Self::Import(_) => "import",
            Self::Stock(_) => "stock",
        }
    }
}

/// Stories of up to `steps_max` steps; one step in `suffer_every` is something that goes wrong (0: none).
pub fn stories(steps_max: usize, suffer_every: u32) -> impl Strategy<Value = Story> {
    let steps = prop::collection::vec(step(suffer_every), 1..steps_max);
    (policy(), steps).prop_map(|(policy, steps)| Story { policy, steps })
}

/// Small numbers, so that every limit is met often.
fn policy() -> impl Strategy<Value = Policy> {
    let limits = prop_oneof![
        (1_u64..5).prop_map(|batch| (Some(batch), None)),
        (1_u64..6).prop_map(|cap| (None, Some(cap))),
        (1_u64..5, 1_u64..6).prop_map(|(batch, cap)| (Some(batch), Some(cap))),
    ];
    let seconds =
        |choices: &'static [u64]| prop::sample::select(choices).prop_map(Duration::from_secs);
    let spans = (
        seconds(&[5, 10, 20]),
        seconds(&[10, 30]),
        seconds(&[0, 30, 45]),
        seconds(&[0, 16, 16]),
    );
    let rest = (
        seconds(&[0, 20, 40, 40]),
        prop::sample::select(vec![12_u64, 1_000]),
    );
    (limits, spans, rest).prop_map(|(limits, spans, rest)| Policy {
        every: spans.0,
        batch: limits.0,
        active_max: limits.1,
        pass_ttl: spans.1,
        pass_max: spans.2,
        presence_ttl: spans.3,
        missed_turn_ttl: rest.0,
        waiting_max: rest.1,
        identity: Identity::Open,
    })
}

/// Those who were inside mostly come first, as they should.
fn imports(visitor: impl Strategy<Value = u8>) -> impl Strategy<Value = Step> {
    let was = prop::sample::select(vec![Was::Waiting, Was::Waiting, Was::Inside]);
    let rows = prop::collection::vec((visitor, was), 1..8);
    (rows, any::<u8>()).prop_map(|(mut rows, order)| {
        if !order.is_multiple_of(8) {
            rows.sort_by_key(|(_, was)| *was == Was::Waiting);
        }
        Step::Import(rows)
    })
}

fn step(suffer_every: u32) -> impl Strategy<Value = Step> {
    let visitor = || 0_u8..40;
    let token = any::<usize>;
    let ordinary = prop_oneof![
        40 => prop::sample::select(vec![100_u64, 1_000, 2_000, 4_000, 9_000, 20_000]).prop_map(Step::Advance),
        30 => prop::collection::vec(visitor(), 1..6).prop_map(Step::Join),
        6 => visitor().prop_map(Step::JoinWithKey),
        4 => Just(Step::RepeatKey),
        2 => visitor().prop_map(Step::ReuseKey),
        16 => prop::collection::vec(token(), 1..4).prop_map(Step::Renew),
        16 => prop::collection::vec(token(), 1..4).prop_map(Step::Restore),
        4 => prop::collection::vec(token(), 1..4).prop_map(Step::Retell),
        20 => prop::collection::vec(token(), 1..12).prop_map(Step::Mark),
        8 => (token(), prop::sample::select(vec![0_u64, 5_000, 25_000, 60_000]))
            .prop_map(|(at, ms)| Step::Keep(at, ms)),
        8 => token().prop_map(Step::Leave),
        6 => token().prop_map(Step::Finish),
        4 => token().prop_map(Step::Stranger),
        3 => visitor().prop_map(Step::Revoke),
        14 => Just(Step::Settle),
        8 => policy().prop_map(Step::Create),
        5 => imports(visitor()),
        6 => prop::sample::select(vec![None, Some(0), Some(7), Some(u64::MAX)]).prop_map(Step::Stock),
    ];
    let operators = prop_oneof![
        2 => (1_u64..4).prop_map(Step::Admit),
        1 => Just(Step::Pause),
        3 => Just(Step::Resume),
        3 => Just(Step::Open),
        1 => Just(Step::Close),
        1 => Just(Step::Drain),
        1 => prop::sample::select(vec![false, false, true])
            .prop_map(|reset| if reset { Step::Reset } else { Step::Resume }),
        2 => policy().prop_map(Step::SetPolicy),
        2 => (basis(), policy()).prop_map(|(from, to)| Step::ChangePolicy { from, to }),
        1 => Just(Step::Delete),
        1 => Just(Step::Merge),
    ];
    let usual = prop_oneof![8 => ordinary, 1 => operators].boxed();
    if suffer_every == 0 {
        return usual;
    }
    prop_oneof![suffer_every => usual, 1 => any::<u64>().prop_map(Step::Suffer)].boxed()
}

fn basis() -> impl Strategy<Value = Basis> {
    prop::sample::select(vec![Basis::Current, Basis::Outdated])
}
