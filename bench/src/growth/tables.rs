//! What the lines of all lengths come to.

use super::{Grown, Hellos, sides::Design, tick::Ticks};
use crate::{
    http::{Args, Load, admission::TICK, figures::Figures, turns::SLICE},
    plot::{Line, Plot, Point, Stroke},
    report::{self, Table},
    stats::Samples,
};

const TITLE: &str = "As the line grows";

pub(crate) fn growth(
    args: &Args,
    grown: &[Grown],
    [beside_status, beside_joins]: &Hellos,
) -> Table {
    Table {
        title: TITLE.to_owned(),
        note: format!(
            "A server for every length of the line and every design, all of them running; status of all in turn, then ticks,\n\
             then joins: {} repetitions of {} s in slices of {} ms, {} connections. Lines are filled by the product's own store\n\
             without HTTP, status is asked with the tokens of 20,000 visitors from one end of the line to the other. While joins\n\
             are measured the line grows by as many (`joined`). A tick lets in {} present visitors by an operator's word, seen\n\
             from outside; `held` is the longest call that Redis did nothing else in. Each Redis syncs its log every second;\n\
             embedded joins are synced before their answers. `hello` made {} requests/s beside status and {} beside joins.",
            args.rounds,
            args.seconds,
            SLICE.as_millis(),
            args.connections,
            report::count(TICK),
            report::rate(rates(&beside_status.figures).median()),
            report::rate(rates(&beside_joins.figures).median()),
        ),
        columns: vec![
            "design, waiting",
            "status/s",
            "× hello",
            "min..max",
            "× shortest",
            "joins/s",
            "× hello",
            "min..max",
            "joined",
            "tick ms",
            "min..max",
            "held ms",
        ],
        rows: grown
            .iter()
            .map(|line| {
                row(
                    line,
                    shortest(grown, line.design),
                    beside_status,
                    beside_joins,
                )
            })
            .collect(),
    }
}

fn shortest(grown: &[Grown], design: Design) -> Option<&Grown> {
    grown.iter().find(|line| line.design == design)
}

fn row(
    line: &Grown,
    shortest: Option<&Grown>,
    beside_status: &Load,
    beside_joins: &Load,
) -> Vec<String> {
    let status = line.status.figures.ratios(&beside_status.figures);
    let join = line.join.figures.ratios(&beside_joins.figures);
    let against = shortest.map(|shortest| line.status.figures.ratios(&shortest.status.figures));
    let mut row = vec![
        format!("{}, {}", line.design.name(), length(line.waiting)),
        report::rate(rates(&line.status.figures).median()),
        report::ratio(status.median()),
        status.spread(report::ratio),
        against.map_or_else(none, |ratios| report::ratio(ratios.median())),
        report::rate(rates(&line.join.figures).median()),
        report::ratio(join.median()),
        join.spread(report::ratio),
        report::rate(line.join.figures.answers()),
    ];
    row.extend(of_ticks(line.ticks.as_ref()));
    row
}

fn of_ticks(ticks: Option<&Ticks>) -> [String; 3] {
    let Some(ticks) = ticks else {
        return [none(), none(), none()];
    };
    let (millis, blocked) = (ticks.millis(), ticks.blocked());
    let held = match blocked.median() {
        0.0 => none(),
        held => report::millis(held),
    };
    [
        format!("{:.1}", millis.median()),
        millis.spread(|millis| format!("{millis:.1}")),
        held,
    ]
}

fn none() -> String {
    "–".to_owned()
}

fn rates(figures: &Figures) -> Samples {
    figures.of(|run| run.per_second)
}

/// `10 thousand`, `14 million`
pub(crate) fn length(waiting: u64) -> String {
    match waiting {
        0..1_000 => waiting.to_string(),
        1_000..1_000_000 => format!("{} thousand", waiting / 1_000),
        _ => format!("{} million", waiting / 1_000_000),
    }
}

pub(crate) fn plots(grown: &[Grown], [beside_status, beside_joins]: &Hellos) -> Vec<Plot> {
    let plot = |file, title: &str, y, lines| Plot {
        file,
        table: TITLE.to_owned(),
        title: title.to_owned(),
        x: "waiting visitors (logarithmic)",
        y,
        lines,
    };
    let status = lines(grown, |line| Some(rates(&line.status.figures)));
    let joins = lines(grown, |line| Some(rates(&line.join.figures)));
    let ticks = lines(grown, |line| line.ticks.as_ref().map(Ticks::millis));
    let with = |mut lines: Vec<Line>, hello| {
        lines.push(yardstick(grown, hello));
        lines
    };
    vec![
        plot(
            "growth-status",
            "Status as the line grows",
            "requests/s",
            with(status, beside_status),
        ),
        plot(
            "growth-join",
            "Joins as the line grows",
            "requests/s",
            with(joins, beside_joins),
        ),
        plot(
            "growth-tick",
            "A tick of 3,333 as the line grows",
            "ms",
            ticks,
        ),
    ]
}

/// One for every design that has the figure.
fn lines(grown: &[Grown], figure: impl Fn(&Grown) -> Option<Samples>) -> Vec<Line> {
    let line = |design| {
        let lengths = grown.iter().filter(|line| line.design == design);
        let points: Vec<Point> = lengths
            .filter_map(|line| Some(point(line.waiting, figure(line)?)))
            .collect();
        (!points.is_empty()).then(|| Line {
            name: design.name().to_owned(),
            stroke: Stroke::Solid,
            points,
        })
    };
    Design::ALL.into_iter().filter_map(line).collect()
}

/// The same at every length.
fn yardstick(grown: &[Grown], hello: &Load) -> Line {
    let lengths = grown.iter().filter(|line| line.design == Design::Embedded);
    Line {
        name: "hello".to_owned(),
        stroke: Stroke::Dashed,
        points: lengths
            .map(|line| point(line.waiting, rates(&hello.figures)))
            .collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "no line is 2^52 long")]
fn point(waiting: u64, y: Samples) -> Point {
    Point {
        x: waiting as f64,
        label: length(waiting),
        y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_as_one_says_them() {
        assert_eq!(length(500), "500");
        assert_eq!(length(10_000), "10 thousand");
        assert_eq!(length(14_000_000), "14 million");
    }
}
