//! What the command line and the environment say.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use super::{
    DatabaseUrl, Settings, StoreChoice,
    bearer_key::BearerKey,
    keys,
    problem::{Origin, Problem},
    value::{self, Wrong},
};

/// Settings given by flag or environment variable, as text; they beat those of the file.
///
/// An empty text counts as not given, since that is how compose files leave a variable out.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The settings file; without it `ropeline.toml` is read if there is one.
    pub config: Option<PathBuf>,
    /// Address and port.
    pub listen: Option<String>,
    /// The data directory.
    pub data: Option<PathBuf>,
    /// Where rooms are kept.
    pub store: Option<String>,
    /// Where the box office keeps its books.
    pub database: Option<String>,
    /// The operators' key.
    pub admin_key: Option<String>,
    /// A file that holds the operators' key; beaten by the key itself.
    pub admin_key_file: Option<PathBuf>,
    /// The services' key.
    pub service_key: Option<String>,
    /// A file that holds the services' key; beaten by the key itself.
    pub service_key_file: Option<PathBuf>,
}

/// How a setting is named outside the file.
#[derive(Debug, Clone, Copy)]
struct Flag {
    key: &'static str,
    /// As it is typed.
    typed: &'static str,
    /// Both names, for people.
    names: &'static str,
}

/// How a key is given outside the file: by itself, or by the name of a file that holds it.
#[derive(Debug, Clone, Copy)]
struct KeyFlags {
    key: &'static str,
    names: &'static str,
    file: Flag,
}

const LISTEN: Flag = Flag {
    key: "listen",
    typed: "--listen",
    names: "--listen (or ROPELINE_LISTEN)",
};
const STORE: Flag = Flag {
    key: "store",
    typed: "--store",
    names: "--store (or ROPELINE_STORE)",
};
const DATABASE: Flag = Flag {
    key: "database",
    typed: "--database",
    names: "--database (or ROPELINE_DATABASE)",
};
const ADMIN_KEY: KeyFlags = KeyFlags {
    key: "admin_key",
    names: "--admin-key (or ROPELINE_ADMIN_KEY)",
    file: Flag {
        key: "admin_key_file",
        typed: "--admin-key-file",
        names: "--admin-key-file",
    },
};
const SERVICE_KEY: KeyFlags = KeyFlags {
    key: "service_key",
    names: "--service-key (or ROPELINE_SERVICE_KEY)",
    file: Flag {
        key: "service_key_file",
        typed: "--service-key-file",
        names: "--service-key-file",
    },
};
const CONFIG: &str = "--config (or ROPELINE_CONFIG)";

impl Overrides {
    /// The same without what is empty.
    pub(super) fn given(&self) -> Self {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let path =
            |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        Self {
            config: path(&self.config),
            listen: text(&self.listen),
            data: path(&self.data),
            store: text(&self.store),
            database: text(&self.database),
            admin_key: text(&self.admin_key),
            admin_key_file: path(&self.admin_key_file),
            service_key: text(&self.service_key),
            service_key_file: path(&self.service_key_file),
        }
    }

    /// Whether the operators' key is given, in whichever way.
    pub(super) fn have_admin_key(&self) -> bool {
        self.admin_key.is_some() || self.admin_key_file.is_some()
    }

    /// Whether the services' key is given, in whichever way.
    pub(super) fn have_service_key(&self) -> bool {
        self.service_key.is_some() || self.service_key_file.is_some()
    }

    /// Whether the box office serves next to the rooms, once the flags are put over what the file says.
    pub(super) fn box_office_serves(&self, of_file: &Settings) -> bool {
        let store = self.store.as_deref().map(StoreChoice::parse);
        let store = store.and_then(Result::ok);
        let database = self.database.as_deref().map(DatabaseUrl::parse);
        let database = database.and_then(Result::ok);
        of_file.boxoffice.serves_with(
            store.as_ref().unwrap_or(&of_file.store),
            database.as_ref().or(of_file.database.as_ref()),
        )
    }

    /// Refuses keys that are too short.
    pub(super) fn refuse_short_keys(
        &self,
        settings: &Settings,
        file: &str,
        problems: &mut Vec<Problem>,
    ) {
        for (key, flags, is_flag) in [
            (&settings.admin_key, ADMIN_KEY, self.have_admin_key()),
            (&settings.service_key, SERVICE_KEY, self.have_service_key()),
        ] {
            let judged = key
                .as_ref()
                .map_or(Ok(()), |key| settings.judge_length(key));
            let Err(short) = judged else {
                continue;
            };
            let problem = flags.bad_key(Wrong::new(short.to_string()));
            problems.push(if is_flag {
                problem
            } else {
                Problem {
                    origin: Origin::File {
                        name: file.into(),
                        line: None,
                    },
                    key: flags.file.key.into(),
                    ..problem
                }
            });
        }
    }

    /// Says that the settings file cannot be read.
    pub(super) fn unreadable(&self, name: &str, error: &io::Error) -> Problem {
        let origin = match self.config {
            Some(_) => Origin::Flag(CONFIG),
            None => Origin::File {
                name: name.into(),
                line: None,
            },
        };
        let instead = match error.kind() {
            io::ErrorKind::NotFound => {
                format!("name a file that exists; to begin one: ropeline config default > {name}")
            }
            _ => "it must be a text file in UTF-8 that this user may read".into(),
        };
        Problem {
            origin,
            key: String::new(),
            wrong: format!("{name} cannot be read: {error}"),
            instead,
        }
    }

    /// Puts what is given in the place of what the file says.
    pub(super) fn apply(&self, settings: &mut Settings, problems: &mut Vec<Problem>) {
        let mut note = |flag: Flag, wrong: &Wrong| problems.push(flag.refuse(wrong));
        match self.listen.as_deref().map(value::address) {
            Some(Ok(listen)) => settings.listen = listen,
            Some(Err(wrong)) => note(LISTEN, &wrong),
            None => {}
        }
        if let Some(data) = &self.data {
            settings.data.clone_from(data);
        }
        match self.store.as_deref().map(StoreChoice::parse) {
            Some(Ok(store)) => settings.store = store,
            Some(Err(wrong)) => note(STORE, &wrong),
            None => {}
        }
        match self.database.as_deref().map(DatabaseUrl::parse) {
            Some(Ok(database)) => settings.database = Some(database),
            Some(Err(wrong)) => note(DATABASE, &wrong),
            None => {}
        }
        let Self {
            admin_key,
            admin_key_file,
            service_key,
            service_key_file,
            ..
        } = self;
        for (slot, key, file, flags) in [
            (
                &mut settings.admin_key,
                admin_key,
                admin_key_file,
                ADMIN_KEY,
            ),
            (
                &mut settings.service_key,
                service_key,
                service_key_file,
                SERVICE_KEY,
            ),
        ] {
            match flags.read(key.as_deref(), file.as_deref()) {
                Ok(Some(key)) => *slot = Some(key),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
    }
}

impl Flag {
    fn refuse(self, wrong: &Wrong) -> Problem {
        let example = keys::example(&keys::FILE, self.key);
        let (lead, value) = match &wrong.instead {
            Some(value) => ("write", value.as_str()),
            None => ("for example", example),
        };
        Problem {
            origin: Origin::Flag(self.names),
            key: self.key.into(),
            wrong: wrong.what.clone(),
            instead: format!("{lead}: {} {}", self.typed, value.trim_matches('"')),
        }
    }
}

impl KeyFlags {
    /// The key that is given, if one is.
    fn read(self, key: Option<&str>, file: Option<&Path>) -> Result<Option<BearerKey>, Problem> {
        match (key, file) {
            (Some(key), _) => BearerKey::parse(key).map(Some).map_err(|w| self.bad_key(w)),
            (None, Some(file)) => {
                let read = BearerKey::read(file).map(Some);
                read.map_err(|wrong| self.file.refuse(&wrong))
            }
            (None, None) => Ok(None),
        }
    }

    fn bad_key(self, wrong: Wrong) -> Problem {
        Problem {
            origin: Origin::Flag(self.names),
            key: self.key.into(),
            wrong: wrong.what,
            instead: "for example the output of: openssl rand -hex 24".into(),
        }
    }
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            config,
            listen,
            data,
            store,
            database,
            admin_key,
            admin_key_file,
            service_key,
            service_key_file,
        } = self;
        f.debug_struct("Overrides")
            .field("config", config)
            .field("listen", listen)
            .field("data", data)
            .field("store", &store.as_ref().map(|_| "…"))
            .field("database", &database.as_ref().map(|_| "…"))
            .field("admin_key", &admin_key.as_ref().map(|_| "…"))
            .field("admin_key_file", admin_key_file)
            .field("service_key", &service_key.as_ref().map(|_| "…"))
            .field("service_key_file", service_key_file)
            .finish()
    }
}
