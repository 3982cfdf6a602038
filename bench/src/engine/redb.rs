//! redb: a copy-on-write tree in one file.

use std::path::Path;

use redb::{Database, TableDefinition};

use super::{Engine, Join};
use crate::Result;

const PLACES: TableDefinition<'_, u64, &str> = TableDefinition::new("places");

/// A table of its own: a header behind the last place would split every page of places in halves.
const ROOMS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("rooms");

/// The default is a gigabyte.
const CACHE_BYTES: usize = 64 << 20;

struct Redb {
    database: Database,
    quick_repair: QuickRepair,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QuickRepair {
    /// A crash is repaired by reading the whole file.
    Off,
    /// A crash costs nothing at the next start; every commit syncs twice.
    On,
}

pub(super) fn open(directory: &Path) -> Result<Box<dyn Engine>> {
    open_with(directory, QuickRepair::Off)
}

pub(super) fn open_quick_repair(directory: &Path) -> Result<Box<dyn Engine>> {
    open_with(directory, QuickRepair::On)
}

fn open_with(directory: &Path, quick_repair: QuickRepair) -> Result<Box<dyn Engine>> {
    let database = Database::builder()
        .set_cache_size(CACHE_BYTES)
        .create(directory.join("places.redb"))?;
    Ok(Box::new(Redb {
        database,
        quick_repair,
    }))
}

impl Engine for Redb {
    fn commit(&mut self, first_ordinal: u64, joins: &[Join], header: &[u8]) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_quick_repair(self.quick_repair == QuickRepair::On);
        {
            let mut places = transaction.open_table(PLACES)?;
            for (ordinal, join) in (first_ordinal..).zip(joins) {
                places.insert(ordinal, join.visitor.as_str())?;
            }
            transaction.open_table(ROOMS)?.insert("main", header)?;
        }
        // Durability::Immediate is the default: one fdatasync.
        Ok(transaction.commit()?)
    }
}
