//! How a server of a cluster sees the cluster.

use std::net::Ipv4Addr;

/// What `CLUSTER NODES` says of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) id: String,
    pub(super) ip: Option<Ipv4Addr>,
    pub(super) flags: Vec<String>,
    /// The id of its master, if it is a replica.
    pub(super) master: Option<String>,
    /// Which of two that own a slot is right: the later.
    pub(super) epoch: u64,
    slots: Vec<(u16, u16)>,
}

impl Seen {
    pub(super) fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|it| it == flag)
    }

    pub(super) fn owns(&self, slot: u16) -> bool {
        let mut slots = self.slots.iter();
        self.is("master") && slots.any(|&(first, last)| (first..=last).contains(&slot))
    }

    /// Whether the server that says so holds it for well.
    pub(super) fn is_well(&self) -> bool {
        let ill = ["fail", "fail?", "handshake", "noaddr"];
        !ill.iter().any(|flag| self.is(flag))
    }
}

/// Reads an answer of `CLUSTER NODES`; what is not one says of no server.
pub(super) fn read(answer: &str) -> Vec<Seen> {
    answer.lines().filter_map(seen).collect()
}

fn seen(line: &str) -> Option<Seen> {
    let mut words = line.split_whitespace();
    let id = words.next()?.to_owned();
    let ip = words.next()?.split(':').next()?.parse().ok();
    let flags = words.next()?.split(',').map(str::to_owned).collect();
    let master = words.next().map(str::to_owned)?;
    let epoch = words.nth(2)?.parse().ok()?;
    // The last word before the slots is whether it is connected.
    let slots = words.skip(1).filter_map(range).collect();
    Some(Seen {
        id,
        ip,
        flags,
        master: Some(master).filter(|id| id != "-"),
        epoch,
        slots,
    })
}

/// A range of slots; one that is about to move is in brackets and stands among the others too.
fn range(word: &str) -> Option<(u16, u16)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "\
a1 127.1.2.1:7379@17379,, myself,master - 0 1700 7 connected 0-99 200 [200->-b2]
b2 127.1.2.2:7379@17379,, master,fail? - 0 1700 2 connected 100-199
c3 127.1.2.3:7379@17379,, slave a1 0 1700 7 connected";

    #[test]
    fn a_servers_view_tells_owners_replicas_and_the_ill() {
        let seen = read(ANSWER);
        assert_eq!(seen[0].ip, Some(Ipv4Addr::new(127, 1, 2, 1)));
        assert_eq!(seen[0].epoch, 7);
        assert_eq!(
            [99, 100, 200].map(|slot| seen[0].owns(slot)),
            [true, false, true]
        );
        assert_eq!(seen[2].master.as_deref(), Some("a1"));
        assert_eq!(seen[0].master, None);
        assert_eq!(
            seen.iter().map(Seen::is_well).collect::<Vec<_>>(),
            [true, false, true]
        );
    }
}
