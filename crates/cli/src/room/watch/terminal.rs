//! The terminal while it is drawn on, and its keys.

use std::{io, thread, time::Duration};

use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::screen::Key;

/// How soon the reader of keys notices that nobody listens any more.
const LISTEN: Duration = Duration::from_millis(100);

/// A terminal that is given back as it was however the view ends; a panic gives it back before its message.
pub(super) struct Canvas(pub(super) DefaultTerminal);

impl Canvas {
    pub(super) fn take() -> io::Result<Self> {
        let taken = ratatui::try_init();
        if taken.is_err() {
            // It may have been taken by half.
            ratatui::try_restore().ok();
        }
        taken.map(Self)
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        // A terminal that is gone cannot be restored, and need not be.
        self.0.show_cursor().ok();
        // After a panic it is restored already, and doing it twice would put the cursor back above the message.
        if !thread::panicking() {
            ratatui::try_restore().ok();
        }
    }
}

/// Something that happened at the terminal.
#[derive(Debug)]
pub(super) enum Happening {
    Pressed(Key),
    /// Its size changed, so it must be drawn anew.
    Resized,
}

/// Reads keys on a thread of its own, for reading blocks. The channel closes when the terminal is gone.
pub(super) fn happenings() -> Receiver<Happening> {
    let (sender, receiver) = channel(16);
    thread::spawn(move || while pass_on(&sender).is_some() {});
    receiver
}

fn pass_on(sender: &Sender<Happening>) -> Option<()> {
    if sender.is_closed() {
        return None;
    }
    if !event::poll(LISTEN).ok()? {
        return Some(());
    }
    let happening = match event::read().ok()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => Happening::Pressed(meaning(key)),
        Event::Resize(..) => Happening::Resized,
        _ => return Some(()),
    };
    sender.blocking_send(happening).ok()
}

fn meaning(key: KeyEvent) -> Key {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c' | 'd') => Key::Quit,
            _ => Key::Other,
        };
    }
    match key.code {
        KeyCode::Char('q' | 'Q') => Key::Quit,
        KeyCode::Char('p' | 'P') => Key::Pause,
        KeyCode::Char('a' | 'A') => Key::Admit,
        KeyCode::Char('y' | 'Y') => Key::Yes,
        KeyCode::Char('?' | 'h') => Key::Help,
        KeyCode::Tab | KeyCode::Right | KeyCode::Down => Key::NextRoom,
        KeyCode::BackTab | KeyCode::Left | KeyCode::Up => Key::PreviousRoom,
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_the_help_says() {
        let plain = |code| meaning(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(plain(KeyCode::Char('q')), Key::Quit);
        assert_eq!(plain(KeyCode::Tab), Key::NextRoom);
        assert_eq!(plain(KeyCode::Left), Key::PreviousRoom);
        assert_eq!(plain(KeyCode::Char('c')), Key::Other);
        let control = |code| meaning(KeyEvent::new(code, KeyModifiers::CONTROL));
        assert_eq!(control(KeyCode::Char('c')), Key::Quit);
        assert_eq!(control(KeyCode::Char('p')), Key::Other);
    }
}
