//! A history laid out by place, with what an outside observer can be sure of.
//!
//! An admission is seen at a poll and happened somewhere between that poll and the one before. An operation
//! without an answer may have been done, or not, or may still be. A node may show an older picture and says how
//! old it is. Whatever is called certain here holds in every course of events that fits the answers.

mod admission;
mod ending;
mod excuse;
mod presence;
mod spans;
mod waits;

use std::collections::BTreeMap;

use super::{
    History,
    fault::{Kind, Outage, Target},
    record::{At, Op, Outcome, Record, State},
};
pub(super) use admission::Admission;
pub(super) use excuse::{Known, knowing};
pub(super) use spans::Spans;

/// A history and what follows from it.
#[derive(Debug)]
pub(super) struct Evidence<'h> {
    pub(super) history: &'h History,
    /// Every acknowledged place, by ordinal.
    pub(super) stories: Vec<Story<'h>>,
    pub(super) outages: Vec<Outage>,
    /// How many nodes there are.
    nodes: usize,
}

/// All that is known of one acknowledged place.
#[derive(Debug)]
pub(super) struct Story<'h> {
    pub(super) user: &'h str,
    pub(super) ordinal: u64,
    /// When it was first asked for, by whichever attempt may have made it.
    pub(super) asked: At,
    /// When it was first acknowledged, and by which record.
    pub(super) acknowledged: At,
    pub(super) join: &'h Record,
    /// Everything about it, in the order of asking.
    pub(super) records: Vec<&'h Record>,
    /// The admission, if it was seen; the first one, if a store has forgotten it since.
    pub(super) admission: Option<Admission<'h>>,
    /// When its holder certainly counts as present.
    pub(super) present: Spans,
    /// When it certainly waits, in line or at the door.
    pub(super) waits: Spans,
}

impl<'h> Evidence<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let mut evidence = Self {
            history,
            stories: stories(history),
            outages: Outage::of(&history.faults),
            nodes: history
                .records
                .iter()
                .map(|record| record.node + 1)
                .max()
                .unwrap_or(0),
        };
        for at in 0..evidence.stories.len() {
            let story = &evidence.stories[at];
            let admission = evidence.admission_of(story);
            let present = evidence.presence_of(story);
            let waits = evidence.waits_of(story, admission);
            let story = &mut evidence.stories[at];
            (story.admission, story.present, story.waits) = (admission, present, waits);
        }
        evidence
    }

    /// The admissions that were seen.
    pub(super) fn admissions(&self) -> impl Iterator<Item = (&Story<'h>, Admission<'h>)> {
        let stories = self.stories.iter();
        stories.filter_map(|story| Some((story, story.admission?)))
    }

    /// Whether the store was all right from one moment to another.
    pub(super) fn store_was_up(&self, from: At, to: At) -> bool {
        let mut outages = self.outages.iter();
        !outages.any(|outage| {
            let is_away = outage.target == Target::Store && outage.kind != Kind::Held;
            is_away && outage.touches(from, to)
        })
    }

    /// When the store is next away, if ever.
    pub(super) fn next_store_outage(&self, after: At) -> At {
        let outages = self.outages.iter().filter(|outage| {
            let is_away = outage.target == Target::Store && outage.kind != Kind::Held;
            is_away && outage.to >= after
        });
        outages.map(|outage| outage.from).min().unwrap_or(At::MAX)
    }

    /// Whether the store may have forgotten something between two moments.
    pub(super) fn store_forgot(&self, from: At, to: At) -> bool {
        self.forgettings().any(|outage| outage.touches(from, to))
    }

    /// Whether anything befell somebody between two moments.
    pub(super) fn befell(&self, target: Target, from: At, to: At) -> bool {
        let mut outages = self.outages.iter();
        outages.any(|outage| outage.target == target && outage.touches(from, to))
    }
}

impl<'h> Story<'h> {
    /// Answers that the place waits, each with the moment since which that may have been so.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (At, &'h Record)> {
        self.telling(State::Waiting)
            .filter_map(|record| Some((record.since()?, record)))
    }

    /// Answers that the place is inside.
    pub(super) fn inside(&self) -> impl Iterator<Item = &'h Record> {
        self.telling(State::Inside)
    }

    fn telling(&self, state: State) -> impl Iterator<Item = &'h Record> {
        let records = self.records.iter().copied();
        records.filter(move |record| record.state() == Some(state))
    }

    /// Answers that the place has ended. An operator who does not find it does not say that.
    pub(super) fn ends(&self) -> impl Iterator<Item = &'h Record> {
        let records = self.records.iter().copied();
        records.filter(|record| record.op != Op::Find && record.state().is_some_and(State::is_end))
    }

    /// The first attempt to leave, answered or not.
    pub(super) fn leave(&self) -> Option<&'h Record> {
        let mut records = self.records.iter().copied();
        records.find(|record| record.op == Op::Leave)
    }
}

fn stories(history: &History) -> Vec<Story<'_>> {
    let mut stories = BTreeMap::new();
    // Since when each user has been asking without an answer.
    let mut asking: BTreeMap<&str, At> = BTreeMap::new();
    for record in &history.records {
        let user = record.user.as_str();
        if record.op == Op::Join && record.outcome != Outcome::Fail {
            let asked = *asking.entry(user).or_insert(record.t0);
            if let Some(ordinal) = record.ordinal() {
                asking.remove(user);
                let story = stories.entry((ordinal, user));
                let story = story.or_insert_with(|| Story::new(record, ordinal, asked));
                story.acknowledged = story.acknowledged.min(record.t1);
            }
        }
    }
    for record in &history.records {
        let place = record
            .ordinal()
            .map(|ordinal| (ordinal, record.user.as_str()));
        if let Some(story) = place.and_then(|place| stories.get_mut(&place)) {
            story.records.push(record);
        }
    }
    stories.into_values().collect()
}

impl<'h> Story<'h> {
    fn new(join: &'h Record, ordinal: u64, asked: At) -> Self {
        Self {
            user: &join.user,
            ordinal,
            asked,
            acknowledged: join.t1,
            join,
            records: Vec::new(),
            admission: None,
            present: Spans::default(),
            waits: Spans::default(),
        }
    }
}
