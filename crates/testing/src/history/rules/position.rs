//! Positions: never rising, and right.

use std::collections::BTreeSet;

use super::{Rule, Violation};
use crate::history::{
    evidence::{Evidence, Known, Story, knowing},
    record::{At, Record},
};

/// W6: of two answers, the later of which was asked for with the version of the earlier, the later shows no
/// higher position, and no older picture.
pub(super) fn never_rises(evidence: &Evidence<'_>) -> Vec<Violation> {
    let stories = evidence.stories.iter();
    stories.flat_map(|story| rises(evidence, story)).collect()
}

fn rises(evidence: &Evidence<'_>, story: &Story<'_>) -> Vec<Violation> {
    let mut broken = Vec::new();
    // The lowest position that was shown so far.
    let mut lowest: Option<(u64, &Record)> = None;
    for &record in &story.records {
        broken.extend(outdated(record));
        let Some(position) = position(record) else {
            continue;
        };
        if let Some((before, earlier)) = lowest
            && position > before
            && follows(record, earlier)
            // Whose pass is forgotten is back at the door.
            && !(before == 0 && evidence.may_be_undone(earlier.t0, record.t1))
        {
            let what = format!(
                "{} of {}: {before} became {position}",
                story.ordinal, story.user
            );
            broken.push(Rule::W6.broken(what, [earlier, record]));
        }
        // Nobody can return a version that was not told.
        if version(record).is_some() && lowest.is_none_or(|(before, _)| position <= before) {
            lowest = Some((position, record));
        }
    }
    broken
}

/// Whether one was asked when the other was known, and says so.
fn follows(later: &Record, earlier: &Record) -> bool {
    earlier.t1 <= later.t0 && version(earlier) <= later.returned
}

fn outdated(record: &Record) -> Option<Violation> {
    let (returned, version) = (record.returned?, version(record)?);
    let what = format!("version {version} for who has seen {returned}");
    (version < returned).then(|| Rule::W6.broken(what, [record]))
}

fn position(record: &Record) -> Option<u64> {
    record.told.as_ref().and_then(|told| told.position)
}

fn version(record: &Record) -> Option<u64> {
    record.told.as_ref().and_then(|told| told.version)
}

/// W7: who is certainly in line ahead is counted, and nobody is who certainly is not.
pub(super) fn within_bounds(evidence: &Evidence<'_>) -> Vec<Violation> {
    let line = Line::of(evidence);
    let stories = evidence.stories.iter();
    stories
        .flat_map(|story| {
            let wrong = story.waiting().filter_map(|(since, record)| {
                let ahead = position(record)?.checked_sub(1)?;
                let before_line = is_before_line(story, record);
                let (least, most) = if before_line {
                    (0, line.most_before_line(story.ordinal, since))
                } else {
                    line.bounds(story.ordinal, since, record.t1)
                };
                // Nobody is shown more than the last time.
                let mut earlier = story.records.iter().filter(|it| it.t1 <= record.t0);
                let repeated = earlier.any(|it| position(it) == position(record));
                // Not every answer says whether it is at the door.
                let at_door =
                    ahead == 0 && told_before_line(record).is_none() && has_door(evidence);
                let fits = (at_door || repeated || ahead >= least) && ahead <= most;
                let what = format!(
                    "{} of {} has {ahead} ahead, not {least} to {most}",
                    story.ordinal, story.user
                );
                (!fits).then(|| Rule::W7.broken(what, [record]))
            });
            wrong.collect::<Vec<_>>()
        })
        .collect()
}

fn told_before_line(record: &Record) -> Option<bool> {
    record.told.as_ref().and_then(|told| told.before_line)
}

/// Whether an answer is about somebody at the door. The gate does not say; then it may be, if another answer says so.
fn is_before_line(story: &Story<'_>, record: &Record) -> bool {
    let ever = || {
        story
            .records
            .iter()
            .any(|it| told_before_line(it) == Some(true))
    };
    told_before_line(record).unwrap_or_else(ever)
}

/// Whether somebody who waits may be at the door, where those in line do not count: after a missed turn, or
/// when the store has forgotten.
fn has_door(evidence: &Evidence<'_>) -> bool {
    let policy = &evidence.history.policy;
    !policy.presence_ttl.is_zero() || evidence.store_forgot(At::ZERO, At::MAX)
}

/// What is known of the line over time. Ordinals have no gaps, so whoever stands between two that are known
/// to be in line is in line too, unless they left.
struct Line {
    /// The highest ordinal known to have been let in by each moment.
    heads: Vec<(At, u64)>,
    /// From one time at which the store forgot to the next, the lowest ordinal known to be in line at or after each moment,
    /// the last moment first.
    tails: Vec<(Memory, Vec<(At, u64)>)>,
    /// Who may have left the line. Whoever was seen inside has left it by being let in.
    leaves: Vec<Leave>,
    /// Who is known to have been let in for good, by each moment.
    entries: Vec<(At, u64)>,
}

/// A time in which the store forgets nothing.
type Memory = (At, At);

struct Leave {
    ordinal: u64,
    /// It may have happened from then on.
    tried: At,
    /// It has happened by then; never, if it was not answered.
    done: At,
}

impl Line {
    fn of(evidence: &Evidence<'_>) -> Self {
        let heads = evidence
            .admissions()
            .filter(|(story, _)| {
                !evidence.lost_with(Known::OnDisk, &story.seen_inside_by(), At::MAX)
            })
            .map(|(story, admission)| (admission.latest, story.ordinal));
        let mut heads: Vec<_> = heads.collect();
        heads.sort_unstable();
        // Whose pass is forgotten may be back at the door.
        let forgot = evidence.store_forgot(At::ZERO, At::MAX);
        let entries = if forgot { Vec::new() } else { heads.clone() };
        keep_records(&mut heads, |next, best| next > best);
        let pairs = evidence.stories.windows(2);
        let pairs = pairs.filter(|pair| pair[0].ordinal == pair[1].ordinal);
        let doubled: BTreeSet<_> = pairs.map(|pair| pair[0].ordinal).collect();
        let first_in_line = if has_door(evidence) { 2 } else { 1 };
        // Where an ordinal was given twice, one says nothing of the other.
        let once = |story: &&Story<'_>| !doubled.contains(&story.ordinal);
        let in_line = evidence.stories.iter().filter(once).flat_map(|story| {
            let waiting = story.waiting();
            let in_line = waiting.filter(|(_, record)| match told_before_line(record) {
                Some(before_line) => !before_line && position(record).is_some(),
                None => !is_before_line(story, record) && position(record) >= Some(first_in_line),
            });
            in_line.map(|(since, _)| (since, story.ordinal))
        });
        let mut in_line: Vec<_> = in_line.collect();
        in_line.sort_unstable_by(|one, other| other.cmp(one));
        let memories = evidence.memories_of_one_master();
        let tails = memories.map(|(from, to)| {
            let within = in_line.iter().filter(|(at, _)| (from..to).contains(at));
            let mut tails: Vec<_> = within.copied().collect();
            keep_records(&mut tails, |next, best| next < best);
            ((from, to), tails)
        });
        let tails = tails.collect();
        let unseen = evidence
            .stories
            .iter()
            .filter(|story| story.admission.is_none());
        let leaves = unseen.filter_map(|story| Leave::of(evidence, story));
        let leaves = leaves.collect();
        Self {
            heads,
            tails,
            leaves,
            entries,
        }
    }

    /// The most that can go in before somebody at the door in a picture from a moment on: they have lower ordinals.
    fn most_before_line(&self, ordinal: u64, since: At) -> u64 {
        let left = self.leaves_between(0, ordinal, |leave| leave.done < since);
        let let_in = self.entries.iter();
        let let_in = let_in.filter(|(at, other)| *at < since && *other < ordinal);
        (ordinal - 1)
            .saturating_sub(left)
            .saturating_sub(let_in.count() as u64)
    }

    /// The least and the most that can be ahead of an ordinal in a picture from between two moments.
    fn bounds(&self, ordinal: u64, since: At, until: At) -> (u64, u64) {
        let before = self.heads.partition_point(|(at, _)| *at < since);
        let head = before.checked_sub(1).map_or(0, |last| self.heads[last].1);
        let left = self.leaves_between(head, ordinal, |leave| leave.done < since);
        let most = (ordinal - 1).saturating_sub(head).saturating_sub(left);
        let Some(tail) = self.tail(since, until) else {
            return (0, most);
        };
        let leaving = self.leaves_between(tail.saturating_sub(1), ordinal, |leave| {
            leave.tried <= until
        });
        (ordinal.saturating_sub(tail).saturating_sub(leaving), most)
    }

    /// The lowest ordinal that is certainly in line in a picture from between two moments.
    fn tail(&self, since: At, until: At) -> Option<u64> {
        let mut tails = self.tails.iter();
        let (_, tails) = tails.find(|((from, to), _)| *from <= since && until < *to)?;
        let after = tails.partition_point(|(at, _)| *at > until);
        Some(tails[after.checked_sub(1)?].1)
    }

    fn leaves_between(&self, after: u64, before: u64, is: impl Fn(&Leave) -> bool) -> u64 {
        let between = |leave: &&Leave| after < leave.ordinal && leave.ordinal < before;
        let leaves = self.leaves.iter().filter(between);
        leaves.filter(|leave| is(leave)).count() as u64
    }
}

impl Leave {
    fn of(evidence: &Evidence<'_>, story: &Story<'_>) -> Option<Self> {
        let done = story.ends().map(|record| record.t1).min();
        // What every node that knew it could not tell a store may be undone.
        let lost = evidence.lost_with(Known::InMemory, &knowing(story.ends()), At::MAX);
        // The ordinal may be of somebody else by then.
        let given_again = evidence.lost_with(Known::OnDisk, &story.known_to(), At::MAX);
        let tried = story.leave().map(|leave| leave.t0);
        Some(Self {
            ordinal: story.ordinal,
            tried: tried.or(done)?,
            done: done.filter(|_| !lost && !given_again).unwrap_or(At::MAX),
        })
    }
}

/// Keeps the entries that are better than all before them.
fn keep_records(entries: &mut Vec<(At, u64)>, is_better: impl Fn(u64, u64) -> bool) {
    let mut best = None;
    entries.retain(|(_, ordinal)| {
        let keep = best.is_none_or(|best| is_better(*ordinal, best));
        if keep {
            best = Some(*ordinal);
        }
        keep
    });
}
