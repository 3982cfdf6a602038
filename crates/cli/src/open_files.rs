//! How many files, and so connections, this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open beside connections: the store, the log, the runtime's own.
const OTHER_FILES: u64 = 64;

/// The system allows fewer open files than are needed.
#[derive(Debug)]
pub(crate) struct TooFew {
    pub(crate) allowed: u64,
}

/// Asks for as many open files as so many connections need, since many systems allow a process 1,024
/// unless it asks for more.
pub(crate) fn allow(connections: usize) -> Result<(), TooFew> {
    let wanted = connections as u64 + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX).min(wanted);
    if limit.current.is_some_and(|current| current < most) {
        let raised = Rlimit {
            current: Some(most),
            ..limit
        };
        // Whether it worked is seen below.
        setrlimit(Resource::Nofile, raised).ok();
    }
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if allowed < wanted {
        return Err(TooFew { allowed });
    }
    Ok(())
}
