//! The log, on standard error.

use std::{
    fmt,
    io::{self, IsTerminal},
};

use ropeline_server::config::{LogFormat, LogSettings};
use tracing_subscriber::{EnvFilter, reload::Handle};

/// Changes how much is logged while the process runs.
pub(crate) struct LogLevel(Box<dyn Fn(EnvFilter) + Send + Sync>);

impl LogLevel {
    fn of<S: 'static>(handle: Handle<EnvFilter, S>) -> Self {
        // Fails only when nothing is logged any more.
        Self(Box::new(move |filter| {
            handle.reload(filter).unwrap_or_default();
        }))
    }

    /// Logs as much as this level says from now on.
    pub(crate) fn set(&self, level: &str) {
        self.0(EnvFilter::new(level));
    }
}

impl fmt::Debug for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLevel").finish_non_exhaustive()
    }
}

/// Logs from here on, as the settings say.
pub(crate) fn start(settings: &LogSettings) -> LogLevel {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.level))
        .with_writer(io::stderr);
    match settings.format {
        LogFormat::Json => {
            let builder = builder.json().flatten_event(true).with_filter_reloading();
            let level = LogLevel::of(builder.reload_handle());
            builder.init();
            level
        }
        LogFormat::Text => {
            // On a terminal the library decides about colours, since it heeds NO_COLOR.
            let builder = if io::stderr().is_terminal() {
                builder
            } else {
                builder.with_ansi(false)
            };
            let builder = builder.with_filter_reloading();
            let level = LogLevel::of(builder.reload_handle());
            builder.init();
            level
        }
    }
}
