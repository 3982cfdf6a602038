//! The settings there are, section by section.
//!
//! Each comes with a value as TOML, for the advice that goes with an error. `ropeline.default.toml`
//! explains them all; a test holds the two together.

/// A setting of a section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// Its name.
    pub(super) name: &'static str,
    /// A value as one would write it.
    pub(super) example: &'static str,
}

/// The example of a key that is in the list.
pub(super) fn example(keys: &[Key], name: &str) -> &'static str {
    keys.iter()
        .find(|key| key.name == name)
        .map_or("…", |key| key.example)
}

/// Settings that stand above the first section, and the sections themselves.
pub(super) const FILE: [Key; 21] = [
    key("listen", r#""127.0.0.1:8080""#),
    key("data", r#""./data""#),
    key("store", r#""embedded""#),
    key("durability", "1"),
    key(
        "database",
        r#""postgres://boxoffice@db.example.com/boxoffice""#,
    ),
    key("on_store_error", r#""closed""#),
    key("lease_max", r#""5m""#),
    key("public_url", r#""https://tickets.example.com""#),
    key("allowed_hosts", r#"["queue.internal"]"#),
    key("trusted_proxies", r#"["10.0.0.0/8"]"#),
    key(
        "return_hosts",
        r#"["tickets.example.com", "shop.example.com:8443"]"#,
    ),
    key("cors_origins", r#"["https://www.example.com"]"#),
    key("token_ttl", r#""7d""#),
    key("admin_key_file", r#""/run/secrets/ropeline-admin-key""#),
    key("service_key_file", r#""/run/secrets/ropeline-service-key""#),
    key("limits", ""),
    key("rate_limits", ""),
    key("log", ""),
    key("login", ""),
    key("boxoffice", ""),
    key("rooms", ""),
];

/// Settings of `[limits]`.
pub(super) const LIMITS: [Key; 11] = [
    key("connections_max", "10000"),
    key("connections_per_address", "0"),
    key("first_byte", r#""10s""#),
    key("header", r#""10s""#),
    key("idle", r#""75s""#),
    key("body", r#""10s""#),
    key("write_stall", r#""30s""#),
    key("drain", r#""10s""#),
    key("body_bytes_max", "65536"),
    key("headers_max", "100"),
    key("head_bytes_max", "16384"),
];

/// Settings of `[rate_limits]`.
pub(super) const RATE_LIMITS: [Key; 3] = [
    key("joins_per_minute", "3000"),
    key("admin_per_minute", "600"),
    key("admin_failures_per_minute", "20"),
];

/// Settings of `[log]`.
pub(super) const LOG: [Key; 2] = [key("format", r#""text""#), key("level", r#""info""#)];

/// Settings of `[login]`.
pub(super) const LOGIN: [Key; 6] = [
    key("secret_file", r#""/run/secrets/login-secret""#),
    key("public_key_file", r#""/etc/ropeline/login.pem""#),
    key("jwks_file", r#""/etc/ropeline/login-jwks.json""#),
    key("issuer", r#""https://login.example.com""#),
    key("audience", r#""tickets""#),
    key("leeway", r#""0s""#),
];

/// Settings of `[boxoffice]`.
pub(super) const BOXOFFICE: [Key; 8] = [
    key("enabled", "true"),
    key("room", r#""main""#),
    key("hold_ttl", r#""5m""#),
    key("holds_max", "4"),
    key("tickets_max", "4"),
    key("hold_cooldown", r#""60s""#),
    key("holds_per_minute", "20"),
    key("late_payment", r#""60s""#),
];

/// Settings of a room.
pub(super) const ROOM: [Key; 10] = [
    key("preset", r#""seed-004""#),
    key("every", r#""5s""#),
    key("batch", "50"),
    key("active_max", "200"),
    key("pass_ttl", r#""5m""#),
    key("pass_max", r#""30m""#),
    key("presence_ttl", r#""90s""#),
    key("missed_turn_ttl", r#""10m""#),
    key("waiting_max", "5000000"),
    key("identity", r#""open""#),
];

const fn key(name: &'static str, example: &'static str) -> Key {
    Key { name, example }
}
