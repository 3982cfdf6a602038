//! Threads that serve connections, each its own.

use std::{
    cell::Cell,
    io, iter,
    thread::{self, JoinHandle},
};

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// A loop to which so many requests have come since it slept last is busy.
const BUSY: u32 = 3;

thread_local! {
    /// Requests since the loop of this thread slept last.
    static REQUESTS: Cell<u32> = const { Cell::new(0) };
}

/// An event loop for each processor.
///
/// A connection stays with the one that it was dealt to, and so does all that is done for it, as far as nobody else has
/// a part in it: nothing moves from core to core, and no core has to wake another.
#[derive(Debug)]
pub struct EventLoops(Vec<EventLoop>);

#[derive(Debug)]
struct EventLoop {
    handle: Handle,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl EventLoops {
    /// Starts them. What was made on one of them, such as a connection to a database, is of use as long as they are there.
    pub fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let loops = iter::repeat_with(EventLoop::start).take(count);
        Ok(Self(loops.collect::<Result<_, _>>()?))
    }

    /// The one with the least to do, where the next connection is served.
    pub(crate) fn idlest(&self) -> &Handle {
        let handles = self.0.iter().map(|event_loop| &event_loop.handle);
        let idlest = handles.min_by_key(|handle| handle.metrics().num_alive_tasks());
        idlest.expect("there is one for each processor")
    }
}

impl EventLoop {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(let_others_go_first)
            .build()?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread = thread::Builder::new().name("connections".into());
        let thread = thread.spawn(move || runtime.block_on(stopped.cancelled()))?;
        Ok(Self {
            handle,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for EventLoop {
    /// What still runs on it ends here.
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Notes that a request has come to the loop of this thread, if it is one.
pub(crate) fn note_request() {
    REQUESTS.set(REQUESTS.get().saturating_add(1));
}

/// A loop that is busy lets whoever else wants its core go first before it sleeps: they may have something for it, and to
/// find that is cheaper than to sleep and to be woken. One that has little to do sleeps at once, and is woken as soon as
/// there is something, also where others would not let go of the core.
fn let_others_go_first() {
    if was_busy() {
        thread::yield_now();
    }
}

/// Whether the loop of this thread was busy since this was asked last.
fn was_busy() -> bool {
    REQUESTS.replace(0) >= BUSY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_busy_by_what_has_come_since_it_slept_last() {
        for (requests, busy) in [(0, false), (BUSY - 1, false), (BUSY, true), (1, false)] {
            (0..requests).for_each(|_| note_request());
            assert_eq!(was_busy(), busy, "{requests}");
        }
    }
}
