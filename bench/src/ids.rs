//! The ids of visitors: UUIDs, as the users of most services have them.

/// The visitors of a group. The digest of its name makes the beginning of each id, a number the last twelve digits.
#[derive(Debug, Clone)]
pub(crate) struct Ids(String);

impl Ids {
    /// Digits of the number. They are decimal: `redis-benchmark` writes such ones.
    pub(crate) const DIGITS: usize = 12;

    pub(crate) fn of(group: &str) -> Self {
        // FNV-1a: enough to keep a few groups apart.
        let digest = group.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let hex = format!("{digest:016x}");
        let (first, second, third) = (&hex[..8], &hex[8..12], &hex[12..15]);
        // The 4 and the 8 say of what kind a UUID is: a random one.
        Self(format!("{first}-{second}-4{third}-8000-"))
    }

    /// What all of them begin with.
    pub(crate) fn start(&self) -> &str {
        &self.0
    }

    pub(crate) fn nth(&self, number: u64) -> String {
        format!("{}{number:0digits$}", self.0, digits = Self::DIGITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_of_its_group_and_number() {
        let ids = Ids::of("bench-joining");
        assert_eq!(ids.nth(17), format!("{}000000000017", ids.start()));
        assert_ne!(ids.start(), Ids::of("bench-waiting").start());
        let id = ids.nth(999_999_999_999);
        let parts: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        let canonical = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
        assert!(id.bytes().all(canonical), "{id}");
    }
}
