//! What can be seen of a room, field by field, so that a difference names itself.

use ropeline_core::{Ordinal, View};

/// A named part of what is seen, as text.
pub(super) type Fact = (&'static str, String);

/// Parts that a crash may set back by a moment: they are not worth a write of their own.
const LAZY: &[&str] = &["tick", "presence", "keys"];

/// Parts that tell which of those who ran out at the same instant were ended first, and how long they had stayed.
const ENDED: &[&str] = &["located", "counters"];

/// Everything of a view but the server's name, which differs, and the time of the picture.
pub(super) fn facts(view: &View) -> Vec<Fact> {
    let header = &view.header;
    let located: Vec<_> = (1..=header.issued.0)
        .map(|ordinal| view.locate(Ordinal(ordinal)))
        .collect();
    vec![
        ("epoch", format!("{:?}", header.epoch)),
        ("state", format!("{:?}, {:?}", header.state, header.paused)),
        ("policy", format!("{:?}", header.policy)),
        ("digest", format!("{:?}", header.digest)),
        ("issued", format!("{:?}", header.issued)),
        ("head", format!("{:?}", header.head)),
        ("floor", format!("{:?}", header.floor)),
        ("base", format!("{:?}", header.base)),
        ("version", format!("{:?}", header.version)),
        ("tick", format!("{:?}", header.tick)),
        ("presence", format!("{:?}", header.presence)),
        ("keys", format!("{:?}", header.keys)),
        ("lost", format!("{:?}", header.lost)),
        ("generation", format!("{:?}", header.generation)),
        ("term", format!("{:?}", header.term)),
        ("deleted", format!("{:?}", header.deleted_until)),
        ("held", format!("{:?}", header.joins_held_until)),
        ("admission", format!("{:?}", header.admission_held_until)),
        ("grace", format!("{:?}", header.imported_until)),
        ("stock", format!("{:?}", header.stock)),
        ("told", format!("{:?}", header.stock_version)),
        ("counters", format!("{:?}", header.counters)),
        ("inside", format!("{:?}", view.inside)),
        ("aside", format!("{:?}", view.aside)),
        ("door", format!("{:?}", view.door)),
        ("located", format!("{located:?}")),
    ]
}

/// What must be the same after a crash.
pub(super) fn durable_facts(view: &View) -> Vec<Fact> {
    without(LAZY, view)
}

/// What must be the same also while not all who ran out are ended.
pub(super) fn unsettled_facts(view: &View) -> Vec<Fact> {
    without(ENDED, view)
}

fn without(names: &[&str], view: &View) -> Vec<Fact> {
    let all = facts(view).into_iter();
    all.filter(|(name, _)| !names.contains(name)).collect()
}

/// The parts in which the store differs from core, in words; `None` if it does not.
pub(super) fn difference(store: &[Fact], core: &[Fact]) -> Option<String> {
    let words = store
        .iter()
        .zip(core)
        .filter(|(store, core)| store != core)
        .map(|((name, store), (_, core))| format!("{name}: the store has {store}, core {core}"));
    let words: Vec<_> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}
