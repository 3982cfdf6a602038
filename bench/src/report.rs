//! Tables, for the terminal and as Markdown.

use std::{fmt::Write as _, fs, iter, path::Path};

use crate::{
    Result,
    goals::{self, Goal},
    plot::Plot,
    stats::{Run, Samples},
};

/// What one part of a run found out.
#[derive(Debug, Default)]
pub(crate) struct Chapter {
    pub(crate) tables: Vec<Table>,
    /// What the product is held to and this part has measured.
    pub(crate) goals: Vec<Goal>,
    /// Each is shown below its table.
    pub(crate) plots: Vec<Plot>,
}

impl Chapter {
    pub(crate) fn of(table: Table) -> Self {
        Self {
            tables: vec![table],
            ..Self::default()
        }
    }

    pub(crate) fn append(&mut self, mut later: Self) {
        self.tables.append(&mut later.tables);
        self.goals.append(&mut later.goals);
        self.plots.append(&mut later.plots);
    }
}

/// One table with a title and the sentences that it cannot be read without.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) note: String,
    /// The first column is text, the others are numbers.
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn to_text(&self) -> String {
        format!("{}\n\n{}", self.title, self.grid("  ", ""))
    }

    fn to_markdown(&self) -> String {
        format!(
            "## {}\n\n{}\n\n{}",
            self.title,
            self.note,
            self.grid(" | ", "|")
        )
    }

    /// The cells in columns of equal width; Markdown is the same with bars and a rule.
    fn grid(&self, between: &str, edge: &str) -> String {
        let header: Vec<String> = self.columns.iter().map(|&name| name.to_owned()).collect();
        let widths: Vec<usize> = (0..header.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| row[column].chars().count());
                cells.max().unwrap_or(0).max(header[column].chars().count())
            })
            .collect();
        let rule = widths.iter().enumerate().map(|(column, &width)| {
            let dashes = "-".repeat(width.saturating_sub(usize::from(column > 0)));
            if column > 0 {
                format!("{dashes}:")
            } else {
                dashes
            }
        });

        let mut text = line(&header, &widths, between, edge);
        if !edge.is_empty() {
            text += &line(&rule.collect::<Vec<_>>(), &widths, between, edge);
        }
        for row in &self.rows {
            text += &line(row, &widths, between, edge);
        }
        text
    }
}

fn line(cells: &[String], widths: &[usize], between: &str, edge: &str) -> String {
    let padded: Vec<String> = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        })
        .collect();
    let gap = if edge.is_empty() { "  " } else { " " };
    let row = format!("{edge}{gap}{}{gap}{edge}", padded.join(between));
    format!("{}\n", row.trim_end())
}

/// The whole of `docs/BENCHMARKS.md`.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) command: &'a str,
    pub(crate) commit: &'a str,
    pub(crate) machine: Vec<(&'static str, String)>,
    /// Parts that failed, and why.
    pub(crate) missing: &'a [String],
    pub(crate) chapter: &'a Chapter,
}

/// Where the plots are, beside the report.
const PLOTS: &str = "bench";

impl Report<'_> {
    /// Writes the report, and its plots into a directory beside it.
    pub(crate) fn write(&self, out: &Path) -> Result<()> {
        let directory = out.parent().unwrap_or(Path::new("")).join(PLOTS);
        if !self.chapter.plots.is_empty() {
            fs::create_dir_all(&directory)?;
        }
        for plot in &self.chapter.plots {
            fs::write(directory.join(format!("{}.svg", plot.file)), plot.to_svg())?;
        }
        Ok(fs::write(out, self.to_markdown())?)
    }

    fn to_markdown(&self) -> String {
        let mut text = format!(
            "# Benchmarks\n\n\
             Written by the benchmark; do not edit. Figures are medians of interleaved repetitions, with the\n\
             smallest and the largest beside them. Server, load generator and disk share one machine, so\n\
             rates move from run to run: believe the ratios, which compare within a repetition.\n\n\
             - command: `{}`\n",
            self.command
        );
        for (name, value) in &self.machine {
            writeln!(text, "- {name}: {value}").expect("a string takes every write");
        }
        writeln!(text, "- commit: {}", self.commit).expect("a string takes every write");
        for part in self.missing {
            writeln!(text, "- not measured: {part}").expect("a string takes every write");
        }
        let goals = goals::table(&self.chapter.goals);
        for table in iter::once(&goals).chain(&self.chapter.tables) {
            text += "\n";
            text += &table.to_markdown();
            let plots = self.chapter.plots.iter();
            for plot in plots.filter(|plot| plot.table == table.title) {
                writeln!(text, "\n![{}]({PLOTS}/{}.svg)", plot.title, plot.file)
                    .expect("a string takes every write");
            }
        }
        text
    }
}

/// What came of the repetitions of something: rate, spread, waits, and its rate beside that of a yardstick.
pub(crate) fn compared(name: String, runs: &[Run], yardstick: &[Run]) -> Vec<String> {
    let of = |pick: fn(&Run) -> f64| runs.iter().map(pick).collect::<Samples>();
    let rates = of(|run| run.per_second);
    let pairs = runs.iter().zip(yardstick);
    let ratios: Samples = pairs
        .map(|(run, base)| run.per_second / base.per_second)
        .collect();
    vec![
        name,
        rate(rates.median()),
        rates.spread(rate),
        millis(of(|run| run.p50.as_secs_f64() * 1e3).median()),
        millis(of(|run| run.p99.as_secs_f64() * 1e3).median()),
        millis(of(|run| run.max.as_secs_f64() * 1e3).median()),
        ratio(ratios.median()),
    ]
}

/// `84,210`
pub(crate) fn rate(per_second: f64) -> String {
    thousands(&format!("{per_second:.0}"))
}

/// `3,333`
pub(crate) fn count(number: u64) -> String {
    thousands(&number.to_string())
}

fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn millis(value: f64) -> String {
    format!("{value:.2}")
}

/// Three digits that matter: `0.87`, `5.13`, `130`, `1,204`.
pub(crate) fn short(value: f64) -> String {
    if value.abs() < 10.0 {
        format!("{value:.2}")
    } else if value.abs() < 100.0 {
        format!("{value:.1}")
    } else {
        rate(value)
    }
}

pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(rate(7.4), "7");
        assert_eq!(rate(84_210.0), "84,210");
        assert_eq!(rate(1_138_578.2), "1,138,578");
    }

    #[test]
    fn markdown_rows_line_up() {
        let table = Table {
            title: "T".to_owned(),
            note: "Note.".to_owned(),
            columns: vec!["what", "n"],
            rows: vec![vec!["long name".to_owned(), "1".to_owned()]],
        };
        assert_eq!(
            table.to_markdown(),
            "## T\n\nNote.\n\n| what      | n |\n| --------- | : |\n| long name | 1 |\n"
        );
    }
}
