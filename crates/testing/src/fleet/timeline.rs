//! A history in words, for people who have to find out what went wrong.

use std::fmt;

use super::schedule::Millis;

/// What happened, line by line; kept only where somebody will read it.
#[derive(Debug, Default)]
pub struct Timeline {
    lines: Option<Vec<(Millis, String)>>,
}

impl Timeline {
    /// One that keeps every line.
    pub fn kept() -> Self {
        Self {
            lines: Some(Vec::new()),
        }
    }

    pub(super) fn say<T: Into<String>>(&mut self, now: Millis, what: impl FnOnce() -> T) {
        if let Some(lines) = &mut self.lines {
            lines.push((now, what().into()));
        }
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (now, what) in self.lines.iter().flatten() {
            writeln!(f, "{:>4}.{:03}  {what}", now / 1_000, now % 1_000)?;
        }
        Ok(())
    }
}
