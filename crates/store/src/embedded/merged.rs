//! Several batches as one: what is to be purged, and then what is to be written.

use std::{collections::BTreeMap, ops::Bound};

use ropeline_core::Ordinal;

use super::{
    book::BookError,
    rows::{Change, RoomNumber, changes},
};

/// What batches that follow each other come to.
#[derive(Debug, Default)]
pub(super) struct Merged<'a> {
    /// Rows from the first to the last of each, which go before `rows` are written.
    pub(super) purges: Vec<(&'a [u8], &'a [u8])>,
    pub(super) rows: BTreeMap<&'a [u8], &'a [u8]>,
    pub(super) places: BTreeMap<RoomNumber, Places<'a>>,
}

/// Places of one room: those up to `purge` go first, then each is written, or removed if it has no value.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    pub(super) purge: Option<Ordinal>,
    pub(super) rows: BTreeMap<Ordinal, Option<&'a [u8]>>,
}

impl<'a> Merged<'a> {
    /// Merges batches in the order in which they were written.
    pub(super) fn of(batches: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, BookError> {
        let mut merged = Self::default();
        for batch in batches {
            for change in changes(batch) {
                let nonsense = || BookError::Damaged("a change makes no sense".to_owned());
                merged.add(change.ok_or_else(nonsense)?);
            }
        }
        Ok(merged)
    }

    fn add(&mut self, change: Change<'a>) {
        match change {
            Change::Row { key, value } => drop(self.rows.insert(key, value)),
            Change::PurgeRows { first, last } => {
                let range = (Bound::Included(first), Bound::Included(last));
                let purged: Vec<_> = self
                    .rows
                    .range::<[u8], _>(range)
                    .map(|(key, _)| *key)
                    .collect();
                for key in purged {
                    self.rows.remove(key);
                }
                self.purges.push((first, last));
            }
            Change::Place {
                room,
                ordinal,
                value,
            } => {
                let places = self.places.entry(room).or_default();
                places.rows.insert(ordinal, value);
            }
            Change::PurgePlaces { room, last } => {
                let places = self.places.entry(room).or_default();
                places.rows.retain(|ordinal, _| *ordinal > last);
                places.purge = places.purge.max(Some(last));
            }
        }
    }

    /// Whether an older row with this key counts no more.
    pub(super) fn replaces_row(&self, key: &[u8]) -> bool {
        let purged = |(first, last): &(&[u8], &[u8])| (*first..=*last).contains(&key);
        self.rows.contains_key(key) || self.purges.iter().any(purged)
    }
}

impl Places<'_> {
    /// Whether an older row of this place counts no more.
    pub(super) fn replaces(&self, ordinal: Ordinal) -> bool {
        self.purge >= Some(ordinal) || self.rows.contains_key(&ordinal)
    }
}

#[cfg(test)]
mod tests {
    use ropeline_core::Live;

    use super::{
        super::rows::{Batch, Kind},
        *,
    };

    #[test]
    fn the_last_word_on_a_row_counts() {
        let mut first = Batch::default();
        first.place(0, Ordinal(1), Some(("u:ann", Live::InLine)));
        first.place(0, Ordinal(2), Some(("u:bob", Live::InLine)));
        let mut second = Batch::default();
        second.place(0, Ordinal(2), None);
        let merged = Merged::of([first.bytes(), second.bytes()]).unwrap();
        let places = &merged.places[&0];
        assert_eq!(places.rows[&Ordinal(1)], Some(b"\0u:ann".as_slice()));
        assert_eq!(places.rows[&Ordinal(2)], None);
        assert!(places.replaces(Ordinal(2)) && !places.replaces(Ordinal(3)));
    }

    #[test]
    fn a_purge_takes_what_came_before_it_and_nothing_after() {
        let mut batch = Batch::default();
        batch.place(0, Ordinal(1), Some(("u:ann", Live::InLine)));
        batch.block(0, Kind::Gone, &[1], &[0; 8]);
        batch.purge_room(0);
        batch.place(0, Ordinal(2), Some(("u:bob", Live::InLine)));
        batch.block(0, Kind::Gone, &[2], &[0; 8]);
        let merged = Merged::of([batch.bytes()]).unwrap();
        let places = &merged.places[&0];
        assert_eq!(
            places.rows.keys().copied().collect::<Vec<_>>(),
            [Ordinal(2)]
        );
        assert!(places.replaces(Ordinal(9)), "an older place is purged");
        assert_eq!(merged.rows.len(), 1);
        let old = [0, 0, 0, 0, Kind::Gone as u8, 0, 0, 0, 0, 0, 0, 0, 7];
        assert!(merged.replaces_row(&old), "an older row is purged");
    }
}
