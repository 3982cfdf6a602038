//! The last quarter of an hour: who waited, who was inside, and how they were let in.

use ratatui::{
    Frame,
    layout::{Alignment, Rect},
    symbols::Marker,
    text::{Line, Span},
    widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph, Sparkline},
};

use super::{
    super::views::{Point, Stats},
    draw::Palette,
    numbers::compact,
};
use crate::units::grouped;

/// A young server's chart covers less, so that it is not mostly empty.
const WINDOWS_MIN: [u32; 4] = [1, 3, 5, 15];

/// The line and the room over time.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, stats: &Stats, palette: &Palette) {
    let minutes = window_min(stats);
    let title = Line::from_iter([
        format!(" last {minutes} min: ").into(),
        Span::styled("⣿ waiting", palette.waiting),
        "  ".into(),
        Span::styled("• inside ", palette.inside),
    ]);
    let block = Block::bordered().border_style(palette.frame).title(title);
    if stats.series.len() < 2 {
        let text = "No history yet: it begins with the start of the server.";
        let text = Paragraph::new(text).alignment(Alignment::Center);
        frame.render_widget(text.block(block), area);
        return;
    }
    let [waiting, inside] = [|point: &Point| point.waiting, |point: &Point| point.active]
        .map(|figure| line(stats, figure));
    let highest = stats.series.iter().map(|p| p.waiting.max(p.active)).max();
    let top = round_up(highest.unwrap_or(0));
    let set = |data, marker, style| {
        Dataset::default()
            .data(data)
            .marker(marker)
            .graph_type(GraphType::Line)
            .style(style)
    };
    let chart = Chart::new(vec![
        set(&waiting, Marker::Braille, palette.waiting),
        set(&inside, Marker::Dot, palette.inside),
    ])
    .block(block)
    .legend_position(None)
    .x_axis(
        Axis::default()
            .bounds([-window_s(stats), 0.0])
            .labels([format!("-{minutes}m"), "now".into()])
            .style(palette.frame),
    )
    .y_axis(
        Axis::default()
            .bounds([0.0, float(top)])
            .labels(["0".to_owned(), compact(top / 2), compact(top)])
            .style(palette.frame),
    );
    frame.render_widget(chart, area);
}

/// Admissions, a column for each few seconds.
pub(super) fn admissions(frame: &mut Frame<'_>, area: Rect, stats: &Stats, palette: &Palette) {
    let columns = usize::from(area.width.saturating_sub(2)).max(1);
    let counts = admitted_per_column(stats, columns);
    let most = counts.iter().max().copied().unwrap_or(0);
    let title = format!(
        " admitted in each {:.1}s, at most {} ",
        window_s(stats) / float(columns as u64),
        grouped(most)
    );
    let block = Block::bordered().border_style(palette.frame).title(title);
    let bars = Sparkline::default()
        .data(&counts)
        .max(most.max(1))
        .style(palette.inside)
        .block(block);
    frame.render_widget(bars, area);
}

fn line(stats: &Stats, figure: impl Fn(&Point) -> u64) -> Vec<(f64, f64)> {
    let points = stats.series.iter();
    points
        .map(|point| (-age_s(stats, point), float(figure(point))))
        .collect()
}

/// How many were let in during each column's part of the window, the newest last.
fn admitted_per_column(stats: &Stats, columns: usize) -> Vec<u64> {
    let mut counts = vec![0; columns];
    for pair in stats.series.windows(2) {
        let part = age_s(stats, &pair[1]) / window_s(stats);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a column of the terminal, counted from the right"
        )]
        let from_right = (part * float(columns as u64)).max(0.0) as usize;
        // A room that was deleted and made again counts from nothing.
        let admitted = pair[1].admitted.saturating_sub(pair[0].admitted);
        if let Some(count) = counts.iter_mut().rev().nth(from_right) {
            *count += admitted;
        }
    }
    counts
}

fn window_s(stats: &Stats) -> f64 {
    f64::from(window_min(stats)) * 60.0
}

/// The shortest window that shows all there is.
fn window_min(stats: &Stats) -> u32 {
    let age = stats
        .series
        .first()
        .map_or(0.0, |point| age_s(stats, point));
    let fits = |minutes: &u32| f64::from(*minutes) * 60.0 >= age;
    WINDOWS_MIN.into_iter().find(fits).unwrap_or(15)
}

fn age_s(stats: &Stats, point: &Point) -> f64 {
    stats.as_of.duration_since(point.at).as_secs_f64()
}

/// The next of 10, 20, 30, 40, 60, 80, 100, 200, … so that the scale does not jump with every visitor.
fn round_up(highest: u64) -> u64 {
    let mut step = 10_u64;
    loop {
        for factor in [1, 2, 3, 4, 6, 8] {
            let top = step.saturating_mul(factor);
            if top >= highest {
                return top;
            }
        }
        step = step.saturating_mul(10);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_and_never_below_the_highest() {
        for (highest, top) in [
            (0, 10),
            (10, 10),
            (11, 20),
            (2_416, 3_000),
            (999, 1_000),
            (1_234_567, 2_000_000),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(round_up(highest), top);
        }
    }
}
