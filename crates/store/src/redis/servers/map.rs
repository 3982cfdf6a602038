//! Which slots are whose.

use std::{collections::BTreeMap, fmt, ops::RangeInclusive};

use super::super::{slot::Slot, url::Address};

/// Which slots are whose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Map {
    ranges: Vec<(RangeInclusive<Slot>, Address)>,
    /// What servers have said since.
    moved: BTreeMap<Slot, Address>,
}

impl Map {
    /// One server has everything.
    pub(super) fn of_one(server: Address) -> Self {
        Self::of_ranges(vec![(Slot(0)..=Slot::LAST, server)])
    }

    pub(super) fn of_ranges(mut ranges: Vec<(RangeInclusive<Slot>, Address)>) -> Self {
        ranges.sort_by_key(|(slots, _)| *slots.start());
        Self {
            ranges,
            moved: BTreeMap::new(),
        }
    }

    pub(super) fn owner(&self, slot: Slot) -> Option<&Address> {
        self.moved.get(&slot).or_else(|| {
            let found = self.ranges.iter().find(|(slots, _)| slots.contains(&slot));
            found.map(|(_, owner)| owner)
        })
    }

    pub(super) fn owners(&self) -> impl Iterator<Item = &Address> {
        let owners = self.ranges.iter().map(|(_, owner)| owner);
        owners.chain(self.moved.values())
    }

    pub(super) fn with_moved(&self, slot: Slot, to: Address) -> Self {
        let mut map = self.clone();
        map.moved.insert(slot, to);
        map
    }
}

/// The servers, each once.
impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owners: std::collections::BTreeSet<_> = self.owners().collect();
        for (at, owner) in owners.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{owner}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::url::{Address, Wire},
        *,
    };

    fn server(port: u16) -> Address {
        Address::Net {
            wire: Wire::Plain,
            host: "cache".into(),
            port,
        }
    }

    #[test]
    fn a_slot_that_moved_has_another_owner_and_the_others_do_not() {
        let map = Map::of_ranges(vec![
            (Slot(10)..=Slot::LAST, server(2)),
            (Slot(0)..=Slot(9), server(1)),
        ]);
        let moved = map.with_moved(Slot(9), server(2));
        let owners = |map: &Map| [8, 9, 10, 16_383].map(|slot| map.owner(Slot(slot)).cloned());
        assert_eq!(owners(&map), [1, 1, 2, 2].map(|port| Some(server(port))));
        assert_eq!(owners(&moved), [1, 2, 2, 2].map(|port| Some(server(port))));
        assert_eq!(Map::default().owner(Slot(3)), None);
        assert_eq!(map.to_string(), "cache:1, cache:2");
    }
}
