//! The slot of a key: a Cluster gives each of its servers some of them.

/// One of the 16,384 parts of a Cluster's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(pub(super) u16);

impl Slot {
    pub(super) const COUNT: u16 = 16_384;
    pub(super) const LAST: Self = Self(Self::COUNT - 1);

    /// The slot of a key, or of the part of it in braces where there is one.
    pub(super) fn of(key: &str) -> Self {
        let tag = key.split_once('{').and_then(|(_, rest)| {
            let (tag, _) = rest.split_once('}')?;
            (!tag.is_empty()).then_some(tag)
        });
        Self(crc16(tag.unwrap_or(key).as_bytes()) % Self::COUNT)
    }
}

/// CRC-16 as XMODEM has it, which is the one that Redis takes.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            let carried = crc & 0x8000 != 0;
            (crc << 1) ^ if carried { 0x1021 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_redis() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for (key, slot) in [("foo", 12_182), ("{user1000}.following", 3_443), ("", 0)] {
            assert_eq!(Slot::of(key), Slot(slot), "{key}");
        }
        assert_eq!(Slot::of("rl:{main}:room"), Slot::of("main"));
        // Braces with nothing between them are a part of the key.
        assert_eq!(Slot::of("a{}{b}"), Slot(crc16(b"a{}{b}") % Slot::COUNT));
    }
}
