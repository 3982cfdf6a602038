//! What SIGHUP does: the settings are read again.

use std::{convert::Infallible, future::pending};

use ropeline_server::config::{ConfigErrors, Overrides, Settings};
use tokio::signal::unix::Signal;

use crate::logging::LogLevel;

/// What is needed to reload the settings.
#[derive(Debug)]
pub(crate) struct Reloading<'a> {
    hangup: Signal,
    overrides: &'a Overrides,
    level: LogLevel,
    /// The level that is in force.
    logged: String,
}

impl<'a> Reloading<'a> {
    pub(crate) fn new(
        hangup: Signal,
        overrides: &'a Overrides,
        level: LogLevel,
        settings: &Settings,
    ) -> Self {
        Self {
            hangup,
            overrides,
            level,
            logged: settings.log.level.clone(),
        }
    }

    /// Reads the settings again at each SIGHUP, from the same flags, variables and file, and lets `apply` take up what it
    /// can. Settings that have problems change nothing.
    pub(crate) async fn run(mut self, mut apply: impl AsyncFnMut(Settings)) -> Infallible {
        while self.hangup.recv().await.is_some() {
            match Settings::load(self.overrides) {
                Ok(fresh) => {
                    self.set_level(&fresh.log.level);
                    apply(fresh).await;
                    tracing::info!("the settings were reloaded");
                }
                Err(errors) => refuse(&errors),
            }
        }
        pending().await
    }

    fn set_level(&mut self, level: &str) {
        if level == self.logged {
            return;
        }
        let before = std::mem::replace(&mut self.logged, level.to_owned());
        self.level.set(level);
        tracing::info!(
            setting.name = "log.level",
            setting.before = before,
            setting.new = level,
            "a setting has changed"
        );
    }
}

fn refuse(errors: &ConfigErrors) {
    for problem in errors.problems() {
        tracing::error!(
            setting.name = problem.key,
            setting.place = %problem.origin,
            setting.wrong = problem.wrong,
            setting.instead = problem.instead,
            "a setting is wrong"
        );
    }
    tracing::error!(
        problems = errors.problems().len(),
        "the settings were not reloaded, and nothing was changed: they have problems"
    );
}
