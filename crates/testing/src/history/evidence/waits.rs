//! When a place certainly waits.

use super::{Admission, Evidence, Spans, Story};
use crate::history::record::At;

impl Evidence<'_> {
    /// Who waits at two moments waits between them: whoever was let in does not wait again. But where the store
    /// has forgotten in between, they may have been inside, and be at the door.
    pub(super) fn waits_of(&self, story: &Story<'_>, admission: Option<Admission<'_>>) -> Spans {
        let first_inside = story.inside().map(|record| record.t1).min();
        let seen = story
            .waiting()
            .filter(|(_, record)| first_inside.is_none_or(|inside| record.t0 < inside))
            .map(|(since, record)| (since, record.t1));
        let admission = admission.map(|at| (at.earliest, at.latest));
        let seen: Vec<_> = seen.chain(admission).collect();
        let spans = self.memories().filter_map(|(from, to)| {
            let within = seen
                .iter()
                .filter(|(since, until)| from <= *since && *until <= to);
            let first = within.clone().map(|(_, until)| *until).min()?;
            let last = within.map(|(since, _)| *since).max()?;
            Some((first, last))
        });
        Spans::of(spans.collect())
    }

    /// From one forgetting to the next.
    fn memories(&self) -> impl Iterator<Item = (At, At)> {
        let forgettings = self.forgettings().map(|outage| (outage.from, outage.to));
        Spans::of(forgettings.collect()).between()
    }
}
