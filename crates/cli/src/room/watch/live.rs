//! The live view: draws, listens, passes on.

use std::{env, io};

use tokio::{
    signal::{
        ctrl_c,
        unix::{SignalKind, signal},
    },
    sync::mpsc::{Receiver, Sender, channel},
    task::JoinSet,
};

use super::{
    super::{args::WatchArgs, desk::Desk},
    draw::{Palette, draw},
    feed::{self, News, Wish},
    screen::{Screen, Step},
    terminal::{Canvas, Happening, happenings},
};
use crate::failure::Failure;

pub(super) async fn run(desk: Desk, args: WatchArgs, screen: Screen) -> Result<(), Failure> {
    // Any value but an empty one says no: https://no-color.org
    let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let palette = if plain {
        Palette::plain()
    } else {
        Palette::coloured()
    };
    let (wishes, wished) = channel(16);
    let (sender, news) = channel(16);
    let mut feed = JoinSet::new();
    feed.spawn(feed::run(desk, args.every, args.room, wished, sender));
    watch(screen, palette, wishes, news)
        .await
        .map_err(Failure::Terminal)
}

async fn watch(
    mut screen: Screen,
    palette: Palette,
    wishes: Sender<Wish>,
    mut news: Receiver<News>,
) -> io::Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut canvas = Canvas::take()?;
    let mut happenings = happenings();
    loop {
        canvas.0.draw(|frame| draw(frame, &screen, &palette))?;
        let step = tokio::select! {
            happening = happenings.recv() => match happening {
                Some(Happening::Pressed(key)) => screen.press(key),
                Some(Happening::Resized) => Step::Stay,
                None => Step::Quit,
            },
            heard = news.recv() => match heard {
                Some(news) => screen.hear(news),
                None => Step::Quit,
            },
            _ = ctrl_c() => Step::Quit,
            _ = terminated.recv() => Step::Quit,
        };
        match step {
            Step::Stay => {}
            Step::Ask(wish) => {
                // Full only while the server does not answer; the view must go on.
                if wishes.try_send(wish).is_err() {
                    screen.notice("the server is still busy with the last keys");
                }
            }
            Step::Quit => return Ok(()),
        }
    }
}
