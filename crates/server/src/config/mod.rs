//! The settings: what the operator said, checked in full before anything starts.
//!
//! Flags beat the environment, which beats the settings file, which beats `ropeline.default.toml`.
//! That file is built in and read by the same code, so what it shows is what holds. Everything that
//! is wrong is reported at once, in [`ConfigErrors`].

mod bearer_key;
mod boxoffice;
mod change;
mod database;
mod figures;
mod hosts;
mod keys;
mod limits;
mod log;
mod login;
mod nearest;
mod origin;
mod overrides;
mod problem;
mod proxies;
mod rate_limits;
mod rooms;
mod section;
mod show;
mod span;
mod store;
#[cfg(test)]
mod tests;
mod value;

use std::{
    collections::BTreeMap, fs, io, net::SocketAddr, ops::RangeInclusive, path::PathBuf,
    time::Duration,
};

use ropeline_core::{Policy, RoomId};
use ropeline_store::{Durability, private};
use ropeline_web::Limits;
pub use ropeline_web::{RateLimits, TrustedProxies};

pub use self::{
    bearer_key::{BearerKey, ShortKey},
    boxoffice::BoxOfficeSettings,
    change::Change,
    database::DatabaseUrl,
    figures::{difference, summary},
    log::{LogFormat, LogSettings},
    login::{LoginKeyFile, LoginSettings, LoginSource, VerifiedUsers, check_identity},
    nearest::nearest,
    origin::PublicUrl,
    overrides::Overrides,
    problem::{ConfigErrors, Origin, Problem},
    rooms::RoomSettings,
    span::{format as span_text, parse as parse_span},
    store::{GateRule, OutageSettings, StoreChoice},
};
use self::{
    origin::{web_host, web_origin},
    section::{Document, Section},
    value::{address, duration_within, path, text, texts},
};

/// The settings that hold where nobody says otherwise, each explained.
pub const SHIPPED: &str = include_str!("../../../../ropeline.default.toml");

/// The file that is read if it is there and no other is named.
pub const FILE_NAME: &str = "ropeline.toml";

/// Shorter and people lose their place while they wait; longer and a stolen token lives on.
const TOKEN_TTL: RangeInclusive<Duration> =
    Duration::from_secs(60)..=Duration::from_secs(30 * 24 * 3600);

/// Everything that an operator can decide before the server starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Directory of everything that outlives a restart.
    pub data: PathBuf,
    /// Where rooms are kept.
    pub store: StoreChoice,
    /// Who must have what is written to Redis before it is answered; if nothing is said, what suits its address.
    pub durability: Option<Durability>,
    /// Where the box office keeps its books; `None` is a file in `data`.
    pub database: Option<DatabaseUrl>,
    /// How the box office sells.
    pub boxoffice: BoxOfficeSettings,
    /// What the gate does while the store is away.
    pub outage: OutageSettings,
    /// Where visitors see this server, if it was said.
    pub public_url: Option<PublicUrl>,
    /// Further hosts that this server answers for, with a port where it is not the usual one.
    pub allowed_hosts: Vec<String>,
    /// Proxies that are believed about whom they forward for.
    pub trusted_proxies: TrustedProxies,
    /// Hosts, with a port where it is not the usual one, that the waiting page may send people to.
    pub return_hosts: Vec<String>,
    /// Sites whose pages may call the API, exactly as browsers send them in `Origin`.
    pub cors_origins: Vec<String>,
    /// The operators' key; `None` means that the server makes one and keeps it in `data`.
    pub admin_key: Option<BearerKey>,
    /// The key of services behind the gate; `None` means that none is believed.
    pub service_key: Option<BearerKey>,
    /// How long a token may be shown after it was issued.
    pub token_ttl: Duration,
    /// How much one peer may ask.
    pub limits: Limits,
    /// How much one address may ask in a minute.
    pub rate_limits: RateLimits,
    /// How the log is written.
    pub log: LogSettings,
    /// How the site's login tokens are verified.
    pub login: LoginSettings,
    /// The rooms of the file; `main` is always among them.
    pub rooms: BTreeMap<RoomId, RoomSettings>,
}

impl Settings {
    /// Reads the settings file and puts the flags over it.
    pub fn load(overrides: &Overrides) -> Result<Self, ConfigErrors> {
        let overrides = overrides.given();
        let mut problems = Vec::new();
        let (name, text) = match &overrides.config {
            Some(file) => (
                file.display().to_string(),
                fs::read_to_string(file).map(Some),
            ),
            None => (FILE_NAME.to_owned(), default_file()),
        };
        let text = text.unwrap_or_else(|error| {
            problems.push(overrides.unreadable(&name, &error));
            None
        });
        let document = text.as_deref().map(|text| Document { name: &name, text });
        Self::assemble(document, &overrides, problems)
    }

    /// Like [`Settings::load`], from a text in the place of a file.
    pub fn from_text(text: &str, overrides: &Overrides) -> Result<Self, ConfigErrors> {
        let document = Document {
            name: FILE_NAME,
            text,
        };
        Self::assemble(Some(document), &overrides.given(), Vec::new())
    }

    fn assemble(
        document: Option<Document<'_>>,
        overrides: &Overrides,
        mut problems: Vec<Problem>,
    ) -> Result<Self, ConfigErrors> {
        let mut settings = Self::shipped();
        let name = document
            .as_ref()
            .map_or(FILE_NAME, |document| document.name);
        if let Some(document) = document {
            settings.read(document, overrides, &mut problems);
        }
        problems.sort_by_key(|problem| match problem.origin {
            Origin::File { line, .. } => line,
            Origin::Flag(_) => Some(usize::MAX),
        });
        overrides.apply(&mut settings, &mut problems);
        overrides.refuse_short_keys(&settings, name, &mut problems);
        ConfigErrors::unless_none(problems)?;
        Ok(settings)
    }

    /// Refuses a key that is short enough to be guessed if others than this machine can try keys. The right key is
    /// always taken, however many wrong ones came before, so its length alone keeps it from being found.
    pub fn judge_length(&self, key: &BearerKey) -> Result<(), ShortKey> {
        if key.is_short() && self.is_public(self.listen) {
            Err(ShortKey)
        } else {
            Ok(())
        }
    }

    /// Makes the data directory for its owner alone, or closes it to others if nothing but files of Ropeline is in it.
    pub fn make_data_directory(&self) -> io::Result<()> {
        let database = self.database.as_ref().and_then(DatabaseUrl::file);
        private::make_directory_with(&self.data, database.as_deref())
    }

    /// A key that a reload found, or the earlier one if that key is too short. The fresh settings alone cannot tell, since
    /// the address is that of the running ones until a restart.
    #[must_use]
    pub fn long_enough(
        &self,
        name: &str,
        fresh: Option<BearerKey>,
        earlier: Option<&BearerKey>,
    ) -> Option<BearerKey> {
        match fresh.as_ref().map_or(Ok(()), |key| self.judge_length(key)) {
            Ok(()) => fresh,
            Err(short) => {
                tracing::error!("the {name} key stays as it was: the new one {short}");
                earlier.cloned()
            }
        }
    }

    /// The policy of the shipped room `main`.
    pub(crate) fn shipped_policy() -> Policy {
        Self::shipped().default_policy()
    }

    fn shipped() -> Self {
        let mut settings = Self::unset();
        let mut problems = Vec::new();
        let document = Document {
            name: "ropeline.default.toml",
            text: SHIPPED,
        };
        settings.read(document, &Overrides::default(), &mut problems);
        assert_eq!(problems, [], "the tests read the shipped file too");
        settings
    }

    /// Stands in for the defaults while the shipped file, which leaves nothing out, is read.
    fn unset() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: PathBuf::new(),
            store: StoreChoice::Embedded,
            durability: None,
            outage: OutageSettings {
                gate: GateRule::Closed,
                lease_max: None,
            },
            database: None,
            boxoffice: BoxOfficeSettings {
                enabled: false,
                left_out: false,
                room: RoomId::main(),
                hold_ttl: Duration::ZERO,
                holds_max: 0,
                tickets_max: 0,
                hold_cooldown: Duration::ZERO,
                holds_per_minute: 0,
                late_payment: Duration::ZERO,
            },
            public_url: None,
            allowed_hosts: Vec::new(),
            trusted_proxies: TrustedProxies::default(),
            return_hosts: Vec::new(),
            cors_origins: Vec::new(),
            admin_key: None,
            service_key: None,
            token_ttl: Duration::ZERO,
            limits: Limits::default(),
            rate_limits: RateLimits::default(),
            log: LogSettings {
                format: LogFormat::Text,
                level: String::new(),
            },
            login: LoginSettings {
                source: None,
                leeway: Duration::ZERO,
            },
            rooms: BTreeMap::new(),
        }
    }

    /// Puts what the file says in the place of what held so far.
    fn read(&mut self, document: Document<'_>, overrides: &Overrides, problems: &mut Vec<Problem>) {
        let table = match document.parse() {
            Ok(table) => table,
            Err(not_toml) => return problems.extend(not_toml),
        };
        let mut file = Section::root(document, &table, problems);
        file.set(&mut self.listen, "listen", |v| address(text(v)?));
        file.set(&mut self.data, "data", path);
        store::read(
            &mut file,
            &mut self.store,
            &mut self.durability,
            &mut self.outage,
        );
        file.set(&mut self.database, "database", |v| {
            DatabaseUrl::parse(text(v)?).map(Some)
        });
        boxoffice::read(&mut file, &mut self.boxoffice);
        file.set(&mut self.public_url, "public_url", |v| {
            PublicUrl::parse(text(v)?).map(Some)
        });
        file.set(&mut self.allowed_hosts, "allowed_hosts", |v| {
            texts(v)?.into_iter().map(web_host).collect()
        });
        proxies::read(&mut file, &mut self.trusted_proxies);
        file.set(&mut self.return_hosts, "return_hosts", |v| {
            texts(v)?.into_iter().map(web_host).collect()
        });
        file.set(&mut self.cors_origins, "cors_origins", |v| {
            texts(v)?.into_iter().map(web_origin).collect()
        });
        file.set(&mut self.token_ttl, "token_ttl", duration_within(TOKEN_TTL));
        file.set(&mut self.admin_key, "admin_key_file", |v| {
            // A key that is not going to be used need not be there.
            let file = path(v)?;
            let needed = !overrides.have_admin_key();
            needed.then(|| BearerKey::read(&file)).transpose()
        });
        file.set(&mut self.service_key, "service_key_file", |v| {
            let file = path(v)?;
            let needed = !overrides.have_service_key();
            needed.then(|| BearerKey::read(&file)).transpose()
        });
        limits::read(&mut file, &mut self.limits);
        rate_limits::read(&mut file, &mut self.rate_limits);
        log::read(&mut file, &mut self.log);
        let defaults = self.default_policy();
        let box_office_serves = overrides.box_office_serves(self);
        let mut users = login::read(&mut file, &mut self.login);
        if box_office_serves && users == VerifiedUsers::Possible {
            login::refuse_next_to_box_office(&mut file);
        }
        // A service key that cannot be read is refused by itself, and not blamed on the rooms that need it.
        let has_service_key = overrides.have_service_key()
            || self.service_key.is_some()
            || file.has_failed("service_key_file");
        if box_office_serves || has_service_key {
            users = VerifiedUsers::Possible;
        }
        self.rooms.extend(rooms::read(&mut file, &defaults, users));
    }

    fn default_policy(&self) -> Policy {
        let shipped = self.rooms.get(&RoomId::main());
        shipped.map_or_else(rooms::unset, |room| Policy::clone(&room.policy))
    }
}

/// The settings file of the working directory, if there is one.
fn default_file() -> io::Result<Option<String>> {
    match fs::read_to_string(FILE_NAME) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}
