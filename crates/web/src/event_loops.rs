//! Threads that serve connections, each its own.

use std::{
    io, iter,
    thread::{self, JoinHandle},
};

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

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
        // Whoever else is about to run on this core may have something for the loop, so it lets them go first: to find more
        // is cheaper than to sleep and to be woken. Where nobody is, that is a call of the system for each sleep.
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(thread::yield_now)
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
