//! The tokens of the places that were taken over, one JSON object on each line.

use std::{
    fs::OpenOptions,
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use serde::Serialize;

/// Where tokens are written.
pub(super) struct Tokens(Box<dyn Write>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    user_id: &'a str,
    token: &'a str,
}

impl Tokens {
    /// Whoever has a token has the place: a file is for its owner alone, and never one that is there already.
    pub(super) fn open(file: Option<&Path>) -> io::Result<Self> {
        let Some(file) = file else {
            return Ok(Self(Box::new(BufWriter::new(io::stdout()))));
        };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)?;
        Ok(Self(Box::new(BufWriter::new(file))))
    }

    pub(super) fn add(&mut self, user_id: &str, token: &str) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, &Entry { user_id, token })?;
        self.0.write_all(b"\n")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
