//! The figures of a room, as cards.

use ratatui::{
    Frame,
    layout::{Alignment, Constraint, Layout, Rect},
    text::{Line, Text},
    widgets::{Block, Paragraph},
};

use super::{
    super::{
        show::{in_band, inside, rate, seconds_or_dash},
        views::Room,
    },
    big::big,
    draw::Palette,
    screen::Screen,
};
use crate::units::grouped;

const CARDS: u16 = 8;
/// With a border around one line, or around three.
const CARD: u16 = 3;
const BIG_CARD: u16 = 5;
/// From here on there is room for big cards beside the charts.
const TALL: u16 = 32;

/// How many lines the cards take on a terminal of this size.
pub(super) fn height(terminal: Rect) -> u16 {
    let card = if terminal.height >= TALL {
        BIG_CARD
    } else {
        CARD
    };
    CARDS.div_ceil(columns(terminal.width)) * card
}

/// A card needs 16 columns for a line of millions.
fn columns(width: u16) -> u16 {
    match width {
        136.. => 8,
        64.. => 4,
        _ => 2,
    }
}

/// The cards, or as many of them as fit, the most important first.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, screen: &Screen, palette: &Palette) {
    let columns = columns(area.width);
    let figures = figures(screen, area.width / columns);
    if area.height < CARD {
        let [(_, waiting), (_, inside), ..] = figures;
        let line = Line::raw(format!(" {waiting} waiting, {inside} inside"));
        frame.render_widget(line, area);
        return;
    }
    let rows = figures.chunks(usize::from(columns));
    let fitting = usize::from(area.height / CARD).min(rows.len());
    let heights = Layout::vertical(vec![Constraint::Fill(1); fitting]);
    for (row, area) in rows.zip(heights.split(area).iter()) {
        let widths = Layout::horizontal(row.iter().map(|_| Constraint::Fill(1)));
        for ((name, figure), area) in row.iter().zip(widths.split(*area).iter()) {
            frame.render_widget(card(name, figure, *area, palette), *area);
        }
    }
}

fn card<'a>(name: &str, figure: &'a str, area: Rect, palette: &Palette) -> Paragraph<'a> {
    let block = Block::bordered()
        .border_style(palette.frame)
        .title(Line::styled(format!(" {name} "), palette.label));
    let inner = block.inner(area);
    let lines = match big(figure, inner.width) {
        Some(lines) if inner.height >= 3 => lines.map(Line::from).to_vec(),
        _ => {
            let above = usize::from(inner.height.saturating_sub(1) / 2);
            let mut lines = vec![Line::default(); above];
            lines.push(figure.into());
            lines
        }
    };
    let text = Text::from(lines).style(palette.figure);
    Paragraph::new(text)
        .alignment(Alignment::Center)
        .block(block)
}

fn figures(screen: &Screen, card_width: u16) -> [(&'static str, String); CARDS as usize] {
    let (rates, waits) = (screen.stats.per_minute, screen.stats.waits);
    let waits = if waits.count == 0 {
        "-".into()
    } else {
        format!(
            "{} / {}",
            seconds_or_dash(waits.p50_seconds),
            seconds_or_dash(waits.p90_seconds)
        )
    };
    [
        ("waiting", grouped(screen.room.waiting)),
        ("inside", inside_within(&screen.room, card_width)),
        ("joined/min", rate(rates.joined)),
        ("admitted/min", rate(rates.admitted)),
        ("left/min", rate(rates.departed)),
        ("gave up/min", rate(rates.left)),
        ("wait p50 / p90", waits),
        ("told right", in_band(&screen.stats.estimates)),
    ]
}

/// How many are inside, shortened if it is wider than a card.
fn inside_within(room: &Room, card_width: u16) -> String {
    let text = inside(room);
    match room.policy.active_max {
        Some(cap) if text.len() + 2 > usize::from(card_width) => {
            format!("{}/{}", compact(room.active), compact(cap))
        }
        _ => text,
    }
}

/// At most six characters up to billions: 950, 20k, 1.5M.
pub(super) fn compact(count: u64) -> String {
    let in_units = |unit: u64, name: &str| {
        let tenths = count / (unit / 10);
        match tenths % 10 {
            0 => format!("{}{name}", tenths / 10),
            rest => format!("{}.{rest}{name}", tenths / 10),
        }
    };
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => in_units(1_000, "k"),
        _ => in_units(1_000_000, "M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_shortened_and_never_rounded_up() {
        for (count, text) in [
            (0, "0"),
            (9_999, "9999"),
            (10_000, "10k"),
            (12_345, "12.3k"),
            (999_999, "999.9k"),
            (1_000_000, "1M"),
            (2_590_000, "2.5M"),
        ] {
            assert_eq!(compact(count), text);
        }
    }
}
