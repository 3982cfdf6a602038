//! What the disk does to whoever waits for it, with nobody else there.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{
    Result,
    stats::{self, Run, Tally},
};

/// As large as the journal of the rooms, which is written over in the same way.
const FILE_BYTES: usize = 4 << 20;
const RECORD_BYTES: usize = 1_024;
/// About as often as the server syncs in the load test.
const EVERY: Duration = Duration::from_millis(3);

/// Writes a kilobyte and syncs it, again and again, with pauses as long as a server that is not busy has.
pub(crate) fn sync_for(length: Duration, directory: &Path) -> Result<Run> {
    let mut file = tempfile::tempfile_in(directory)?;
    file.write_all(&vec![1; FILE_BYTES])?;
    file.sync_all()?;
    let mut tally = Tally::default();
    let started = Instant::now();
    for start in (0..FILE_BYTES).step_by(RECORD_BYTES).cycle() {
        if started.elapsed() >= length {
            break;
        }
        let began = Instant::now();
        sync_one(&mut file, start)?;
        tally.waits.push(stats::micros(began.elapsed()));
        thread::sleep(EVERY);
    }
    tally.elapsed = started.elapsed();
    Ok(tally.into())
}

fn sync_one(file: &mut File, start: usize) -> Result<()> {
    file.seek(SeekFrom::Start(start as u64))?;
    file.write_all(&[2; RECORD_BYTES])?;
    file.sync_data()?;
    Ok(())
}
