//! All rows of a file, in the order in which they are taken over.

use std::{
    collections::HashSet,
    io::{self, BufRead, Read},
};

use ropeline_core::Was;

use super::{
    rejects::Rejects,
    row::{NoRow, Row},
};

/// A row of a queue has a hundred bytes; a line beyond this is something else.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// The rows that can be taken over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// Those inside, then those waiting; each by when their place was given, and as in the file where that is
    /// the same moment.
    pub(super) rows: Vec<Row>,
    /// How many of them are inside.
    pub(super) inside: usize,
}

impl Table {
    /// Reads every line; those that are no rows, or rows of somebody who came before, are left out.
    pub(super) fn read(input: &mut dyn BufRead, rejects: &mut Rejects) -> io::Result<Self> {
        let mut rows = Vec::new();
        let mut lines = Lines { input, number: 0 };
        let mut text = Vec::new();
        while let Some(line) = lines.next(&mut text)? {
            let row = match line {
                Length::Whole if text.trim_ascii().is_empty() => continue,
                Length::Whole => Row::parse(lines.number, &text),
                Length::Cut => Err(NoRow::Rejected("the line is longer than any row".into())),
            };
            match row {
                Ok(row) => rows.push(row),
                Err(why) => rejects.add(lines.number, &why)?,
            }
        }
        Self::of(rows, rejects)
    }

    fn of(mut rows: Vec<Row>, rejects: &mut Rejects) -> io::Result<Self> {
        rows.sort_by_key(|row| (row.was == Was::Waiting, row.issued_at));
        drop_repeated(&mut rows, rejects)?;
        let inside = rows.partition_point(|row| row.was == Was::Inside);
        Ok(Self { rows, inside })
    }
}

/// The first row of a user counts.
fn drop_repeated(rows: &mut Vec<Row>, rejects: &mut Rejects) -> io::Result<()> {
    let mut seen = HashSet::with_capacity(rows.len());
    let first: Vec<bool> = rows
        .iter()
        .map(|row| seen.insert(row.user.as_str()))
        .collect();
    drop(seen);
    for (row, _) in rows.iter().zip(&first).filter(|(_, first)| !**first) {
        let reason = format!("userId {} has a row that comes first", row.user.as_str());
        rejects.add(row.line, &NoRow::Rejected(reason))?;
    }
    let mut first = first.into_iter();
    rows.retain(|_| first.next().unwrap_or(true));
    Ok(())
}

/// Whether a line was read to its end.
enum Length {
    Whole,
    Cut,
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
}

impl Lines<'_> {
    /// The next line, as far as it may be long; the rest of a longer one is passed over.
    fn next(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Length>> {
        text.clear();
        let read = self.input.take(LINE_BYTES_MAX).read_until(b'\n', text)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && text.starts_with("\u{feff}".as_bytes()) {
            text.drain(..3);
        }
        let cut = read as u64 == LINE_BYTES_MAX && text.last() != Some(&b'\n');
        if cut {
            self.input.skip_until(b'\n')?;
            return Ok(Some(Length::Cut));
        }
        Ok(Some(Length::Whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, String) {
        let mut rejects = Rejects::default();
        let table = Table::read(&mut text.as_bytes(), &mut rejects).unwrap();
        let users = table.rows.iter().map(|row| row.user.as_str().to_owned());
        (users.collect(), rejects.text())
    }

    fn row(user: &str, at: u64, status: &str) -> String {
        format!("{{\"userId\":\"{user}\",\"issuedAt\":{at},\"status\":\"{status}\"}}\n")
    }

    #[test]
    fn rows_come_by_their_time_and_those_inside_first() {
        let text = [
            row("late", 30, "WAIT"),
            row("inside", 20, "ACTIVE"),
            row("early", 10, "WAIT"),
            row("tie", 10, "WAIT"),
        ];
        let users = ["inside", "early", "tie", "late"].map(str::to_owned);
        assert_eq!(read(&text.concat()), (users.to_vec(), String::new()));
    }

    #[test]
    fn the_first_row_of_a_user_counts_and_the_place_inside_is_the_first() {
        let text = [
            row("ann", 30, "WAIT"),
            row("ann", 10, "WAIT"),
            row("bob", 10, "WAIT"),
            row("bob", 20, "ACTIVE"),
        ];
        let (users, said) = read(&text.concat());
        assert_eq!(users, ["bob", "ann"]);
        let expected = "line 3: userId bob has a row that comes first\nline 1: userId ann has a row that comes first\n";
        assert_eq!(said, expected);
    }

    #[test]
    fn an_ended_row_takes_nothing_from_a_later_one() {
        let text = [row("ann", 10, "EXPIRED"), row("ann", 20, "WAIT")].concat();
        assert_eq!(read(&text), (vec!["ann".to_owned()], String::new()));
    }

    #[test]
    fn lines_keep_their_numbers_whatever_stands_between() {
        let long = "x".repeat(200_000);
        let text = format!(
            "\u{feff}{}\r\n\n{long}\nnonsense\n{}",
            row("ann", 1, "WAIT").trim_end(),
            row("bob", 2, "WAIT").trim_end()
        );
        let (users, said) = read(&text);
        assert_eq!(users, ["ann", "bob"]);
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].starts_with("line 3: the line is longer"), "{said}");
        assert!(lines[1].starts_with("line 4: not a JSON object"), "{said}");
    }

    #[test]
    fn of_many_rejected_rows_a_few_are_shown() {
        let (_, said) = read(&"nonsense\n".repeat(1_100));
        assert_eq!(said.lines().count(), 21, "{said}");
        assert!(said.ends_with("… and 1,080 more; --rejected FILE writes all of them down\n"));
    }
}
