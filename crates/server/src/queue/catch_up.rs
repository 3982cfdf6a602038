//! How often a client can make this node ask the store for a newer picture.
//!
//! A client that has seen a newer picture on another node is shown no older one, so this node has to catch
//! up first. But anybody can claim to have seen one, and each time the store would be asked.

use std::{
    hash::{BuildHasher, RandomState},
    iter,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use ropeline_core::{Claims, Timestamp, VERSION_JUMP};
use ropeline_store::{Health, Seen};
use tokio::time::sleep;

use crate::{app::App, error::ApiError};

/// One token makes the store be asked at most once in so many milliseconds.
const EVERY_MS: u64 = 1_000;
/// Tokens that fall on the same clock share it, so there are more than tokens that catch up in a second. Half a
/// mebibyte in all.
const CLOCKS: usize = 65_536;
/// A token that has to wait looks this often whether the picture has become newer by itself, which it does within
/// a fifth of a second where anybody looks at the room.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Until the token may ask again at the latest.
const LOOKS: u32 = 60;
/// Raises of the version that this node may not have heard of, and further ones for each second since it has heard
/// anything. One takes a second and more, since joins are held after it.
const RAISES: u64 = 16;
const RAISES_PER_SECOND: u64 = 4;

/// When tokens have last made this node ask the store.
#[derive(Debug)]
pub(crate) struct CatchUps {
    hasher: RandomState,
    last: Box<[AtomicU64]>,
}

impl CatchUps {
    pub(crate) fn new() -> Self {
        let last = iter::repeat_with(AtomicU64::default).take(CLOCKS);
        Self {
            hasher: RandomState::new(),
            last: last.collect(),
        }
    }

    /// Whether a token may make the store be asked now; then it may not for a while.
    fn begin(&self, claims: &Claims, now: Timestamp) -> bool {
        let token = (&claims.aud, claims.epoch.0, claims.ord);
        let hash = self.hasher.hash_one(token) % CLOCKS as u64;
        let clock = &self.last[usize::try_from(hash).expect("it is below a usize")];
        let last = clock.load(Relaxed);
        // A clock that was set back lets everybody ask.
        let is_due = now.0.abs_diff(last) >= EVERY_MS;
        is_due
            && clock
                .compare_exchange(last, now.0, Relaxed, Relaxed)
                .is_ok()
    }
}

/// Whether a node that knows this picture could have shown a client that version, or another node could.
pub(super) fn is_plausible(version: u64, seen: &Seen, now: Timestamp) -> bool {
    let unheard_s = seen.fresh_at.until(now).as_secs();
    let raises = RAISES.saturating_add(unheard_s.saturating_mul(RAISES_PER_SECOND));
    let ahead = raises.saturating_mul(VERSION_JUMP);
    version <= seen.view.header.version.saturating_add(ahead)
}

/// Waits until the picture is at least as new as `is_enough` asks for, if need be by asking the store.
pub(super) async fn catch_up(
    app: &App,
    claims: &Claims,
    is_enough: impl Fn(&Seen) -> bool,
) -> Result<Seen, ApiError> {
    for _ in 0..LOOKS {
        if app.catch_ups.begin(claims, app.now()) {
            app.store.refresh(&claims.aud).await;
            break;
        }
        // Waiting for a store that is unavailable would only hold up the answer.
        if app.store.health_of(&claims.aud) != Health::Up {
            break;
        }
        sleep(LOOK_EVERY).await;
        let seen = app.seen(&claims.aud)?;
        if is_enough(&seen) {
            return Ok(seen);
        }
    }
    app.seen(&claims.aud)
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, sync::Arc};

    use ropeline_core::{
        Bounds, FORMAT, LANE_MAIN, Ordinal, Policy, Room, RoomId, ServerId, View, Visitor,
    };

    use super::*;
    use crate::config::Settings;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn claims(ordinal: u64) -> Claims {
        Claims {
            iss: Cow::Borrowed("ropeline"),
            aud: RoomId::main(),
            epoch: Timestamp(7),
            sub: Visitor::anonymous(ordinal.into()),
            ord: Ordinal(ordinal),
            lane: Cow::Borrowed(LANE_MAIN),
            vfd: false,
            ver: FORMAT,
            iat: 0,
            exp: 0,
        }
    }

    fn later(ms: u64) -> Timestamp {
        Timestamp(NOW.0 + ms)
    }

    #[test]
    fn a_token_asks_the_store_at_most_once_in_a_second() {
        let catch_ups = CatchUps::new();
        assert!(catch_ups.begin(&claims(1), NOW));
        for ms in [0, 1, 500, 999] {
            assert!(!catch_ups.begin(&claims(1), later(ms)), "{ms}");
        }
        assert!(catch_ups.begin(&claims(1), later(1_000)));
        assert!(!catch_ups.begin(&claims(1), later(1_999)));
    }

    #[test]
    fn tokens_do_not_wait_for_each_other() {
        let catch_ups = CatchUps::new();
        let begun = (0..1_000).filter(|ordinal| catch_ups.begin(&claims(*ordinal), NOW));
        // Some fall on the same clock by chance.
        assert!(begun.count() > 950);
    }

    #[test]
    fn a_clock_that_was_set_back_lets_a_token_ask() {
        let catch_ups = CatchUps::new();
        assert!(catch_ups.begin(&claims(1), later(86_400_000)));
        assert!(catch_ups.begin(&claims(1), NOW));
    }

    /// A picture of that version, of which nothing was heard since.
    fn seen(version: u64, fresh_at: Timestamp) -> Seen {
        let policy: Policy = Settings::shipped_policy();
        let room = Room::new(policy, ServerId("here".into()), NOW, Bounds::default());
        let mut view = View::clone(&room.view(NOW));
        view.header.version = version;
        Seen {
            view: Arc::new(view),
            fresh_at,
        }
    }

    #[test]
    fn versions_that_no_node_can_have_shown_are_ignored() {
        let seen = seen(1_000, NOW);
        assert!(is_plausible(0, &seen, NOW));
        assert!(is_plausible(1_001, &seen, NOW));
        // A failover raises the version, perhaps more than once.
        assert!(is_plausible(1_000 + 3 * VERSION_JUMP, &seen, NOW));
        for absurd in [u64::MAX, u64::MAX / 2, 1_000 + 17 * VERSION_JUMP] {
            assert!(!is_plausible(absurd, &seen, NOW), "{absurd}");
        }
    }

    #[test]
    fn the_longer_a_node_has_heard_nothing_the_more_may_have_happened() {
        let seen = seen(1_000, NOW);
        let many = 1_000 + 200 * VERSION_JUMP;
        assert!(!is_plausible(many, &seen, later(1_000)));
        assert!(is_plausible(many, &seen, later(60_000)));
        let since_long_ago = self::seen(u64::MAX - 1, Timestamp(0));
        assert!(is_plausible(u64::MAX, &since_long_ago, NOW));
    }
}
