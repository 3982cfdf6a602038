//! Why a command could not do its work, and what to do next.

use std::{error::Error, fmt, io};

use ropeline_core::plan::PlanError;
use ropeline_server::config::ConfigErrors;

use crate::{carry::MoveTrouble, http::HttpError, import::ImportTrouble, room::Trouble};

#[derive(Debug)]
pub(crate) enum Failure {
    /// The settings are wrong.
    Settings(ConfigErrors),
    /// Standard output cannot be written to.
    Output(io::Error),
    /// The system gives no threads.
    Runtime(io::Error),
    /// The server did not start, or stopped by itself.
    Server(Box<dyn Error + Send + Sync>),
    /// The figures give no plan.
    Plan(PlanError),
    /// A server does not answer, or not as it should.
    Http(HttpError),
    /// A server is there and not ready.
    NotReady(String),
    /// The crowd was answered wrongly, or not served at all.
    Crowd(String),
    /// A server did not do what an operator wanted.
    Room(Trouble),
    /// Rows could not be read, or not be taken over.
    Import(ImportTrouble),
    /// Rooms could not be moved.
    Move(MoveTrouble),
    /// What was typed makes no sense, or was not confirmed.
    Usage(String),
    /// The terminal cannot be drawn on.
    Terminal(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(errors) => write!(
                f,
                "{errors}\n\n`ropeline config default` prints every setting with its explanation."
            ),
            Self::Output(error) => write!(f, "standard output cannot be written to: {error}"),
            Self::Runtime(error) => write!(
                f,
                "no threads to run on: {error}\nRaise the limit on processes (`ulimit -u`)."
            ),
            // Worded for the operator, with its cause.
            Self::Server(error) => write!(f, "{error}"),
            Self::Plan(error) => write!(f, "{}", crate::plan::advice(*error)),
            Self::Http(error) => write!(f, "{error}"),
            Self::NotReady(text) | Self::Crowd(text) | Self::Usage(text) => f.write_str(text),
            Self::Room(trouble) => write!(f, "{trouble}"),
            Self::Import(trouble) => write!(f, "{trouble}"),
            Self::Move(trouble) => write!(f, "{trouble}"),
            Self::Terminal(error) => write!(
                f,
                "this terminal cannot be drawn on: {error}\n`ropeline room watch | cat` prints lines instead."
            ),
        }
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        Self::Settings(errors)
    }
}

impl From<MoveTrouble> for Failure {
    fn from(trouble: MoveTrouble) -> Self {
        Self::Move(trouble)
    }
}

impl From<ImportTrouble> for Failure {
    fn from(trouble: ImportTrouble) -> Self {
        Self::Import(trouble)
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}
