//! The log, on standard error.

use std::io::{self, IsTerminal};

use ropeline_server::config::{LogFormat, LogSettings};
use tracing_subscriber::EnvFilter;

/// Logs from here on, as the settings say.
pub(crate) fn start(settings: &LogSettings) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.level))
        .with_writer(io::stderr);
    match settings.format {
        LogFormat::Json => builder.json().flatten_event(true).init(),
        // On a terminal the library decides, since it heeds NO_COLOR.
        LogFormat::Text if io::stderr().is_terminal() => builder.init(),
        LogFormat::Text => builder.with_ansi(false).init(),
    }
}
