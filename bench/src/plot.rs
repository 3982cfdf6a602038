//! Line plots as SVG files.
//!
//! They have a background of their own, so that they read alike on a light and on a dark page.

use std::fmt::Write as _;

use crate::stats::Samples;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
/// The lines are drawn between these.
const LEFT: f64 = 88.0;
const RIGHT: f64 = WIDTH - 28.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = HEIGHT - 62.0;

/// Told apart by brightness too, for readers who see few colours.
const COLOURS: [&str; 4] = ["#0550ae", "#2da44e", "#d4750b", "#6e7781"];
const INK: &str = "#1f2328";
const FAINT: &str = "#59636e";
const RULE: &str = "#d8dee4";

/// Lines over the same logarithmic axis.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    /// Its name without directory and ending.
    pub(crate) file: &'static str,
    /// The title of the table whose figures it shows.
    pub(crate) table: String,
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) stroke: Stroke,
    pub(crate) points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid,
    /// A yardstick.
    Dashed,
}

#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) x: f64,
    /// What stands below the axis here.
    pub(crate) label: String,
    pub(crate) y: Samples,
}

impl Plot {
    pub(crate) fn to_svg(&self) -> String {
        let scale = Scale::of(&self.lines);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"13\" role=\"img\">\n\
             <title>{}</title>\n\
             <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"#ffffff\" stroke=\"{RULE}\"/>\n",
            self.title,
            WIDTH - 1.0,
            HEIGHT - 1.0,
        );
        svg += &text(
            (LEFT, 30.0),
            "start",
            INK,
            "16\" font-weight=\"600",
            &self.title,
        );
        svg += &self.axes(&scale);
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            svg += &line.to_svg(colour, &scale);
        }
        svg += &self.legend();
        svg + "</svg>\n"
    }

    fn axes(&self, scale: &Scale) -> String {
        let mut svg = String::new();
        for value in scale.rules() {
            let y = scale.y(value);
            svg += &rule((LEFT, y), (RIGHT, y), RULE);
            svg += &text((LEFT - 10.0, y + 4.5), "end", FAINT, "13", &figure(value));
        }
        let longest = self.lines.iter().max_by_key(|line| line.points.len());
        for point in longest.into_iter().flat_map(|line| &line.points) {
            let x = scale.x(point.x);
            svg += &rule((x, BOTTOM), (x, BOTTOM + 5.0), FAINT);
            svg += &text((x, BOTTOM + 22.0), "middle", FAINT, "13", &point.label);
        }
        svg += &rule((LEFT, BOTTOM), (RIGHT, BOTTOM), FAINT);
        let middle = f64::midpoint(LEFT, RIGHT);
        svg += &text((middle, HEIGHT - 16.0), "middle", INK, "13", self.x);
        let turned = f64::midpoint(TOP, BOTTOM);
        let turned = format!("13\" transform=\"rotate(-90 22 {turned:.1})");
        svg + &text(
            (22.0, f64::midpoint(TOP, BOTTOM)),
            "middle",
            INK,
            &turned,
            self.y,
        )
    }

    fn legend(&self) -> String {
        const STEP: f64 = 158.0;
        let mut svg = String::new();
        let mut x = LEFT;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            svg += &path(&[(x, 54.0), (x + 26.0, 54.0)], colour, line.stroke);
            svg += &text((x + 34.0, 58.5), "start", INK, "13", &line.name);
            x += STEP;
        }
        svg
    }
}

impl Line {
    fn to_svg(&self, colour: &str, scale: &Scale) -> String {
        let at = |point: &Point| (scale.x(point.x), scale.y(point.y.median()));
        let middles: Vec<_> = self.points.iter().map(at).collect();
        let mut svg = path(&middles, colour, self.stroke);
        if self.stroke == Stroke::Dashed {
            return svg;
        }
        for (point, (x, y)) in self.points.iter().zip(middles) {
            let (low, high) = (scale.y(point.y.min()), scale.y(point.y.max()));
            svg += &rule((x, low), (x, high), colour);
            writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"1.5\"/>"
            )
            .expect("a string takes every write");
        }
        svg
    }
}

/// From figures to places in the picture.
#[derive(Debug)]
struct Scale {
    /// Logarithms of the smallest and the largest.
    x: (f64, f64),
    y_max: f64,
    y_step: f64,
}

impl Scale {
    fn of(lines: &[Line]) -> Self {
        let points = || lines.iter().flat_map(|line| &line.points);
        let logs = || points().map(|point| point.x.log10());
        let highest = points().map(|point| point.y.max()).fold(0.0, f64::max);
        let y_step = step(highest);
        Self {
            x: (
                logs().fold(f64::INFINITY, f64::min),
                logs().fold(f64::NEG_INFINITY, f64::max),
            ),
            y_max: (highest / y_step).ceil().max(1.0) * y_step,
            y_step,
        }
    }

    fn x(&self, value: f64) -> f64 {
        // The first and the last point keep clear of the edges.
        let (left, right) = (LEFT + 28.0, RIGHT - 28.0);
        let (low, high) = self.x;
        if high <= low {
            return f64::midpoint(left, right);
        }
        left + (value.log10() - low) / (high - low) * (right - left)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - value / self.y_max * (BOTTOM - TOP)
    }

    fn rules(&self) -> impl Iterator<Item = f64> {
        let (step, max) = (self.y_step, self.y_max);
        let values = std::iter::successors(Some(0.0), move |value| Some(value + step));
        values.take_while(move |value| *value <= max * 1.001)
    }
}

/// 1, 2 or 5 times a power of ten, so that there are four to ten rules.
fn step(highest: f64) -> f64 {
    let rough = (highest / 5.0).max(1e-9);
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    steps
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(power)
}

fn figure(value: f64) -> String {
    if value >= 1_000.0 {
        format!("{:.0} k", value / 1_000.0)
    } else if value.fract() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

fn text((x, y): (f64, f64), anchor: &str, colour: &str, size: &str, words: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\" font-size=\"{size}\">{words}</text>\n"
    )
}

fn rule((x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str) -> String {
    format!(
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>\n"
    )
}

fn path(points: &[(f64, f64)], colour: &str, stroke: Stroke) -> String {
    let places: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let dashes = match stroke {
        Stroke::Solid => "",
        Stroke::Dashed => " stroke-dasharray=\"6 5\"",
    };
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-linejoin=\"round\"{dashes}/>\n",
        places.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> Line {
        let point = |&(x, y): &(f64, f64)| Point {
            x,
            label: format!("{x}"),
            y: [y].into_iter().collect(),
        };
        Line {
            name: "line".to_owned(),
            stroke: Stroke::Solid,
            points: points.iter().map(point).collect(),
        }
    }

    #[test]
    fn equal_factors_are_equal_distances_and_nothing_leaves_the_picture() {
        let scale = Scale::of(&[line(&[(1e4, 3.0), (1e5, 70_300.0), (1e6, 9.0)])]);
        let [first, second, third] = [1e4, 1e5, 1e6].map(|x| scale.x(x));
        assert!((second - first - (third - second)).abs() < 1e-6);
        assert!(first > LEFT && third < RIGHT);
        assert!(scale.y(70_300.0) >= TOP && scale.y(0.0) <= BOTTOM);
        assert!((4..=11).contains(&scale.rules().count()));
    }

    #[test]
    fn one_length_alone_is_drawn_too() {
        let plot = Plot {
            file: "f",
            table: "t".to_owned(),
            title: "Growth".to_owned(),
            x: "waiting",
            y: "requests/s",
            lines: vec![line(&[(1e4, 5.0)])],
        };
        let svg = plot.to_svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
