//! The server's side of the live view: looks at it, passes on what the operator wants.

use std::time::Duration;

use ropeline_core::RoomId;
use tokio::sync::mpsc::{Receiver, Sender};

use super::{
    super::{
        desk::Desk,
        trouble::Trouble,
        views::{Room, Stats},
        words::Word,
    },
    backoff::Backoff,
};

/// All rooms, and one of them closely.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) rooms: Vec<Room>,
    pub(super) room: Room,
    pub(super) stats: Stats,
}

/// What the operator wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Look(RoomId),
    Tell(RoomId, Word),
}

/// What the server said.
#[derive(Debug)]
pub(super) enum News {
    Seen(Box<Look>),
    /// What came of a wish.
    Told(String),
    /// The room that was looked at is gone.
    Gone(RoomId),
    Trouble {
        text: String,
        again_in: Duration,
    },
}

impl Look {
    pub(super) async fn take(desk: &Desk, id: &RoomId) -> Result<Self, Trouble> {
        let rooms = desk.rooms().await?;
        let stats = desk.stats_read(id).await?;
        let Some(room) = rooms.iter().find(|room| room.id == *id).cloned() else {
            // Made between the two questions; the next look finds it.
            let ids = rooms.iter().map(|room| room.id.as_str());
            return Err(Trouble::unknown_room(id.as_str(), ids));
        };
        Ok(Self { rooms, room, stats })
    }
}

/// Looks again and again until nobody listens.
pub(super) async fn run(
    desk: Desk,
    every: Duration,
    mut room: RoomId,
    mut wishes: Receiver<Wish>,
    news: Sender<News>,
) {
    let mut backoff = Backoff::new(every);
    let mut pause = every;
    loop {
        let report = tokio::select! {
            wish = wishes.recv() => match wish {
                None => return,
                Some(Wish::Tell(whom, word)) => Some(tell(&desk, &whom, word).await),
                Some(Wish::Look(other)) => {
                    room = other;
                    None
                }
            },
            () = tokio::time::sleep(pause) => None,
        };
        if let Some(text) = report
            && news.send(News::Told(text)).await.is_err()
        {
            return;
        }
        let seen = look(&desk, &room, &mut backoff).await;
        pause = seen.1;
        if news.send(seen.0).await.is_err() {
            return;
        }
    }
}

async fn look(desk: &Desk, room: &RoomId, backoff: &mut Backoff) -> (News, Duration) {
    match Look::take(desk, room).await {
        Ok(look) => (News::Seen(Box::new(look)), backoff.answered()),
        Err(trouble) if trouble.is_unknown_room() => (News::Gone(room.clone()), backoff.answered()),
        Err(trouble) => {
            let again_in = backoff.failed(trouble.passes_after().unwrap_or_default());
            let text = one_line(&trouble);
            (News::Trouble { text, again_in }, again_in)
        }
    }
}

async fn tell(desk: &Desk, room: &RoomId, word: Word) -> String {
    let told = word.tell(desk, room).await;
    match told.and_then(|answer| word.effect(&answer)) {
        Ok(effect) => effect,
        Err(trouble) => format!("not done: {}", one_line(&trouble)),
    }
}

/// The first line says what is wrong; the rest is advice for which there is no room here.
fn one_line(trouble: &Trouble) -> String {
    let text = trouble.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
