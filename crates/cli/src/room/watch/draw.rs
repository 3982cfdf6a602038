//! The picture as a whole.

use jiff::tz::TimeZone;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph},
};

use super::{
    chart, numbers,
    screen::{Footer, MORE, Mode, Screen},
};
use crate::{
    room::{table::next_wait, words::Word},
    units::spoken,
};

/// Below this a chart shows nothing.
const CHART_MIN: u16 = 6;
const BARS: u16 = 4;
const HELP: [&str; 9] = [
    "Tab, arrows   another room",
    "p             pause, or resume",
    "a             let 10 more in (asks first)",
    "q, Ctrl-C     quit",
    "",
    "wait p50/p90: half, nine in ten waited no longer.",
    "told right:   share of waits within the band they",
    "              were told; four in five is good.",
    "left/min:     passes that ended.",
];

/// Styles by meaning. Without colours, weight and shape carry it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette {
    pub(super) frame: Style,
    pub(super) label: Style,
    pub(super) figure: Style,
    pub(super) waiting: Style,
    pub(super) inside: Style,
    good: Style,
    warn: Style,
}

impl Palette {
    pub(super) fn coloured() -> Self {
        Self {
            frame: Style::new().fg(Color::DarkGray),
            label: Style::new().fg(Color::Gray),
            waiting: Style::new().fg(Color::Yellow),
            inside: Style::new().fg(Color::Cyan),
            good: Style::new().fg(Color::Green).add_modifier(Modifier::BOLD),
            warn: Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            ..Self::plain()
        }
    }

    pub(super) fn plain() -> Self {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        Self {
            frame: Style::new(),
            label: Style::new(),
            figure: bold,
            waiting: Style::new(),
            inside: Style::new(),
            good: bold,
            warn: bold.add_modifier(Modifier::REVERSED),
        }
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, screen: &Screen, palette: &Palette) {
    let area = frame.area();
    let spare = area.height.saturating_sub(3 + numbers::height(area));
    let bars = if spare >= CHART_MIN + BARS { BARS } else { 0 };
    let chart = if spare - bars >= CHART_MIN {
        spare - bars
    } else {
        0
    };
    let [head, rooms, cards, lines, columns, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(chart),
        Constraint::Length(bars),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(header(screen, palette), head);
    frame.render_widget(room_list(screen, rooms.width), rooms);
    numbers::draw(frame, cards, screen, palette);
    if chart > 0 {
        chart::draw(frame, lines, &screen.stats, palette);
    }
    if bars > 0 {
        chart::admissions(frame, columns, &screen.stats, palette);
    }
    frame.render_widget(footer(screen, palette), foot);
    if screen.mode == Mode::Help {
        help(frame, area);
    }
}

fn header<'a>(screen: &'a Screen, palette: &Palette) -> Line<'a> {
    let state = match screen.room.state.as_str() {
        "OPEN" => palette.good,
        _ => palette.warn,
    };
    let clock = screen.stats.as_of.to_zoned(TimeZone::UTC);
    let wait = next_wait(screen.stats.estimate, &screen.room.state);
    Line::from_iter([
        Span::styled(format!(" {} ", screen.room.id), palette.figure),
        Span::styled(screen.room.state.as_str(), state),
        Span::raw(format!("   next wait: {wait}   ")),
        Span::raw(clock.strftime("%H:%M:%S UTC").to_string()),
        Span::styled(format!("   {}", screen.server), palette.label),
    ])
}

/// As many rooms as fit, the one that is looked at among them.
fn room_list(screen: &Screen, width: u16) -> Line<'_> {
    let at = screen
        .rooms
        .iter()
        .position(|room| room.id == screen.room.id);
    let at = at.unwrap_or(0);
    let needed = |from: usize| -> usize {
        let shown = screen.rooms.iter().take(at + 1).skip(from);
        shown.map(|room| room.id.as_str().len() + 2).sum()
    };
    let first = (0..at).find(|from| needed(*from) < usize::from(width));
    let first = first.unwrap_or(at);
    let shown = screen.rooms.iter().enumerate().skip(first);
    let names = shown.map(|(index, room)| {
        let style = if index == at {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new()
        };
        Span::styled(format!(" {} ", room.id), style)
    });
    names.collect()
}

fn footer<'a>(screen: &'a Screen, palette: &Palette) -> Line<'a> {
    match (&screen.mode, &screen.footer) {
        (Mode::Asking(room, word), _) => {
            let what = match word {
                Word::Admit(count) => format!("Let {count} more into {room}?"),
                _ => format!("Do this to {room}?"),
            };
            Line::styled(format!(" {what} y: yes, any other key: no"), palette.warn)
        }
        (_, Footer::Notice { text, .. }) => Line::styled(format!(" {text}"), palette.good),
        (_, Footer::Away { why, again_in }) => {
            let since = screen.stats.as_of.to_zoned(TimeZone::UTC);
            let text = format!(
                " AWAY, figures of {}, next try in {}: {why}",
                since.strftime("%H:%M:%S"),
                spoken(*again_in)
            );
            Line::styled(text, palette.warn)
        }
        (_, Footer::Keys) => {
            let pause = match screen.pause_or_resume() {
                Word::Resume => "resume",
                _ => "pause",
            };
            Line::styled(
                format!(" q quit   Tab next room   p {pause}   a admit {MORE}   ? help"),
                palette.label,
            )
        }
    }
}

fn help(frame: &mut Frame<'_>, area: Rect) {
    let lines = HELP.map(|line| Line::raw(format!(" {line}")));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let area = area.centered(Constraint::Length(54), Constraint::Length(height + 2));
    let block = Block::bordered().title(" keys and figures; any key closes ");
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines.to_vec()).block(block), area);
}
