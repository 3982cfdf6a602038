//! The picture, drawn from fixed answers.

use std::time::Duration;

use ratatui::{Terminal, backend::TestBackend};
use ropeline_core::RoomId;
use serde_json::{Value, json};

use super::{
    super::{views::Room, words::Word},
    draw::{Palette, draw},
    feed::{Look, News, Wish},
    screen::{Footer, Key, Mode, Screen, Step},
};

fn room(id: &str, waiting: u64, active: u64) -> Value {
    json!({
        "room": id, "state": "OPEN", "waiting": waiting, "active": active, "aside": 0, "door": 0,
        "issued": 5000, "head": 3000, "version": 9, "createdAt": "2026-11-20T09:00:00.000Z",
        "policy": {"every": "5s", "batch": 50, "activeMax": 200, "passTtl": "5m", "passMax": "30m",
                   "presenceTtl": "90s", "missedTurnTtl": "10m", "waitingMax": 5_000_000, "identity": "open"}
    })
}

/// A line that shrank from twice its length over the last 14 minutes, a wave each minute.
fn series(waiting: u64, active: u64) -> Value {
    let point = |minute: u64| {
        json!({
            "at": format!("2026-11-20T09:{minute:02}:00.000Z"),
            "waiting": waiting + waiting * (14 - minute) / 14,
            "active": active,
            "joined": 5000,
            "admitted": 600 * minute + 300 * (minute % 2),
        })
    };
    (0..=14).map(point).collect()
}

fn stats(series: &Value) -> Value {
    json!({
        "room": "main", "state": "OPEN", "asOf": "2026-11-20T09:14:00.000Z", "since": null,
        "waiting": 0, "active": 0, "aside": 0, "door": 0,
        "estimate": {"seconds": 185, "low": 150, "high": 220}, "totals": {},
        "perMinute": {"joined": 61.5, "admitted": 600.0, "departed": 590.2, "left": 3.4},
        "waits": {"count": 900, "p50Seconds": 40.2, "p90Seconds": 150.0, "p99Seconds": 160.0, "maxSeconds": 161.0},
        "estimates": {"count": 900, "meanErrorSeconds": -1.0, "meanAbsErrorSeconds": 4.0, "withinBand": 0.83},
        "series": series,
    })
}

fn look(waiting: u64, active: u64, stats: Value) -> Look {
    let read = |value: Value| -> Room { serde_json::from_value(value).unwrap() };
    let main = read(room("main", waiting, active));
    Look {
        rooms: vec![read(room("album-sale", 0, 0)), main.clone()],
        room: main,
        stats: serde_json::from_value(stats).unwrap(),
    }
}

fn screen() -> Screen {
    let look = look(1_208, 200, stats(&series(1_208, 200)));
    Screen::new("http://127.0.0.1:8080".into(), look)
}

/// What the terminal shows, without the blanks at the ends of lines.
fn picture(screen: &Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| draw(frame, screen, &Palette::plain()))
        .unwrap();
    let rows = terminal.backend().buffer().content().chunks(width.into());
    let rows = rows.map(|row| {
        let text: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned() + "\n"
    });
    rows.collect()
}

#[test]
fn a_usual_terminal_shows_everything() {
    let expected = include_str!("pictures/80x24.txt");
    assert_eq!(picture(&screen(), 80, 24), expected);
}

#[test]
fn a_large_terminal_shows_it_larger() {
    let expected = include_str!("pictures/120x40.txt");
    assert_eq!(picture(&screen(), 120, 40), expected);
}

#[test]
fn a_line_of_millions_fits_into_its_card() {
    let mut look = look(3_456_789, 1_200_000, stats(&series(3_456_789, 1_200_000)));
    look.room.policy.active_max = Some(2_000_000);
    let picture = picture(&Screen::new("http://a.example".into(), look), 80, 24);
    assert_eq!(picture, include_str!("pictures/millions.txt"));
}

#[test]
fn a_server_that_has_just_started_has_no_history() {
    let look = look(0, 0, stats(&json!([])));
    let picture = picture(&Screen::new("http://a.example".into(), look), 80, 24);
    assert_eq!(picture, include_str!("pictures/empty.txt"));
}

#[test]
fn small_terminals_show_the_line_before_the_rest() {
    let small = picture(&screen(), 50, 12);
    assert!(small.contains("│         1,208         │"), "{small}");
    assert!(!small.contains("last 15 min"), "{small}");
    let tiny = picture(&screen(), 40, 4);
    assert!(tiny.contains(" 1,208 waiting, 200/200 inside\n"), "{tiny}");
    for (width, height) in [(1, 1), (2, 9), (200, 2), (15, 60)] {
        picture(&screen(), width, height);
    }
}

#[test]
fn the_room_that_is_looked_at_is_shown_among_very_many() {
    let mut screen = screen();
    let many = (0..40).map(|n| room(&format!("room-{n:02}"), 0, 0));
    screen.rooms = many
        .map(|room| serde_json::from_value(room).unwrap())
        .collect();
    screen.room = screen.rooms[33].clone();
    let picture = picture(&screen, 80, 24);
    let list = picture.lines().nth(1).unwrap();
    assert!(list.contains(" room-33 "), "{list}");
}

#[test]
fn a_server_that_is_away_leaves_its_last_figures() {
    let mut screen = screen();
    let text = "cannot reach it".to_owned();
    let again_in = Duration::from_secs(4);
    screen.hear(News::Trouble { text, again_in });
    let away = picture(&screen, 80, 24);
    let last = away.lines().last().unwrap();
    assert_eq!(
        last,
        " AWAY, figures of 09:14:00, next try in 4s: cannot reach it"
    );
    assert!(away.contains("1,208"), "{away}");
    screen.hear(News::Seen(Box::new(look(7, 0, stats(&json!([]))))));
    assert_eq!(screen.footer, Footer::Keys);
}

#[test]
fn more_are_let_in_only_after_a_yes() {
    let mut screen = screen();
    assert_eq!(screen.press(Key::Admit), Step::Stay);
    let asked = picture(&screen, 80, 24);
    assert!(asked.contains(" Let 10 more into main? y: yes"), "{asked}");
    assert_eq!(screen.press(Key::Admit), Step::Stay, "that is no yes");
    assert_eq!(
        screen.press(Key::Yes),
        Step::Stay,
        "nothing is asked any more"
    );
    screen.press(Key::Admit);
    let told = Step::Ask(Wish::Tell(RoomId::main(), Word::Admit(10)));
    assert_eq!(screen.press(Key::Yes), told);
}

#[test]
fn a_yes_is_for_the_room_that_the_question_named() {
    let mut screen = screen();
    screen.press(Key::Admit);
    let mut other = look(0, 0, stats(&json!([])));
    other.room = other.rooms[0].clone();
    screen.hear(News::Seen(Box::new(other)));
    assert_eq!(screen.room.id.as_str(), "album-sale");
    assert!(picture(&screen, 80, 24).contains("more into main?"));
    let told = Step::Ask(Wish::Tell(RoomId::main(), Word::Admit(10)));
    assert_eq!(screen.press(Key::Yes), told);
}

#[test]
fn the_same_key_pauses_and_resumes() {
    let mut screen = screen();
    let main = RoomId::main;
    assert_eq!(
        screen.press(Key::Pause),
        Step::Ask(Wish::Tell(main(), Word::Pause))
    );
    screen.room.state = "PAUSED".into();
    assert_eq!(
        screen.press(Key::Pause),
        Step::Ask(Wish::Tell(main(), Word::Resume))
    );
}

#[test]
fn rooms_are_gone_through_in_both_directions() {
    let mut screen = screen();
    let album = || Step::Ask(Wish::Look(RoomId::parse("album-sale").unwrap()));
    assert_eq!(screen.press(Key::NextRoom), album(), "round the end");
    assert_eq!(screen.press(Key::PreviousRoom), album());
    screen.rooms.truncate(1);
    screen.room = screen.rooms[0].clone();
    assert_eq!(screen.press(Key::NextRoom), Step::Stay, "there is no other");
}

#[test]
fn a_deleted_room_gives_way_to_the_main_one() {
    let gone = RoomId::parse("album-sale").unwrap();
    let step = screen().hear(News::Gone(gone));
    assert_eq!(step, Step::Ask(Wish::Look(RoomId::main())));
}

#[test]
fn what_came_of_a_key_is_shown_for_a_while() {
    let mut screen = screen();
    screen.hear(News::Told("main is paused".into()));
    for _ in 0..5 {
        screen.hear(News::Seen(Box::new(look(7, 0, stats(&json!([]))))));
        assert!(picture(&screen, 80, 24).contains("main is paused"));
    }
    screen.hear(News::Seen(Box::new(look(7, 0, stats(&json!([]))))));
    assert_eq!(screen.footer, Footer::Keys);
}

#[test]
fn help_is_closed_by_any_key() {
    let mut screen = screen();
    screen.press(Key::Help);
    let help = picture(&screen, 80, 24);
    assert!(help.contains("p             pause, or resume"), "{help}");
    assert_eq!(screen.press(Key::Pause), Step::Stay);
    assert_eq!(screen.mode, Mode::Watching);
}
