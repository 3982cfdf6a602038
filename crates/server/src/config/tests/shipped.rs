use ropeline_core::{Identity, PRESETS};

use super::*;

#[test]
fn the_shipped_values_are_the_documented_ones() {
    let settings = Settings::shipped();
    assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.data, PathBuf::from("./data"));
    assert_eq!(settings.store, StoreChoice::Embedded);
    assert_eq!(settings.outage.gate, GateRule::Closed);
    assert_eq!(settings.outage.lease_max, None);
    assert_eq!(settings.public_url, None);
    assert!(settings.return_hosts.is_empty());
    assert!(settings.cors_origins.is_empty());
    assert_eq!(settings.admin_key, None);
    assert_eq!(settings.service_key, None);
    assert_eq!(settings.token_ttl, Duration::from_secs(7 * 86_400));
    assert_eq!(settings.limits, Limits::default());
    assert!(settings.trusted_proxies.networks().is_empty());
    let rates = RateLimits {
        joins_per_minute: 3_000,
        admin_per_minute: 600,
        admin_failures_per_minute: 20,
    };
    assert_eq!(settings.rate_limits, rates);
    assert_eq!(settings.log.format, LogFormat::Text);
    assert_eq!(settings.log.level, "info");
    assert_eq!(settings.login.source, None);
    assert_eq!(settings.login.leeway, Duration::ZERO);
    assert_eq!(settings.database, None);
    let boxoffice = BoxOfficeSettings {
        enabled: true,
        left_out: false,
        room: RoomId::main(),
        hold_ttl: Duration::from_secs(300),
        holds_max: 4,
        tickets_max: 4,
        hold_cooldown: Duration::from_secs(60),
        holds_per_minute: 20,
        late_payment: Duration::from_secs(60),
    };
    assert_eq!(settings.boxoffice, boxoffice);
    assert_eq!(settings.rooms.len(), 1);
    let main = Policy {
        every: Duration::from_secs(5),
        batch: Some(50),
        active_max: Some(200),
        pass_ttl: Duration::from_secs(300),
        pass_max: Duration::from_secs(1800),
        presence_ttl: Duration::from_secs(90),
        missed_turn_ttl: Duration::from_secs(600),
        waiting_max: 5_000_000,
        identity: Identity::Open,
    };
    assert_eq!(*policy(&settings, "main"), main);
}

#[test]
fn the_shipped_file_mentions_every_setting_with_its_example() {
    let sections = [
        ("", &keys::FILE[..]),
        ("[limits]", &keys::LIMITS),
        ("[rate_limits]", &keys::RATE_LIMITS),
        ("[log]", &keys::LOG),
        ("[login]", &keys::LOGIN),
        ("[boxoffice]", &keys::BOXOFFICE),
        ("[rooms.main]", &keys::ROOM),
    ];
    let lists = [
        "allowed_hosts",
        "trusted_proxies",
        "return_hosts",
        "cors_origins",
    ];
    for (section, keys) in sections {
        let named = keys.iter().filter(|key| !key.example.is_empty());
        for key in named.filter(|key| !lists.contains(&key.name)) {
            let line = format!("{} = {}", key.name, key.example);
            let is_it = |text: &str| text.trim_start_matches("# ") == line;
            assert!(SHIPPED.lines().any(is_it), "{section} {line}");
        }
        assert!(SHIPPED.contains(section));
    }
    for list in lists {
        assert!(SHIPPED.contains(&format!("\n{list} = []\n")), "{list}");
    }
}

#[test]
fn the_shipped_file_sets_all_that_has_a_default() {
    let table: toml::Table = SHIPPED.parse().unwrap();
    let missing = |table: &toml::Table, keys: &'static [keys::Key]| -> Vec<&str> {
        let names = keys.iter().map(|key| key.name);
        names.filter(|name| !table.contains_key(*name)).collect()
    };
    let at = |path: &[&str]| {
        path.iter()
            .fold(&table, |table, name| table[*name].as_table().unwrap())
    };
    assert_eq!(
        missing(&table, &keys::FILE),
        [
            "durability",
            "database",
            "lease_max",
            "public_url",
            "admin_key_file",
            "service_key_file"
        ]
    );
    assert!(missing(at(&["limits"]), &keys::LIMITS).is_empty());
    assert!(missing(at(&["rate_limits"]), &keys::RATE_LIMITS).is_empty());
    assert!(missing(at(&["log"]), &keys::LOG).is_empty());
    assert!(missing(at(&["boxoffice"]), &keys::BOXOFFICE).is_empty());
    let login = missing(at(&["login"]), &keys::LOGIN);
    assert_eq!(login, keys::LOGIN.map(|key| key.name)[..5]);
    assert_eq!(missing(at(&["rooms", "main"]), &keys::ROOM), ["preset"]);
}

#[test]
fn the_shipped_file_shows_the_figures_of_every_preset() {
    let base = Policy::clone(policy(&Settings::shipped(), "main"));
    for preset in PRESETS {
        let policy = preset.over(&base);
        let limit = |limit: Option<u64>| limit.map_or("-".into(), |limit| limit.to_string());
        let row = [
            "#".into(),
            preset.name.into(),
            span::format(policy.every),
            limit(policy.batch),
            limit(policy.active_max),
            span::format(policy.pass_ttl),
        ];
        let is_it = |line: &str| line.split_whitespace().take(6).eq(row.iter());
        assert!(SHIPPED.lines().any(is_it), "{row:?}");
    }
}

#[test]
fn the_example_room_of_the_comments_is_valid() {
    let settings = settings("[rooms.album-sale]\npreset = \"seed-004\"\nactive_max = 500");
    assert_eq!(policy(&settings, "album-sale").active_max, Some(500));
}

#[test]
fn settings_shown_as_a_file_mean_the_same() {
    let written = settings(
        r#"
        listen = "[::1]:9000"
        data = 'C:\queue "x"'
        store = "rediss://ann:@[::1]:7000/3"
        durability = "all"
        database = "postgres://kim@db.example/box"
        on_store_error = "lease"
        lease_max = "90s"
        public_url = "https://t.example"
        allowed_hosts = ["queue.internal", "b.example:81"]
        trusted_proxies = ["10.0.0.0/8", "::1", "192.0.2.7"]
        return_hosts = ["shop.example", "b.example:81"]
        cors_origins = ["https://a.example", "http://b.example:81"]
        token_ttl = "36h"
        limits = { connections_max = 7, connections_per_address = 3, idle = "1h", drain = "0s", head_bytes_max = 0x2000 }
        rate_limits = { joins_per_minute = 0, admin_per_minute = 1, admin_failures_per_minute = 2 }
        log = { format = "json", level = "warn,hyper=off" }
        boxoffice = { enabled = false, room = "a", hold_ttl = "90s", holds_max = 1, tickets_max = 2, hold_cooldown = "0s", holds_per_minute = 0, late_payment = "5s" }
        [rooms.a]
        batch = 1
        every = "250ms"
        identity = "anonymous"
        [rooms.b]
        preset = "seed-004"
        pass_max = "0s"
        "#,
    );
    let shown = settings(&written.to_toml());
    let policies = |settings: &Settings| {
        let pair = |(id, room): (&RoomId, &RoomSettings)| (id.clone(), Policy::clone(&room.policy));
        settings.rooms.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(policies(&shown), policies(&written));
    let rooms = BTreeMap::new;
    assert_eq!(
        Settings {
            rooms: rooms(),
            ..shown
        },
        Settings {
            rooms: rooms(),
            ..written
        }
    );
}
