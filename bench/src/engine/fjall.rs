//! fjall: a log-structured merge tree with its own journal.

use std::{path::Path, sync::Arc};

use fjall::{
    Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode, compaction::Leveled,
};

use super::{Engine, Join};
use crate::Result;

struct Fjall {
    database: Database,
    /// Rows and header share a keyspace: a second one, seldom flushed, would hold up old journals.
    places: Keyspace,
}

/// Shorter than an ordinal, hence before all of them.
const HEADER_KEY: [u8; 1] = [0];

pub(super) fn open(directory: &Path) -> Result<Box<dyn Engine>> {
    // What keeps the files small and the restart short, of what can be set; the journal of 64 MB cannot.
    let database = Database::builder(directory)
        .worker_threads(1)
        .max_journaling_size(64 << 20)
        .open()?;
    let places = database.keyspace("places", || {
        KeyspaceCreateOptions::default()
            .max_memtable_size(16 << 20)
            .compaction_strategy(Arc::new(Leveled::default().with_table_target_size(4 << 20)))
    })?;
    Ok(Box::new(Fjall { database, places }))
}

impl Engine for Fjall {
    fn commit(&mut self, first_ordinal: u64, joins: &[Join], header: &[u8]) -> Result<()> {
        let mut batch = OwnedWriteBatch::with_capacity(self.database.clone(), joins.len() + 1)
            .durability(Some(PersistMode::SyncData));
        for (ordinal, join) in (first_ordinal..).zip(joins) {
            batch.insert(&self.places, ordinal.to_be_bytes(), join.visitor.as_str());
        }
        batch.insert(&self.places, HEADER_KEY, header);
        Ok(batch.commit()?)
    }
}
