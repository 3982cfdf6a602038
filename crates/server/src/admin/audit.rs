//! Who did what to the rooms: one line of JSON for each action, in the data directory.

use std::{
    fs::File,
    io::{self, Write},
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ropeline_core::RoomId;
use ropeline_store::private;
use serde::Serialize;
use serde_json::Value;

use super::operator::{Operator, Proof};
use crate::{app::App, error::ApiError, moment::Moment};

const FILE: &str = "audit.log";

/// The log of operators' actions.
#[derive(Debug)]
pub(crate) struct Audit {
    file: Arc<Mutex<File>>,
}

/// What somebody is about to do.
#[derive(Debug)]
pub(super) struct Action<'a> {
    pub(super) name: &'static str,
    pub(super) room: &'a RoomId,
    pub(super) details: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    at: Moment,
    action: &'static str,
    room: &'a RoomId,
    details: &'a Value,
    outcome: &'a str,
    by: Proof,
    address: IpAddr,
    request_id: Option<String>,
}

impl Audit {
    /// Where the log of a data directory is.
    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join(FILE)
    }

    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = private::open(path, File::options().create(true).append(true))?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
        })
    }

    /// Writes a line and makes sure that it is on the disk. The action has happened by then, so a disk that
    /// is full is told to the log and to nobody else.
    async fn write(&self, line: String) {
        let file = Arc::clone(&self.file);
        let written = tokio::task::spawn_blocking(move || {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(line.as_bytes())?;
            file.sync_data()
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the audit log cannot be written"),
            Err(error) => tracing::error!(%error, "the audit log was not written"),
        }
    }
}

/// Does what an operator asks and notes who asked, what for, and what came of it.
pub(super) async fn audited<T>(
    app: &App,
    operator: &Operator,
    action: Action<'_>,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let result = work.await;
    let outcome = match &result {
        Ok(_) => "done",
        Err(error) => error.kind().code,
    };
    let line = Line {
        at: Moment(app.now()),
        action: action.name,
        room: action.room,
        details: &action.details,
        outcome,
        by: operator.proof,
        address: operator.address,
        request_id: operator.request_id.as_ref().map(ToString::to_string),
    };
    let mut text = serde_json::to_string(&line).expect("a line is plain data");
    tracing::info!(room.id = %action.room, action = action.name, outcome, "an operator acted");
    text.push('\n');
    app.audit.write(text).await;
    result
}
