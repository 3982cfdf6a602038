//! Writing a room.

use redis::{Cmd, ToRedisArgs};
use ropeline_core::{Bits, Live, Saved, SavedPlace};

use super::{
    super::{keys::RoomKeys, member::Member},
    PAGE, PAGE_BYTES,
};

/// The commands that write the places of a room and what belongs to them.
pub(super) fn commands(keys: &RoomKeys, saved: &Saved) -> Vec<Cmd> {
    let base = saved.header.base.0;
    let mut commands = places(keys, &saved.places);
    for (part, bits) in [
        ("gone", &saved.gone),
        ("done", &saved.done),
        ("imported", &saved.imported),
        ("claimed", &saved.claimed),
    ] {
        commands.extend(bitmap(keys.part(part), bits, base));
    }
    for (round, bits) in &saved.seen {
        let part = format!("seen{}", round % 3);
        commands.extend(bitmap(keys.part(&part), bits, base));
    }
    for round in 0..2 {
        let of_round = saved.keys.iter().filter(|(of, _)| of % 2 == round);
        let entries =
            of_round.map(|(_, key)| (format!("{:032x}", key.key), format!("{:016x}", key.body)));
        let key = keys.part(&format!("keys{round}"));
        commands.extend(pairs("HSET", key, entries));
    }
    commands
}

fn places(keys: &RoomKeys, places: &[SavedPlace]) -> Vec<Cmd> {
    let visitors = places
        .iter()
        .map(|place| (place.ordinal.0, Member::of(&place.visitor)));
    let passes = places.iter().filter_map(|place| match place.live {
        Live::Inside(pass) => Some((place.ordinal.0, pass)),
        _ => None,
    });
    let expiries = passes
        .clone()
        .map(|(ordinal, pass)| (pass.expires_at.0, ordinal));
    let since = passes.map(|(ordinal, pass)| (ordinal, pass.since.0));
    let aside = places.iter().filter_map(|place| match place.live {
        Live::Aside(until) => Some((until.0, place.ordinal.0)),
        _ => None,
    });
    let door = places
        .iter()
        .filter(|place| matches!(place.live, Live::AtDoor { .. }));
    let door = door.map(|place| (place.ordinal.0, place.ordinal.0));
    let mut commands = pairs("ZADD", keys.part("places"), visitors);
    commands.extend(pairs("ZADD", keys.part("active"), expiries));
    commands.extend(pairs("HSET", keys.part("since"), since));
    commands.extend(pairs("ZADD", keys.part("aside"), aside));
    commands.extend(pairs("ZADD", keys.part("door"), door));
    commands
}

/// Writes pairs with a command that takes any number of them.
fn pairs<A: ToRedisArgs, B: ToRedisArgs>(
    command: &str,
    key: &str,
    pairs: impl Iterator<Item = (A, B)>,
) -> Vec<Cmd> {
    let mut pairs = pairs.peekable();
    let mut commands = Vec::new();
    while pairs.peek().is_some() {
        let mut page = redis::cmd(command);
        page.arg(key);
        for (first, second) in pairs.by_ref().take(PAGE) {
            page.arg(first).arg(second);
        }
        commands.push(page);
    }
    commands
}

fn bitmap(key: &str, bits: &Bits, base: u64) -> Vec<Cmd> {
    let bitmap = bits.to_bitmap(base);
    let pages = bitmap.chunks(PAGE_BYTES).enumerate();
    let commands = pages.map(|(number, page)| {
        let mut write = redis::cmd("SETRANGE");
        write.arg(key).arg(number * PAGE_BYTES).arg(page);
        write
    });
    commands.collect()
}
