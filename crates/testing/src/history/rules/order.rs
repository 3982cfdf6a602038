//! Order: of joins by real time, and of admissions by ordinal.

use super::{Rule, Violation};
use crate::history::{
    SLACK,
    evidence::{Evidence, Known, Story},
    record::Record,
};

/// W4: walks from the last ordinal to the first and keeps the earliest answer above: nobody below may have
/// asked after it, unless the one above was lost with every node that knew it.
pub(super) fn joined_in_order(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut broken = Vec::new();
    let mut first: Option<&Story<'_>> = None;
    for story in evidence.stories.iter().rev() {
        let above = first.filter(|above| above.ordinal > story.ordinal);
        let above = above.filter(|above| {
            above.acknowledged < story.asked
                && !evidence.lost_with(Known::OnDisk, &above.known_to(), story.acknowledged)
        });
        if let Some(above) = above {
            let what = format!(
                "{} was answered with {} before {} asked for {}",
                above.user, above.ordinal, story.user, story.ordinal
            );
            broken.push(Rule::W4.broken(what, [above.join, story.join]));
        }
        if first.is_none_or(|first| story.acknowledged < first.acknowledged) {
            first = Some(story);
        }
    }
    broken
}

/// W5: nobody who was certainly present when a later one was let in still waits when that shows, or is let in
/// after them.
pub(super) fn admitted_in_order(evidence: &Evidence<'_>) -> Vec<Violation> {
    let admissions: Vec<_> = evidence.admissions().collect();
    let mut broken = Vec::new();
    for story in &evidence.stories {
        let decided = story.admission.and_then(|admission| admission.decided);
        let overtaken_by = admissions.iter().find(|(other, admission)| {
            let (from, to) = admission.decision();
            let still_waits = story.waits.cover(from, admission.latest);
            let comes_later = admission
                .decided
                .zip(decided)
                .is_some_and(|(theirs, ours)| theirs + 2 * SLACK < ours);
            other.ordinal > story.ordinal
                && (still_waits || comes_later)
                && story.present.cover(from, to)
        });
        if let Some((other, admission)) = overtaken_by {
            let what = format!(
                "{} of {} still waits, and {} of {} has come in by {:.3?}",
                story.ordinal, story.user, other.ordinal, other.user, admission.latest
            );
            broken.push(Rule::W5.broken(what, [admission.seen, last_waiting(story)]));
        }
    }
    broken
}

fn last_waiting<'h>(story: &Story<'h>) -> &'h Record {
    let last = story.waiting().max_by_key(|(since, _)| *since);
    last.map_or(story.join, |(_, record)| record)
}
