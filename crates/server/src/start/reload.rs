//! Settings that are taken up while the server runs.

use std::sync::Arc;

use arc_swap::ArcSwap;
use ropeline_core::RoomId;

use super::{
    admin_key::admin_key,
    rooms::{apply_section, warn_of_missing_logins},
    service_key,
    started::RoomNote,
};
use crate::{
    app::App,
    config::{LogSettings, RoomSettings, Settings},
    follow::{Followed, Following},
    login::Logins,
    shared::{SharedDigest, SharedTexts},
};

/// Settings that a running server takes up, by the beginning of their names; the rest need a restart.
const TAKEN_UP: [&str; 4] = ["rooms.", "login.", "rate_limits.", "log.level"];

/// Takes up other settings while the server runs.
#[derive(Debug)]
pub struct Reloader {
    app: App,
    shared: Option<Arc<dyn SharedTexts>>,
    /// The digest of the admin key that nodes share.
    shared_digest: SharedDigest,
    followed: Following,
    /// What is in force.
    running: Settings,
}

impl Reloader {
    pub(super) fn new(
        app: App,
        shared: Option<Arc<dyn SharedTexts>>,
        shared_digest: SharedDigest,
        followed: Following,
        running: Settings,
    ) -> Self {
        Self {
            app,
            shared,
            shared_digest,
            followed,
            running,
        }
    }

    /// What is in force.
    pub fn running(&self) -> &Settings {
        &self.running
    }

    /// Takes up what can be taken up, and logs each change and each setting that needs a restart.
    ///
    /// A room's section is applied by the same rule as at the start: if its text is not the one last applied. What cannot
    /// be done now, as while the store is unavailable, stays as it was and is tried again by the next reload.
    pub async fn reload(&mut self, fresh: Settings) {
        let wanted = self.wanted(fresh);
        self.reload_admin_key(&wanted).await;
        self.reload_service_key(&wanted);
        self.reload_logins(&wanted);
        self.followed.look();
        if wanted.rate_limits != self.running.rate_limits {
            self.app.rates.set(wanted.rate_limits);
            tracing::info!(setting.name = "rate_limits", "a setting has changed");
        }
        for (room, section) in &wanted.rooms {
            self.reload_room(room, section).await;
        }
        warn_of_missing_logins(&self.app);
        self.running = wanted;
        self.app.audit.note_reload(self.app.now()).await;
    }

    /// The settings to be in force: the fresh ones, but for those that need a restart, each of which is named.
    fn wanted(&self, fresh: Settings) -> Settings {
        let running = &self.running;
        // Nobody could log in from then on, and rooms may rely on logins.
        let loses_logins = running.login.source.is_some() && fresh.login.source.is_none();
        // The box office goes on until a restart, and both would give out user ids.
        let box_office_serves = running
            .boxoffice
            .serves_with(&running.store, running.database.as_ref());
        let keeps_logins = loses_logins || box_office_serves;
        for change in running.changes_to(&fresh) {
            let is_taken_up = TAKEN_UP.iter().any(|name| change.setting.starts_with(name));
            let is_kept_login = keeps_logins && change.setting.starts_with("login.");
            if !is_taken_up || is_kept_login {
                tracing::warn!(
                    setting.name = change.setting,
                    setting.running = change.before,
                    setting.new = change.after,
                    "this setting has changed and needs a restart"
                );
            }
        }
        let login = if keeps_logins {
            running.login.clone()
        } else {
            fresh.login
        };
        Settings {
            rooms: fresh.rooms,
            login,
            rate_limits: fresh.rate_limits,
            admin_key: running.long_enough("admin", fresh.admin_key, running.admin_key.as_ref()),
            service_key: running.long_enough(
                "service",
                fresh.service_key,
                running.service_key.as_ref(),
            ),
            log: LogSettings {
                level: fresh.log.level,
                ..running.log.clone()
            },
            ..running.clone()
        }
    }

    /// Another key ends every session that was opened with the one before.
    async fn reload_admin_key(&self, wanted: &Settings) {
        match admin_key(wanted, self.shared.as_deref()).await {
            Ok(operators) => {
                self.shared_digest.store(operators.shared_digest());
                if let Some(warning) = operators.warning {
                    tracing::warn!("{warning}");
                }
                if operators.digest != **self.app.admin_key.load() {
                    self.app.admin_key.store(Arc::new(operators.digest));
                    tracing::info!(
                        admin_key = %operators.note,
                        "the admin key has changed: the one before and all sessions opened with it are void"
                    );
                }
            }
            Err(error) => tracing::error!(%error, "the admin key stays as it was"),
        }
    }

    fn reload_service_key(&self, wanted: &Settings) {
        let fresh = service_key(wanted).map(Arc::new);
        if fresh == self.app.service_key.load_full() {
            return;
        }
        let message = match fresh {
            Some(_) => "the service key has changed: the one before is void",
            None => "the service key was taken away: no service is believed",
        };
        self.app.service_key.store(fresh);
        tracing::info!("{message}");
    }

    fn reload_logins(&self, wanted: &Settings) {
        let Some(source) = wanted.login.source.clone() else {
            return;
        };
        if wanted.login == self.running.login {
            return;
        }
        let (path, leeway) = (source.keys.path().to_owned(), wanted.login.leeway);
        let read = move || Logins::open(&source, leeway);
        let fresh = match read() {
            Ok(fresh) => Arc::new(fresh),
            Err(error) => return tracing::error!(%error, "the keys of logins stay as they were"),
        };
        let slot = self
            .app
            .logins
            .get_or_init(|| Arc::new(ArcSwap::new(Arc::clone(&fresh))));
        slot.store(fresh);
        self.followed.replace(Followed::filling(
            "keys of logins",
            path,
            Arc::clone(slot),
            read,
        ));
        tracing::info!(setting.name = "login", "a setting has changed");
    }

    async fn reload_room(&self, room: &RoomId, section: &RoomSettings) {
        // The fresh settings may have a box office that starts with the next restart only.
        if let Err(error) = self.app.check_identity(&section.policy) {
            return tracing::error!(room.id = %room, %error, "this room stays as it was");
        }
        match apply_section(&*self.app.store, room, section).await {
            Ok(started) => match started.note {
                RoomNote::Kept => {}
                RoomNote::Created => tracing::info!(room.id = %room, "the room was created"),
                RoomNote::Changed(changes) => {
                    for change in changes {
                        tracing::info!(room.id = %room, room.change = change, "a room has changed");
                    }
                }
            },
            Err(error) => tracing::error!(room.id = %room, %error, "this room stays as it was"),
        }
    }
}
