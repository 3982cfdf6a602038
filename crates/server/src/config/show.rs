//! Writes settings as a file that means the same.

use ropeline_web::Limits;

use super::{
    BoxOfficeSettings, LogSettings, LoginSettings, RateLimits, Settings, StoreChoice, figures,
    span, store::durability_word,
};

impl Settings {
    /// The settings as TOML, with the keys of operators and services and the store's password left out.
    pub fn to_toml(&self) -> String {
        let mut lines = self.file_lines();
        lines.extend(limits_lines(&self.limits));
        lines.extend(rate_limits_lines(self.rate_limits));
        lines.extend(log_lines(&self.log));
        lines.extend(login_lines(&self.login));
        lines.extend(boxoffice_lines(&self.boxoffice));
        for (id, room) in &self.rooms {
            lines.extend([String::new(), format!("[rooms.{id}]")]);
            lines.extend(figures::toml_lines(&room.policy));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn file_lines(&self) -> Vec<String> {
        let proxies = self.trusted_proxies.networks().iter();
        let proxies: Vec<_> = proxies.map(ToString::to_string).collect();
        let mut lines = vec![
            format!("listen = \"{}\"", self.listen),
            format!("data = {}", quoted(&self.data.to_string_lossy())),
        ];
        lines.extend(self.store_lines());
        lines.extend(self.database_lines());
        if let Some(url) = &self.public_url {
            lines.push(format!("public_url = {}", quoted(url.as_str())));
        }
        lines.push(format!("allowed_hosts = [{}]", list(&self.allowed_hosts)));
        lines.push(format!("trusted_proxies = [{}]", list(&proxies)));
        lines.push(format!("return_hosts = [{}]", list(&self.return_hosts)));
        lines.push(format!("cors_origins = [{}]", list(&self.cors_origins)));
        lines.push(format!("token_ttl = \"{}\"", span::format(self.token_ttl)));
        lines.push(match self.admin_key {
            Some(_) => "# The admin key is given, and not shown.".into(),
            None => {
                "# The admin key is not given: it is made and kept in the data directory.".into()
            }
        });
        lines.push(match self.service_key {
            Some(_) => "# The service key is given, and not shown.".into(),
            None => "# The service key is not given: no service is believed.".into(),
        });
        lines
    }

    fn database_lines(&self) -> Vec<String> {
        let Some(database) = &self.database else {
            return vec!["# The database is not given: it is a file in the data directory.".into()];
        };
        let mut lines = Vec::new();
        if database.has_password() {
            lines.push("# Password and options of the database are given, and not shown.".into());
        }
        lines.push(format!("database = {}", quoted(&database.to_string())));
        lines
    }

    fn store_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if matches!(&self.store, StoreChoice::Redis(url) if url.has_password()) {
            lines.push("# The password of the store is given, and not shown.".into());
        }
        lines.push(format!("store = {}", quoted(&self.store.to_string())));
        let durability = self.durability.map(durability_word);
        lines.extend(durability.map(|word| format!("durability = {word}")));
        let rule = self.outage.gate.as_str();
        lines.push(format!("on_store_error = \"{rule}\""));
        let lease_max = self.outage.lease_max.iter();
        lines.extend(lease_max.map(|max| format!("lease_max = \"{}\"", span::format(*max))));
        lines
    }
}

fn boxoffice_lines(boxoffice: &BoxOfficeSettings) -> [String; 10] {
    let BoxOfficeSettings {
        enabled,
        left_out: _,
        room,
        hold_ttl,
        holds_max,
        tickets_max,
        hold_cooldown,
        holds_per_minute,
        late_payment,
    } = boxoffice;
    [
        String::new(),
        "[boxoffice]".into(),
        format!("enabled = {enabled}"),
        format!("room = \"{room}\""),
        format!("hold_ttl = \"{}\"", span::format(*hold_ttl)),
        format!("holds_max = {holds_max}"),
        format!("tickets_max = {tickets_max}"),
        format!("hold_cooldown = \"{}\"", span::format(*hold_cooldown)),
        format!("holds_per_minute = {holds_per_minute}"),
        format!("late_payment = \"{}\"", span::format(*late_payment)),
    ]
}

fn limits_lines(limits: &Limits) -> Vec<String> {
    let Limits {
        connections_max,
        connections_per_address,
        first_byte,
        header,
        idle,
        body,
        write_stall,
        drain,
        body_bytes_max,
        headers_max,
        head_bytes_max,
    } = limits;
    let mut lines = vec![String::new(), "[limits]".into()];
    for (key, count) in [
        ("connections_max", connections_max),
        ("connections_per_address", connections_per_address),
        ("body_bytes_max", body_bytes_max),
        ("headers_max", headers_max),
        ("head_bytes_max", head_bytes_max),
    ] {
        lines.push(format!("{key} = {count}"));
    }
    for (key, length) in [
        ("first_byte", first_byte),
        ("header", header),
        ("body", body),
        ("idle", idle),
        ("write_stall", write_stall),
        ("drain", drain),
    ] {
        lines.push(format!("{key} = \"{}\"", span::format(*length)));
    }
    lines
}

fn rate_limits_lines(limits: RateLimits) -> [String; 5] {
    let RateLimits {
        joins_per_minute,
        admin_per_minute,
        admin_failures_per_minute,
    } = limits;
    [
        String::new(),
        "[rate_limits]".into(),
        format!("joins_per_minute = {joins_per_minute}"),
        format!("admin_per_minute = {admin_per_minute}"),
        format!("admin_failures_per_minute = {admin_failures_per_minute}"),
    ]
}

fn log_lines(log: &LogSettings) -> [String; 4] {
    [
        String::new(),
        "[log]".into(),
        format!("format = \"{}\"", log.format.as_str()),
        format!("level = {}", quoted(&log.level)),
    ]
}

fn login_lines(login: &LoginSettings) -> Vec<String> {
    let mut lines = vec![String::new(), "[login]".into()];
    if let Some(source) = &login.source {
        let path = source.keys.path().to_string_lossy();
        for (key, value) in [
            (source.keys.setting(), &*path),
            ("issuer", &source.issuer),
            ("audience", &source.audience),
        ] {
            lines.push(format!("{key} = {}", quoted(value)));
        }
    }
    lines.push(format!("leeway = \"{}\"", span::format(login.leeway)));
    lines
}

fn list(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
    texts.join(", ")
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
