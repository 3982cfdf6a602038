//! One set of keys from those of two nodes.
//!
//! There is no leader and no order in which nodes hear of each other, so whoever merges what, and however
//! often, must end with the same: merging is commutative, associative and idempotent.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{KeyFile, StoredKey};

impl KeyFile {
    /// All keys of both but those that either has retired, and the older of the two secrets for visitors'
    /// names.
    ///
    /// The older, because more names were made with it: a node that starts late, or with keys of its own, must
    /// not make the repeated joins of those who wait already into new ones. Its age is written down with it and
    /// not taken from the keys, which are retired while the secret stays.
    pub(crate) fn merge(&self, other: &Self) -> Self {
        let mut keys: BTreeMap<&str, &StoredKey> = BTreeMap::new();
        for key in self.keys.iter().chain(&other.keys) {
            let known = keys.entry(&key.kid).or_insert(key);
            if key.rank() > known.rank() {
                *known = key;
            }
        }
        let (made_at, visitor_secret) = self.visitor_secret_age().min(other.visitor_secret_age());
        let mut merged = Self {
            visitor_secret: visitor_secret.to_owned(),
            visitor_secret_made_at_ms: Some(made_at),
            keys: keys.into_values().cloned().collect(),
            retired: self.retired.union(&other.retired).cloned().collect(),
        };
        merged.put_in_order();
        merged
    }

    /// The newest first, and none that was retired.
    pub(super) fn put_in_order(&mut self) {
        self.keys.retain(|key| !self.retired.contains(&key.kid));
        self.keys.sort_by(|a, b| b.rank().cmp(&a.rank()));
    }

    /// When the secret for visitors' names was made, and the secret.
    pub(super) fn visitor_secret_age(&self) -> (u64, &str) {
        let oldest = self.keys.last().map_or(u64::MAX, |key| key.created_at_ms);
        let made_at = self.visitor_secret_made_at_ms.unwrap_or(oldest);
        (made_at, &self.visitor_secret)
    }
}

impl StoredKey {
    /// Newer keys have a higher one. Two keys of one id are a mistake by hand, of which either must do.
    fn rank(&self) -> (u64, &str, Reverse<&str>) {
        (self.created_at_ms, &self.kid, Reverse(&self.secret))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*, sample::subsequence};

    use super::*;

    fn key((kid, created_at_ms, secret): (u8, u64, u8)) -> StoredKey {
        StoredKey {
            kid: format!("k{kid}"),
            created_at_ms,
            secret: format!("s{secret}"),
        }
    }

    /// Few ids, times and secrets, so that they meet.
    fn keys() -> impl Strategy<Value = KeyFile> {
        let retired = subsequence(vec!["k0", "k1", "k2", "k3", "k4", "k5"], 0..4);
        let visitors = ("v[0-2]", 0..3_u64);
        let keys = vec((0..6_u8, 0..4_u64, 0..2_u8), 0..6);
        (keys, retired, visitors).prop_map(|(keys, retired, (secret, made_at))| {
            let file = KeyFile {
                visitor_secret: secret,
                visitor_secret_made_at_ms: Some(made_at),
                keys: keys.into_iter().map(key).collect(),
                retired: retired.into_iter().map(str::to_owned).collect(),
            };
            // As every file is that was read: in order, and each id once.
            file.merge(&file)
        })
    }

    proptest! {
        #[test]
        fn it_does_not_matter_who_merges_what_and_how_often(a in keys(), b in keys(), c in keys()) {
            prop_assert_eq!(a.merge(&b), b.merge(&a));
            prop_assert_eq!(a.merge(&b).merge(&c), a.merge(&b.merge(&c)));
            prop_assert_eq!(a.merge(&a), a.clone());
            prop_assert_eq!(a.merge(&b).merge(&a), a.merge(&b));
        }

        #[test]
        fn nothing_is_lost_and_nothing_retired_comes_back(a in keys(), b in keys()) {
            let merged = a.merge(&b);
            let kids = |file: &KeyFile| -> BTreeSet<String> {
                file.keys.iter().map(|key| key.kid.clone()).collect()
            };
            let retired: BTreeSet<_> = a.retired.union(&b.retired).cloned().collect();
            let all: BTreeSet<_> = kids(&a).union(&kids(&b)).cloned().collect();
            prop_assert_eq!(kids(&merged), all.difference(&retired).cloned().collect());
            prop_assert_eq!(&merged.retired, &retired);
            let sorted = merged.keys.is_sorted_by(|a, b| a.created_at_ms >= b.created_at_ms);
            prop_assert!(sorted);
        }
    }

    #[test]
    fn the_older_secret_stays_when_the_key_it_came_with_is_retired() {
        use ropeline_core::Timestamp;
        let mut old = KeyFile::new(Timestamp(1));
        // As the first version wrote it.
        old.visitor_secret_made_at_ms = None;
        let first = old.keys[0].kid.clone();
        old.rotate(Timestamp(9)).unwrap();
        old.retire(&first).unwrap();
        let young = KeyFile::new(Timestamp(5));
        let merged = young.merge(&old);
        assert_eq!(merged.visitor_secret, old.visitor_secret);
        assert_eq!(merged.keys.len(), 2);
        let with_backup = merged.merge(&KeyFile {
            retired: BTreeSet::new(),
            ..KeyFile::from_text(&old.to_text()).unwrap()
        });
        assert_eq!(with_backup, merged, "what was retired stays so");
    }
}
