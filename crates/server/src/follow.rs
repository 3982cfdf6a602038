//! Files whose changes are taken up while the server runs.

use std::{
    fmt::{self, Display},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;

/// How often a change is looked for.
const LOOK: Duration = Duration::from_secs(2);

/// A file, and what is done when it has changed.
pub(crate) struct Followed {
    /// What the file holds, in the plural.
    what: &'static str,
    path: PathBuf,
    stamp: Option<Stamp>,
    take_up: Box<dyn Fn() -> Result<(), String> + Send>,
}

/// When the file was last written, and its length, since clocks of file systems are coarse.
type Stamp = (SystemTime, u64);

impl Followed {
    /// Reads a file into a slot that is filled anew, by the same reading, whenever the file changes.
    pub(crate) fn open<T, E>(
        what: &'static str,
        path: PathBuf,
        read: impl Fn() -> Result<T, E> + Send + 'static,
    ) -> Result<(Arc<ArcSwap<T>>, Self), E>
    where
        T: Send + Sync + 'static,
        E: Display,
    {
        // Taken before the reading, so that no change falls between the two.
        let stamp = stamp(&path);
        let slot = Arc::new(ArcSwap::from_pointee(read()?));
        let filled = Arc::clone(&slot);
        let take_up = Box::new(move || {
            let fresh = read().map_err(|error| error.to_string())?;
            filled.store(Arc::new(fresh));
            Ok(())
        });
        let followed = Self {
            what,
            path,
            stamp,
            take_up,
        };
        Ok((slot, followed))
    }

    fn look(&mut self) {
        let now = stamp(&self.path);
        if now == self.stamp {
            return;
        }
        self.stamp = now;
        let what = self.what;
        match (self.take_up)() {
            Ok(()) => tracing::info!("the {what} have changed and were taken up"),
            Err(error) => tracing::error!(error, "the changed {what} were not taken up"),
        }
    }
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Followed").field(&self.path).finish()
    }
}

/// Takes up changes for ever.
pub(crate) async fn follow(mut files: Vec<Followed>) {
    loop {
        tokio::time::sleep(LOOK).await;
        files.iter_mut().for_each(Followed::look);
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
