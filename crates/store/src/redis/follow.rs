//! Following a room: its picture is renewed several times a second while somebody looks at it, and what is due is
//! settled on time. No node is special, and losing the feed costs freshness, never correctness.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use ropeline_core::Command;

use super::{
    Inner,
    picture::{Asked, Looked},
    room::RoomNode,
    transit::{Failed, Known, Transit},
};
use crate::StoreError;

/// A room that somebody looks at is followed this often.
const FOLLOW: Duration = Duration::from_millis(200);
/// And one that nobody has looked at for a while, this often.
const IDLE: Duration = Duration::from_secs(2);
/// A room that somebody is in is written to at least this often, so that a Redis that was unavailable for longer can tell:
/// `SILENCE_MS` in `library/room.lua` is more than twice as long.
const WRITE_EVERY: Duration = Duration::from_secs(2);
/// Nobody has looked at a room for a while after this.
const IDLE_AFTER: Duration = Duration::from_secs(10);
/// A look is noted this long after the last, so that those who poll do not all write to the same word.
const LOOK_NOTED: Duration = Duration::from_secs(1);
/// Between two looks there is at least this.
const PAUSE_MIN: Duration = Duration::from_millis(5);
/// While Redis is away it is tried this often, and half as often after each failure; but every node must have
/// merged what it knows before joins, which are held for a second after the first merge, go on.
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_millis(300);
/// Marks that one call takes at the most.
const MARKS_PER_CALL: usize = 500;
/// Places set aside that are read at once.
const ASIDE_PAGE: usize = 5_000;

impl Transit {
    /// Makes the picture of a room as new as the store is.
    pub(super) async fn follow(&self, room: &RoomNode) -> Result<(), Failed> {
        let term = self.term(room);
        match self.look(&self.feed, room, Known::Picture).await? {
            Some((looked, asked)) if !room.must_merge(&looked, term) => {
                self.show(room, looked, asked).await;
                Ok(())
            }
            None if room.view().is_none() => {
                Err(Failed::Refused(StoreError::NoSuchRoom(room.name.clone())))
            }
            _ => self.heal(room).await,
        }
    }

    /// As [`Transit::follow`], shared by all who ask for it at the same time.
    pub(super) async fn refresh(&self, room: &RoomNode) -> Result<(), Failed> {
        let wanted = room.refreshes.begun.load(Ordering::Acquire) + 1;
        let _one_at_a_time = room.refreshing.lock().await;
        if room.refreshes.done.load(Ordering::Acquire) >= wanted {
            return Ok(());
        }
        let this = room.refreshes.begun.fetch_add(1, Ordering::AcqRel) + 1;
        self.follow(room).await?;
        room.refreshes.done.store(this, Ordering::Release);
        Ok(())
    }

    /// Publishes what was looked at.
    pub(super) async fn show(&self, room: &RoomNode, looked: Looked, asked: Asked) {
        let aside = if looked.is_snapshot() {
            self.asides(room).await
        } else {
            Vec::new()
        };
        room.publish(&looked, asked, &aside);
    }

    /// Those that are aside now. What cannot be read is left out: only leases depend on it.
    async fn asides(&self, room: &RoomNode) -> Vec<u64> {
        let mut all = Vec::new();
        loop {
            let mut page = redis::cmd("ZRANGE");
            page.arg(room.keys.aside())
                .arg(all.len())
                .arg(all.len() + ASIDE_PAGE - 1);
            let Ok(ordinals) = self.feed.query::<Vec<u64>>(room.keys.slot(), &page).await else {
                return all;
            };
            let last = ordinals.len() < ASIDE_PAGE;
            all.extend(ordinals);
            if last {
                return all;
            }
        }
    }

    /// Sends the marks, settles what is due, and follows.
    pub(super) async fn tend(&self, room: &RoomNode) -> Result<(), Failed> {
        self.send_marks(room).await?;
        let now = self.clock.now();
        if room.is_due(now) {
            return self.settle(room).await;
        }
        // This fails at once where settling would be tried for a while.
        self.refresh(room).await?;
        if room.has_been_silent(now, WRITE_EVERY) {
            self.settle(room).await?;
        }
        Ok(())
    }

    /// Settles until nothing is left to do by now. Where one call was not enough, Redis has the next one already when it
    /// has done the one before.
    pub(super) async fn settle(&self, room: &RoomNode) -> Result<(), Failed> {
        room.note_settling(self.clock.now());
        let call = || Box::pin(self.perform(&self.feed, room, &Command::Settle));
        let mut last = call().await?;
        while last.outcome.more {
            (_, last) = tokio::try_join!(call(), call())?;
        }
        Ok(())
    }

    pub(super) async fn send_marks(&self, room: &RoomNode) -> Result<(), Failed> {
        let marks = room.take_marks();
        let mut sent = 0;
        for part in marks.chunks(MARKS_PER_CALL) {
            let command = Command::Mark(part.to_vec());
            if let Err(error) = self.perform(&self.feed, room, &command).await {
                room.put_marks_back(marks[sent..].to_vec());
                return Err(error);
            }
            sent += part.len();
        }
        Ok(())
    }
}

impl Inner {
    /// Tends to a room until the store is closed.
    pub(super) async fn tend_for_ever(self: Arc<Self>, room: Arc<RoomNode>) {
        let mut failures = 0;
        loop {
            match self.transit.tend(&room).await {
                Ok(()) => {
                    failures = 0;
                    self.note_up(&room.away);
                }
                Err(Failed::Frozen(_) | Failed::Refused(StoreError::NoSuchRoom(_))) => {
                    failures += 1;
                }
                Err(failed) => {
                    failures += 1;
                    self.note_down(&room.away, &failed.into());
                }
            }
            let pause = match failures {
                0 => self.time_to_next(&room),
                _ => retry_after(failures, &room),
            };
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = room.nudge.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn time_to_next(&self, room: &RoomNode) -> Duration {
        let now = self.transit.clock.now();
        let idle = now.since(room.last_looked_at()) > IDLE_AFTER;
        let pause = if idle { IDLE } else { FOLLOW };
        let due = room.picture().and_then(|picture| {
            let due = picture.next_due?;
            Some(picture.view.now(now).until(due))
        });
        due.map_or(pause, |due| due.clamp(PAUSE_MIN, pause))
    }

    /// Somebody looks at a room; one that was idle is followed at once.
    pub(super) fn look_at(&self, room: &RoomNode) {
        let now = self.transit.clock.now();
        let unseen = now.since(room.last_looked_at());
        if unseen > LOOK_NOTED {
            room.note_look(now);
        }
        if unseen > IDLE_AFTER {
            room.nudge.notify_one();
        }
    }
}

/// Twice as long after each failure, and a little different for each room and node, so that they do not all come
/// back at the same instant.
fn retry_after(failures: u32, room: &RoomNode) -> Duration {
    let longest = (RETRY_MIN * 2_u32.saturating_pow(failures.min(8))).min(RETRY_MAX);
    let spread = u32::from(room.keys.words().bytes().fold(0_u8, u8::wrapping_add)) + failures * 37;
    longest * (75 + spread % 50) / 100
}
