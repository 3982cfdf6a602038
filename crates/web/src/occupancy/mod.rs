//! How many connections may be open, and who gives way when they are many.
//!
//! One peer that opens connections and lets them lie would keep everybody else out. So from three
//! quarters of `connections_max` on, idle connections are closed: those of the addresses that hold the
//! most come first, the longest idle before the others, and the fuller the server is, the sooner. There
//! is no low limit for one address, because thousands of phones share the address of their carrier.
//!
//! A connection is idle while only its peer can make it go on: between requests, before the first byte,
//! in a head that trickles, in a body that does not arrive, and in an answer that is not taken. Bodies
//! and answers have a grace, but not those of addresses with many connections while no place is left:
//! one peer could keep all its connections in it. A request that a handler works on is never cut.

mod activity;
mod sources;

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

pub(crate) use self::activity::{Activity, Wait};
use self::{
    activity::millis,
    sources::{Rank, Sources},
};
use crate::{Limits, TrustedProxies, client::Block};

/// Idle connections are safe while at most this share of the places is taken, in quarters.
const SAFE_QUARTERS: usize = 3;
/// A connection is idle for at least this long before it is closed, unless no place is left and its
/// address has many. Less, and browsers would have to connect again for each picture of a page.
const IDLE_MIN: Duration = Duration::from_secs(1);
/// Connections that one newcomer has others looked at for; each look takes about a microsecond.
const LOOKS: u32 = 64;
/// Connections that are closed at once at most.
const CLOSING_MAX: usize = 64;
/// How often an operator is told that connections are closed to make room.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// How many connections of one server are open.
#[derive(Clone, Debug, Default)]
pub struct OpenConnections(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    open: AtomicUsize,
    made_room: AtomicU64,
}

impl OpenConnections {
    /// The number now.
    pub fn get(&self) -> usize {
        self.0.open.load(Relaxed)
    }

    /// How many idle ones were closed so far to make room for others.
    pub fn closed_to_make_room(&self) -> u64 {
        self.0.made_room.load(Relaxed)
    }
}

/// Whose connections have a right of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Privileged {
    /// Their connections are those of many visitors, and they reuse them.
    pub(crate) proxies: TrustedProxies,
    /// Networks that count as this machine, if not the loopback addresses.
    pub(crate) this_machine: Option<TrustedProxies>,
}

/// The open connections of one server.
#[derive(Debug)]
pub(crate) struct Occupancy {
    start: Instant,
    open_max: usize,
    reserve: usize,
    per_address: usize,
    idle: Duration,
    privileged: Privileged,
    counts: OpenConnections,
    state: Mutex<State>,
    /// A place is free.
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    /// Of this machine, beyond `open_max`.
    in_reserve: usize,
    sources: Sources,
    closing: Vec<Arc<Activity>>,
    /// Number of the last connection.
    last: u64,
    warned_at: Option<Instant>,
}

/// What becomes of a new connection.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is served.
    Open(Place),
    /// It waits until another one ends.
    Full,
    /// Its address holds as many as it may.
    TooMany,
}

/// Who a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    ThisMachine,
    Proxy,
    Other(Block),
}

/// One open connection; counted until dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Place {
    occupancy: Arc<Occupancy>,
    activity: Arc<Activity>,
    number: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Never closed to make room.
    Safe,
    /// As `Safe`, beyond `open_max`.
    Reserve,
    /// Closed when its turn comes.
    Listed(Block),
}

impl Occupancy {
    pub(crate) fn new(limits: &Limits, privileged: Privileged, counts: OpenConnections) -> Self {
        Self {
            start: Instant::now(),
            open_max: limits.connections_max,
            reserve: limits.reserve(),
            per_address: limits.connections_per_address,
            idle: limits.idle,
            privileged,
            counts,
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Takes in a connection of `peer`, if there is a place for it.
    pub(crate) fn admit(self: &Arc<Self>, peer: Peer) -> Admission {
        let mut state = self.lock();
        let full = state.open >= self.open_max;
        let kind = match peer {
            Peer::ThisMachine if full && state.in_reserve < self.reserve => Kind::Reserve,
            _ if full => return Admission::Full,
            Peer::ThisMachine | Peer::Proxy => Kind::Safe,
            Peer::Other(block) if self.make_room_at(block, &mut state) => Kind::Listed(block),
            Peer::Other(_) => return Admission::TooMany,
        };
        Admission::Open(self.place(kind, &mut state))
    }

    /// Closes connections that have been idle for too long, for so many newcomers that wait; says
    /// whether there may soon be more to close.
    pub(crate) fn make_room(&self, newcomers: usize) -> bool {
        let mut state = self.lock();
        let state = &mut *state;
        state.closing.retain(|activity| activity.has_to_close());
        let mut looks = LOOKS;
        loop {
            let taken = state.open + newcomers - state.closing.len().min(state.open);
            if taken <= self.safe() || looks == 0 || state.closing.len() >= CLOSING_MAX {
                return taken > self.safe();
            }
            let now = Instant::now();
            let heavy = self.fills_the_server(&state.sources);
            let idle_min = |rank, wait| match heavy {
                Some(heavy) if rank != heavy && taken <= self.open_max => u64::MAX,
                _ => self.idle_min(taken, rank, wait),
            };
            let now_ms = self.ms(now);
            let Some(idle) = state.sources.first_idle(now_ms, idle_min, &mut looks) else {
                return true;
            };
            if idle.activity.close(idle.waiting) {
                self.counts.0.made_room.fetch_add(1, Relaxed);
                if taken > self.open_max {
                    state.warn(idle.block, now);
                }
                state.closing.push(idle.activity);
            }
        }
    }

    /// Resolves when a place was freed since the last time.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    pub(crate) fn peer(&self, address: IpAddr) -> Peer {
        let address = address.to_canonical();
        let Privileged {
            proxies,
            this_machine,
        } = &self.privileged;
        let here = this_machine
            .as_ref()
            .map_or_else(|| address.is_loopback(), |here| here.contains(address));
        if here {
            Peer::ThisMachine
        } else if proxies.contains(address) {
            Peer::Proxy
        } else {
            Peer::Other(Block::of(address))
        }
    }

    /// Whether an address may have one more connection, if need be by closing an idle one of its own.
    fn make_room_at(&self, block: Block, state: &mut State) -> bool {
        if self.per_address == 0 || state.sources.held_by(block) < self.per_address {
            return true;
        }
        let now = self.ms(Instant::now());
        let mut looks = LOOKS;
        while let Some(idle) = state.sources.first_of(block, now, &mut looks) {
            if idle.activity.close(idle.waiting) {
                self.counts.0.made_room.fetch_add(1, Relaxed);
                return true;
            }
        }
        false
    }

    fn place(self: &Arc<Self>, kind: Kind, state: &mut State) -> Place {
        self.counts.0.open.fetch_add(1, Relaxed);
        state.last += 1;
        let activity = Arc::new(Activity::begin(self.start, self.ms(Instant::now())));
        match kind {
            Kind::Reserve => state.in_reserve += 1,
            Kind::Safe => state.open += 1,
            Kind::Listed(block) => {
                state.open += 1;
                state
                    .sources
                    .insert(block, state.last, Arc::clone(&activity));
            }
        }
        Place {
            occupancy: Arc::clone(self),
            activity,
            number: state.last,
            kind,
        }
    }

    /// How many connections may be open before idle ones are closed.
    fn safe(&self) -> usize {
        self.open_max / 4 * SAFE_QUARTERS + self.open_max % 4 * SAFE_QUARTERS / 4
    }

    /// The rank of an address without which a quarter of the places would be free. While it has to give
    /// way only to newcomers, because its connections are never idle for long, nobody else loses one.
    fn fills_the_server(&self, sources: &Sources) -> Option<Rank> {
        let (rank, held) = sources.heaviest()?;
        (held > self.open_max - self.safe()).then_some(rank)
    }

    /// For how many milliseconds a connection must have waited for its peer to be closed, where this
    /// many places are taken or wanted. The time falls from `limits.idle` evenly to [`IDLE_MIN`].
    fn idle_min(&self, taken: usize, rank: Rank, wait: Wait) -> u64 {
        let least = self.idle.min(IDLE_MIN).max(wait.grace());
        let idle = if taken <= self.open_max {
            let left = u32::try_from(self.open_max - taken).unwrap_or(u32::MAX);
            let last_quarter = u32::try_from(self.open_max - self.safe()).unwrap_or(u32::MAX);
            (self.idle / last_quarter.max(1) * left).max(least)
        } else if rank == Rank::SMALL {
            least
        } else {
            Duration::ZERO
        };
        u64::try_from(idle.as_millis()).unwrap_or(u64::MAX)
    }

    fn ms(&self, at: Instant) -> u64 {
        millis(self.start, at)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Says that one of this address had to be closed, but not each time.
    fn warn(&mut self, block: Block, now: Instant) {
        let due = self.warned_at.map(|warned| warned + WARN_EVERY);
        if due.is_some_and(|due| now < due) {
            return;
        }
        self.warned_at = Some(now);
        tracing::warn!(
            connections.open = self.open,
            client.address = %block,
            client.connections = self.sources.held_by(block),
            "no more connections may be open (limits.connections_max): idle ones are closed, first those of \
             the addresses that hold the most"
        );
    }
}

impl Place {
    /// What the connection's task keeps up to date.
    pub(crate) fn activity(&self) -> &Activity {
        &self.activity
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let occupancy = &self.occupancy;
        let mut state = occupancy.lock();
        match self.kind {
            Kind::Reserve => state.in_reserve -= 1,
            Kind::Safe => state.open -= 1,
            Kind::Listed(block) => {
                state.open -= 1;
                state.sources.remove(block, self.number, &self.activity);
            }
        }
        drop(state);
        self.activity.end();
        occupancy.counts.0.open.fetch_sub(1, Relaxed);
        occupancy.freed.notify_one();
    }
}
