//! Files whose changes are taken up while the server runs.

use std::{
    fmt::{self, Display},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
        let followed = Self::filling(what, path, Arc::clone(&slot), read);
        Ok((slot, Self { stamp, ..followed }))
    }

    /// As [`Followed::open`], for a slot that was filled a moment ago.
    pub(crate) fn filling<T, E>(
        what: &'static str,
        path: PathBuf,
        slot: Arc<ArcSwap<T>>,
        read: impl Fn() -> Result<T, E> + Send + 'static,
    ) -> Self
    where
        T: Send + Sync + 'static,
        E: Display,
    {
        let take_up = Box::new(move || {
            let fresh = read().map_err(|error| error.to_string())?;
            slot.store(Arc::new(fresh));
            Ok(())
        });
        Self {
            what,
            stamp: stamp(&path),
            path,
            take_up,
        }
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

/// All files that are followed.
#[derive(Debug, Clone)]
pub(crate) struct Following(Arc<Mutex<Vec<Followed>>>);

impl Following {
    pub(crate) fn of(files: Vec<Followed>) -> Self {
        Self(Arc::new(Mutex::new(files)))
    }

    /// Takes up what has changed.
    pub(crate) fn look(&self) {
        self.files().iter_mut().for_each(Followed::look);
    }

    /// Follows a file instead of the one that held the same, if there was one.
    pub(crate) fn replace(&self, followed: Followed) {
        let mut files = self.files();
        files.retain(|file| file.what != followed.what);
        files.push(followed);
    }

    /// Takes up changes for ever.
    pub(crate) async fn run(self) {
        loop {
            tokio::time::sleep(LOOK).await;
            self.look();
        }
    }

    fn files(&self) -> MutexGuard<'_, Vec<Followed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
