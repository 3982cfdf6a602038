//! Accepted connections for which there is no place yet.
//!
//! Accepting never stops because many wait, since the connections of this machine have places of their
//! own and come through the same listener. So when too many wait, one is closed: the newest of the
//! address that has the most of them.

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{io::ReadBuf, net::TcpStream, time::Instant};

use crate::{client::Block, occupancy::Peer};

/// How often connections are removed whose client has given up.
const SWEEP_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) stream: TcpStream,
    pub(super) address: SocketAddr,
    pub(super) peer: Peer,
}

/// Both lines are served in their order.
#[derive(Debug)]
pub(super) struct Waiting {
    of_this_machine: VecDeque<Entry>,
    of_others: VecDeque<Entry>,
    /// Of each line.
    max: usize,
    /// Connections of each address in `of_others`, without proxies.
    by_block: HashMap<Block, usize>,
    swept_at: Instant,
}

/// Which line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    OfThisMachine,
    OfOthers,
}

impl Line {
    pub(super) fn of(peer: Peer) -> Self {
        match peer {
            Peer::ThisMachine => Self::OfThisMachine,
            Peer::Proxy | Peer::Other(_) => Self::OfOthers,
        }
    }
}

impl Waiting {
    pub(super) fn new(max: usize) -> Self {
        Self {
            of_this_machine: VecDeque::new(),
            of_others: VecDeque::new(),
            max,
            by_block: HashMap::new(),
            swept_at: Instant::now(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.of_this_machine.len() + self.of_others.len()
    }

    pub(super) fn is_empty(&self, line: Line) -> bool {
        match line {
            Line::OfThisMachine => self.of_this_machine.is_empty(),
            Line::OfOthers => self.of_others.is_empty(),
        }
    }

    /// Lets a connection wait behind the others, and closes one if too many wait then.
    pub(super) fn push(&mut self, stream: TcpStream, address: SocketAddr, peer: Peer) {
        let entry = Entry {
            stream,
            address,
            peer,
        };
        match Line::of(peer) {
            Line::OfThisMachine => {
                self.of_this_machine.push_back(entry);
                self.of_this_machine.truncate(self.max);
            }
            Line::OfOthers => {
                self.count(peer);
                self.of_others.push_back(entry);
                if self.of_others.len() > self.max {
                    self.close_one();
                }
            }
        }
    }

    /// Takes the first connection of a line out of it.
    pub(super) fn pop(&mut self, line: Line) -> Option<Entry> {
        if line == Line::OfThisMachine {
            return self.of_this_machine.pop_front();
        }
        let entry = self.of_others.pop_front()?;
        self.discount(entry.peer);
        Some(entry)
    }

    /// Puts a connection back that [`Waiting::pop`] took.
    pub(super) fn put_back(&mut self, entry: Entry) {
        match Line::of(entry.peer) {
            Line::OfThisMachine => self.of_this_machine.push_front(entry),
            Line::OfOthers => {
                self.count(entry.peer);
                self.of_others.push_front(entry);
            }
        }
    }

    /// Removes connections whose client has given up, but not each time it is called.
    pub(super) fn sweep(&mut self) {
        let now = Instant::now();
        if now < self.swept_at + SWEEP_EVERY {
            return;
        }
        self.swept_at = now;
        self.of_this_machine.retain(|entry| !entry.has_ended());
        let mut ended = Vec::new();
        self.of_others.retain(|entry| {
            let has_ended = entry.has_ended();
            if has_ended {
                ended.push(entry.peer);
            }
            !has_ended
        });
        for peer in ended {
            self.discount(peer);
        }
    }

    /// Closes the newest of the address that has the most; proxies speak for many, and are last.
    fn close_one(&mut self) {
        let most = self.by_block.values().max();
        let newest = self.of_others.iter().rposition(|entry| match entry.peer {
            Peer::Other(block) => self.by_block.get(&block) == most,
            Peer::ThisMachine | Peer::Proxy => most.is_none(),
        });
        let entry = newest.and_then(|newest| self.of_others.remove(newest));
        if let Some(entry) = entry {
            self.discount(entry.peer);
        }
    }

    fn count(&mut self, peer: Peer) {
        if let Peer::Other(block) = peer {
            *self.by_block.entry(block).or_default() += 1;
        }
    }

    fn discount(&mut self, peer: Peer) {
        if let Peer::Other(block) = peer
            && let Some(count) = self.by_block.get_mut(&block)
        {
            *count -= 1;
            if *count == 0 {
                self.by_block.remove(&block);
            }
        }
    }
}

impl Entry {
    /// Whether the peer has ended the connection without a request.
    fn has_ended(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let mut first = [0];
        match self
            .stream
            .poll_peek(&mut context, &mut ReadBuf::new(&mut first))
        {
            Poll::Ready(Ok(peeked)) => peeked == 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }
}
