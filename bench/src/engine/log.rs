//! The yardstick: a plain file, appended to and synced. No index, no recovery.

use std::{fs::File, io::Write as _, path::Path};

use super::{Engine, Join};
use crate::Result;

struct Log {
    file: File,
    record: Vec<u8>,
}

pub(super) fn open(directory: &Path) -> Result<Box<dyn Engine>> {
    let file = File::create(directory.join("log"))?;
    Ok(Box::new(Log {
        file,
        record: Vec::new(),
    }))
}

impl Engine for Log {
    fn commit(&mut self, first_ordinal: u64, joins: &[Join], header: &[u8]) -> Result<()> {
        self.record.clear();
        for (ordinal, join) in (first_ordinal..).zip(joins) {
            self.record.extend_from_slice(&ordinal.to_be_bytes());
            self.record.extend_from_slice(join.visitor.as_bytes());
        }
        self.record.extend_from_slice(header);
        self.file.write_all(&self.record)?;
        Ok(self.file.sync_data()?)
    }
}
