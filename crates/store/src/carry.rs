//! Carrying a room from one store to another, whole or not at all.
//!
//! At no moment do two stores take changes of the room: it is frozen where it is, arrives frozen where it goes,
//! is compared there with what left, and only then does the other one let go of it.

use std::{
    collections::hash_map::DefaultHasher,
    fmt,
    hash::{Hash, Hasher},
};

use ropeline_core::{Bits, Live, RoomId, Saved};
use thiserror::Error;

use crate::{Store, StoreError};

/// Why a room takes no change: it is on its way, or elsewhere. Each names the other store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freeze {
    /// It is being carried to that store.
    Leaving(String),
    /// It was carried to that store, and lives there.
    Left(String),
    /// It is being carried here from that store, and may not be whole yet.
    Arriving(String),
}

impl Freeze {
    /// As it is written down.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Leaving(store) => format!("leaving {store}"),
            Self::Left(store) => format!("left {store}"),
            Self::Arriving(store) => format!("arriving {store}"),
        }
    }

    /// What was written down. Whoever wrote something else has frozen the room all the same.
    pub(crate) fn of_text(text: &str) -> Self {
        match text.split_once(' ') {
            Some(("left", store)) => Self::Left(store.to_owned()),
            Some(("arriving", store)) => Self::Arriving(store.to_owned()),
            Some(("leaving", store)) => Self::Leaving(store.to_owned()),
            _ => Self::Leaving(text.to_owned()),
        }
    }
}

impl fmt::Display for Freeze {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaving(store) => write!(f, "is being moved to {store}"),
            Self::Left(store) => write!(f, "has moved to {store}"),
            Self::Arriving(store) => write!(f, "is being moved here from {store}"),
        }
    }
}

/// What an arriving room may take the place of, beside a deleted room of no later epoch, an arrival that came to
/// no end, and what the same room left behind when it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Nothing else.
    Nothing,
    /// A room in which nobody has ever joined. A node that knows that one must not be running: it would take
    /// the arrival for an older room of the name.
    Empty,
}

/// What there is of a room, for comparing what arrived with what left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each is what its name says, in places or entries"
)]
pub struct Inventory {
    pub issued: u64,
    pub head: u64,
    pub in_line: u64,
    pub inside: u64,
    pub at_door: u64,
    pub aside: u64,
    pub gone: u64,
    pub done: u64,
    pub imported: u64,
    pub claimed: u64,
    pub seen: u64,
    pub keys: u64,
    /// Digest of everything that must arrive as it left: who is where until when, and the rest of the room.
    pub digest: u64,
}

impl Inventory {
    /// Takes stock of a room.
    pub fn of(saved: &Saved) -> Self {
        let header = &saved.header;
        let count = |wanted: fn(&Live) -> bool| {
            let places = saved.places.iter().filter(|place| wanted(&place.live));
            places.count() as u64
        };
        let members = |bits: &Bits| bits.count(header.base.0 + 1..header.issued.0 + 1);
        Self {
            issued: header.issued.0,
            head: header.head.0,
            in_line: count(|live| *live == Live::InLine),
            inside: count(|live| matches!(live, Live::Inside(_))),
            at_door: count(|live| matches!(live, Live::AtDoor { .. })),
            aside: count(|live| matches!(live, Live::Aside(_))),
            gone: members(&saved.gone),
            done: members(&saved.done),
            imported: members(&saved.imported),
            claimed: members(&saved.claimed),
            seen: saved.seen.iter().map(|(_, bits)| members(bits)).sum(),
            keys: saved.keys.len() as u64,
            digest: digest(saved),
        }
    }
}

/// The same for two rooms that differ in nothing but where they are: the server, the version and the clock are
/// those of their stores.
fn digest(saved: &Saved) -> u64 {
    let mut hasher = DefaultHasher::new();
    let header = &saved.header;
    let numbers = [header.epoch.0, header.issued.0, header.head.0];
    (numbers, header.floor, header.base, header.paused).hash(&mut hasher);
    let lost = header.lost.map(|lost| (lost.after, lost.until));
    (lost, header.joins_held_until, header.imported_until).hash(&mut hasher);
    (header.stock, header.stock_version).hash(&mut hasher);
    let tick = header.tick;
    (tick.start, tick.admitted, tick.extra).hash(&mut hasher);
    (
        header.presence.number,
        header.keys.number,
        header.keys.started,
    )
        .hash(&mut hasher);
    let words = (
        header.state,
        &header.policy,
        header.counters,
        &header.digest,
    );
    format!("{words:?}").hash(&mut hasher);
    let mut places: Vec<_> = saved.places.iter().collect();
    places.sort_unstable_by_key(|place| place.ordinal);
    for place in places {
        place.ordinal.hash(&mut hasher);
        place.visitor.hash(&mut hasher);
        match place.live {
            Live::InLine => 0_u8.hash(&mut hasher),
            Live::AtDoor { .. } => 1_u8.hash(&mut hasher),
            Live::Aside(until) => (2_u8, until).hash(&mut hasher),
            Live::Inside(pass) => (3_u8, pass.expires_at, pass.since).hash(&mut hasher),
        }
    }
    for bits in [&saved.gone, &saved.done, &saved.imported, &saved.claimed] {
        hash_bits(bits, header.base.0, &mut hasher);
    }
    let mut seen: Vec<_> = saved.seen.iter().collect();
    seen.sort_unstable_by_key(|(round, _)| *round);
    for (round, bits) in seen {
        round.hash(&mut hasher);
        hash_bits(bits, header.base.0, &mut hasher);
    }
    let mut keys: Vec<_> = saved
        .keys
        .iter()
        .map(|(round, key)| (*round, key.key, key.body))
        .collect();
    keys.sort_unstable();
    keys.hash(&mut hasher);
    hasher.finish()
}

/// What lies at or below `base` is forgotten, in some stores sooner than in others.
fn hash_bits(bits: &Bits, base: u64, hasher: &mut DefaultHasher) {
    for member in bits.iter_from(base + 1) {
        member.hash(hasher);
    }
    u64::MAX.hash(hasher);
}

/// Why a room was not carried, or not to its end.
#[derive(Debug, Error)]
pub enum CarryError {
    /// The room to be carried cannot be.
    #[error("{store}: {cause}")]
    From {
        /// Where it is.
        store: String,
        /// Why not.
        cause: StoreError,
    },
    /// The other store does not take it.
    #[error("{store}: {cause}")]
    To {
        /// Where it was to go.
        store: String,
        /// Why not.
        cause: StoreError,
    },
    /// There is one of that name.
    #[error("{store} has a room {room} already, and it is left as it is")]
    Occupied {
        /// Where it was to go.
        store: String,
        /// Which room.
        room: RoomId,
    },
    /// What arrived is not what left.
    #[error(
        "{store} does not have the room {room} as it left: {arrived:?} in the place of {left:?}"
    )]
    Differs {
        /// Where it was to go.
        store: String,
        /// Which room.
        room: RoomId,
        /// What left.
        left: Box<Inventory>,
        /// What arrived.
        arrived: Box<Inventory>,
    },
}

/// A store and how it is called.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Without a password: it is written down and shown.
    pub name: &'a str,
}

/// What is being done to a room that is carried, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Stage {
    Freezing,
    Reading,
    Writing,
    Checking,
    Switching,
}

/// Carries a room. Where it fails, the room is as it was in the store that it is in; only an end of this process
/// leaves it frozen, and carrying it again, or thawing it, goes on from there.
pub async fn carry(
    room: &RoomId,
    from: Named<'_>,
    to: Named<'_>,
    over: Over,
    stage: impl Fn(Stage),
) -> Result<Inventory, CarryError> {
    let leaving = |cause| CarryError::From {
        store: from.name.to_owned(),
        cause,
    };
    stage(Stage::Freezing);
    let before = from.store.frozen(room).await.map_err(leaving)?;
    let freeze = Freeze::Leaving(to.name.to_owned());
    from.store.freeze(room, freeze).await.map_err(leaving)?;
    let arrived = arrive(room, from, to, over, &stage).await;
    if arrived.is_err() {
        let undone = match before {
            Some(before) => from.store.freeze(room, before).await,
            None => from.store.thaw(room).await.map(drop),
        };
        undone.map_err(leaving)?;
    }
    let inventory = arrived?;
    stage(Stage::Switching);
    let left = Freeze::Left(to.name.to_owned());
    from.store.freeze(room, left).await.map_err(leaving)?;
    let thawed = to.store.thaw(room).await;
    thawed.map_err(|cause| CarryError::To {
        store: to.name.to_owned(),
        cause,
    })?;
    Ok(inventory)
}

/// Brings a frozen room to the other store, where it stays frozen, and looks whether it is all there.
async fn arrive(
    room: &RoomId,
    from: Named<'_>,
    to: Named<'_>,
    over: Over,
    stage: &impl Fn(Stage),
) -> Result<Inventory, CarryError> {
    stage(Stage::Reading);
    let exported = from.store.export(room).await;
    let saved = exported.map_err(|cause| CarryError::From {
        store: from.name.to_owned(),
        cause,
    })?;
    let left = Inventory::of(&saved);
    let arriving = |cause| CarryError::To {
        store: to.name.to_owned(),
        cause,
    };
    stage(Stage::Writing);
    let adopted = to.store.adopt(room, saved, from.name, over).await;
    if !adopted.map_err(arriving)? {
        return Err(CarryError::Occupied {
            store: to.name.to_owned(),
            room: room.clone(),
        });
    }
    stage(Stage::Checking);
    let arrived = Inventory::of(&to.store.export(room).await.map_err(arriving)?);
    if arrived != left {
        return Err(CarryError::Differs {
            store: to.name.to_owned(),
            room: room.clone(),
            left: Box::new(left),
            arrived: Box::new(arrived),
        });
    }
    Ok(left)
}
