//! What is wrong with the settings, worded for the person who wrote them.

use std::{error::Error, fmt};

/// Every problem that the settings have, so that one run shows what a person has to mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(Vec<Problem>);

/// One thing that is wrong, where it is, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it was written.
    pub origin: Origin,
    /// The setting with its section, such as `rooms.main.batch`; empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub wrong: String,
    /// What to write or do instead.
    pub instead: String,
}

/// Where a setting was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In a settings file.
    File {
        /// The file as it was named.
        name: String,
        /// The line, from 1, where there is one.
        line: Option<usize>,
    },
    /// On the command line or in the environment, by these names.
    Flag(&'static str),
}

impl ConfigErrors {
    /// The problems, in the order of the file and then of the flags; never empty.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }

    /// Fails with these problems unless there are none.
    pub(super) fn unless_none(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Self(problems))
        }
    }
}

impl Error for ConfigErrors {}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => f.write_str("the settings have a problem")?,
            count => write!(f, "the settings have {count} problems")?,
        }
        self.0
            .iter()
            .try_for_each(|problem| write!(f, "\n\n{problem}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            origin,
            key,
            wrong,
            instead,
        } = self;
        match origin {
            Origin::File { .. } if !key.is_empty() => write!(f, "  {origin}: {key}")?,
            Origin::File { .. } | Origin::Flag(_) => write!(f, "  {origin}")?,
        }
        write!(f, "\n    {wrong}\n    {instead}")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                name,
                line: Some(line),
            } => write!(f, "{name}:{line}"),
            Self::File { name, line: None } => f.write_str(name),
            Self::Flag(names) => f.write_str(names),
        }
    }
}
