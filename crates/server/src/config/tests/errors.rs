use super::*;

#[test]
fn every_problem_is_told_with_its_line_and_what_to_write() {
    let text = r#"listen = "localhost:80"
cors_origin = []
token_ttl = 7

[log]
level = "inof"

[rooms.main]
evry = "5s"
batch = "50"
every = 5
public_url = "https://t.example"

[rooms.Main]
batch = 1
"#;
    let flags = Overrides {
        listen: Some(":9000".into()),
        store: Some("redis://user:sec/ret@cache".into()),
        ..Overrides::default()
    };
    let errors = Settings::from_text(text, &flags).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "\
the settings have 11 problems

  ropeline.toml:1: listen
    must be an IP address and a port
    write: listen = \"127.0.0.1:80\"

  ropeline.toml:2: cors_origin
    is not a setting
    did you mean: cors_origins

  ropeline.toml:3: token_ttl
    must have a unit, in quotes: \"7s\", \"7m\", \"7h\" or \"7d\"
    for example: token_ttl = \"7d\"

  ropeline.toml:6: log.level
    must be one of off, error, warn, info, debug, trace, or part=level pairs after it, divided by commas without spaces
    for example: level = \"info\"

  ropeline.toml:9: rooms.main.evry
    is not a setting
    did you mean: every

  ropeline.toml:10: rooms.main.batch
    must be a whole number without quotes, not text
    for example: batch = 50

  ropeline.toml:11: rooms.main.every
    must have a unit, in quotes: \"5s\", \"5m\", \"5h\" or \"5d\"
    for example: every = \"5s\"

  ropeline.toml:12: rooms.main.public_url
    is not a setting
    move public_url above the first [section] of the file

  ropeline.toml:14: rooms.Main
    a room id has 1 to 64 characters of a-z, 0-9 and -
    for example: [rooms.main]

  --listen (or ROPELINE_LISTEN)
    must be an IP address and a port
    write: --listen 0.0.0.0:9000

  --store (or ROPELINE_STORE)
    has a host that cannot be one; a / ? # @ or % of a password is written as %2F %3F %23 %40 %25
    write: --store redis://USER:PASSWORD@HOST:6379"
    );
}

#[test]
fn there_is_at_least_one_connection_and_perhaps_no_limit_for_one_address() {
    let (all, of_one) = ("limits.connections_max", "limits.connections_per_address");
    let too_few = "must be between 1 and 1000000";
    told("limits.connections_max = 0", all, too_few);
    let too_many = "must be between 0 and 1000000";
    told("limits.connections_per_address = 1000001", of_one, too_many);
}

#[test]
fn each_wrong_value_of_the_file_is_told_why() {
    for (text, key, wrong) in [
        (
            "listen = 8080",
            "listen",
            "must be text in quotes, not a number",
        ),
        ("data = ''", "data", "must not be empty"),
        (
            "public_url = 'https://a.example/queue'",
            "public_url",
            "must end after the host or port, without a path",
        ),
        (
            "return_hosts = ['https://a.example']",
            "return_hosts",
            "must be a host and perhaps a port, without http://, path or *",
        ),
        (
            "cors_origins = 'https://a.example'",
            "cors_origins",
            "must be a list in brackets, not text",
        ),
        (
            "cors_origins = ['*']",
            "cors_origins",
            "must name each site: \"*\" would let in all",
        ),
        (
            "token_ttl = '59s'",
            "token_ttl",
            "must be between 1m and 30d",
        ),
        (
            "token_ttl = '31d'",
            "token_ttl",
            "must be between 1m and 30d",
        ),
        (
            "token_ttl = '1 week'",
            "token_ttl",
            "must be a whole number with a unit: ms, s, m, h or d",
        ),
        (
            "admin_key_file = '/nowhere'",
            "admin_key_file",
            "/nowhere cannot be read: No such file or directory (os error 2)",
        ),
        (
            "service_key_file = '/nowhere'",
            "service_key_file",
            "/nowhere cannot be read: No such file or directory (os error 2)",
        ),
        (
            "trusted_proxies = '10.0.0.1'",
            "trusted_proxies",
            "must be a list in brackets, not text",
        ),
        (
            "trusted_proxies = ['proxy.internal']",
            "trusted_proxies",
            "must be IP addresses, or networks such as 10.0.0.0/8; this is neither: proxy.internal",
        ),
        (
            "rate_limits.joins_per_minute = 1000001",
            "rate_limits.joins_per_minute",
            "must be between 0 and 1000000",
        ),
        (
            "rate_limits.admin_per_minute = '600'",
            "rate_limits.admin_per_minute",
            "must be a whole number without quotes, not text",
        ),
        (
            "rate_limits.admin_failures_per_minute = -1",
            "rate_limits.admin_failures_per_minute",
            "must be a whole number that is not below 0",
        ),
        ("limits = 5", "limits", "must be a section, not a number"),
        (
            "limits.idle = '2h'",
            "limits.idle",
            "must be between 100ms and 1h",
        ),
        (
            "log.format = 'xml'",
            "log.format",
            "must be \"text\" or \"json\"",
        ),
    ] {
        told(text, key, wrong);
    }
}

#[test]
fn each_wrong_value_of_the_box_office_is_told_why() {
    for (text, key, wrong) in [
        (
            "database = 'mysql://kim:hunter2@db/box'",
            "database",
            "must be sqlite: and a file, or postgres://",
        ),
        (
            "database = 'sqlite:'",
            "database",
            "must name a file behind sqlite:",
        ),
        (
            "database = 'sqlite:my data.db'",
            "database",
            "must have space, ?, # and % in the file's name written as %20, %3F, %23 and %25",
        ),
        (
            "boxoffice.enabled = 'yes'",
            "boxoffice.enabled",
            "must be true or false without quotes, not text",
        ),
        (
            "boxoffice.room = 'Main'",
            "boxoffice.room",
            "a room id has 1 to 64 characters of a-z, 0-9 and -",
        ),
        (
            "boxoffice.hold_ttl = '25h'",
            "boxoffice.hold_ttl",
            "must be between 1s and 1d",
        ),
        (
            "boxoffice.holds_max = 0",
            "boxoffice.holds_max",
            "must be between 1 and 1000",
        ),
        (
            "boxoffice.tickets_max = 0",
            "boxoffice.tickets_max",
            "must be between 1 and 1000",
        ),
        (
            "boxoffice.hold_cooldown = '25h'",
            "boxoffice.hold_cooldown",
            "must be between 0s and 1d",
        ),
        (
            "boxoffice.hold_cooldown = 60",
            "boxoffice.hold_cooldown",
            "must have a unit, in quotes: \"60s\", \"60m\", \"60h\" or \"60d\"",
        ),
        (
            "boxoffice.holds_per_minute = 1000001",
            "boxoffice.holds_per_minute",
            "must be between 0 and 1000000",
        ),
        (
            "boxoffice.late_payment = '2d'",
            "boxoffice.late_payment",
            "must be between 0s and 1d",
        ),
    ] {
        told(text, key, wrong);
    }
}

#[test]
fn a_wrong_address_of_a_database_is_not_repeated() {
    let flags = Overrides {
        database: Some("mysql://kim:hunter2@db/box".into()),
        ..Overrides::default()
    };
    let errors = Settings::from_text("", &flags).unwrap_err().to_string();
    assert!(!errors.contains("hunter2"), "{errors}");
    assert!(!format!("{flags:?}").contains("hunter2"));
    let right = Overrides {
        database: Some("postgres://kim:hunter2@db/box".into()),
        ..Overrides::default()
    };
    let settings = Settings::from_text("", &right).unwrap();
    let shown = format!("{settings:?}{}", settings.to_toml());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn each_wrong_value_of_the_store_is_told_why() {
    for (text, key, wrong) in [
        (
            "store = 'postgres://x'",
            "store",
            "must be \"embedded\", or an address that begins with redis://, rediss://, redis+sentinel://, redis+cluster:// or redis+unix://",
        ),
        (
            "store = 'redis+sentinel://:hunter2@a,b,c'",
            "store",
            "must end with the name that the Sentinels have for the master",
        ),
        (
            "durability = 2",
            "durability",
            "must be 0, 1, \"strict\" or \"all\"",
        ),
        (
            "durability = 'sure'",
            "durability",
            "must be 0, 1, \"strict\" or \"all\"",
        ),
        (
            "on_store_error = 'fail'",
            "on_store_error",
            "must be \"closed\", \"open\" or \"lease\"",
        ),
        (
            "lease_max = '0s'",
            "lease_max",
            "must be between 1s and 30d",
        ),
    ] {
        told(text, key, wrong);
    }
}

#[test]
fn each_wrong_value_of_a_room_is_told_why() {
    for (text, key, wrong) in [
        (
            "rooms.vip = 'x'",
            "rooms.vip",
            "must be a section, not text",
        ),
        (
            "rooms.vip.batch = -1",
            "rooms.vip.batch",
            "must be a whole number that is not below 0",
        ),
        (
            "rooms.vip.batch = 0",
            "rooms.vip.batch",
            "must be between 1 and 1,000,000,000",
        ),
        (
            "rooms.vip.every = '1s'",
            "rooms.vip.batch",
            "batch or active_max must be set: without either, everybody would be let in",
        ),
        (
            "rooms.vip.preset = 'seed-003'",
            "rooms.vip.preset",
            "must be one of seed-000, seed-001, seed-002, seed-004",
        ),
        (
            "boxoffice.enabled = false\nrooms.vip = { batch = 1, identity = 'jwt' }",
            "rooms.vip.identity",
            "\"jwt\" needs someone who vouches for users: set secret_file, public_key_file or jwks_file in [login], \
             set a service key (service_key_file), or let the box office serve here (section [boxoffice]; with a \
             Redis store it also needs a database)",
        ),
        (
            "rooms.vip = { batch = 1, identity = 'none' }",
            "rooms.vip.identity",
            "must be \"open\", \"anonymous\" or \"jwt\"",
        ),
        (
            "rooms.vip = { batch = 1, pass_ttl = '1h' }",
            "rooms.vip.pass_max",
            "must be 0 (no bound), or at least pass_ttl and at most 30 days (pass_ttl is 1h); \
             left out, it is 30m",
        ),
    ] {
        told(text, key, wrong);
    }
}

/// Asserts that this is the one thing that a file with this text is told.
#[track_caller]
pub(super) fn told(text: &str, key: &str, wrong: &str) {
    let errors = errors(text);
    let pair = |problem: &Problem| (problem.key.clone(), problem.wrong.clone());
    let found: Vec<_> = errors.problems().iter().map(pair).collect();
    assert_eq!(found, [(key.to_owned(), wrong.to_owned())], "{text}");
}

#[test]
fn a_key_itself_is_never_in_the_file() {
    for key in ["admin_key", "service_key"] {
        let errors = errors(&format!("{key} = 'x'"));
        assert_eq!(errors.problems()[0].key, key);
        assert_eq!(errors.problems()[0].wrong, "is not a setting");
    }
}

#[test]
fn text_that_is_not_toml_is_told_with_its_line() {
    let errors = errors("listen = \"127.0.0.1:80\"\n\n[rooms.main\nbatch = 5\n");
    let first = &errors.problems()[0];
    assert_eq!(first.origin.to_string(), "ropeline.toml:3");
    assert!(first.wrong.starts_with("is not TOML: "), "{}", first.wrong);
}

#[test]
fn each_line_that_is_not_toml_is_told_once() {
    let errors = errors("listen = \nstore = [ = = =\n]\n[log]\nlevel = info\n");
    let lines: Vec<_> = errors
        .problems()
        .iter()
        .map(|problem| problem.origin.to_string())
        .collect();
    assert_eq!(
        lines,
        ["ropeline.toml:1", "ropeline.toml:2", "ropeline.toml:5"]
    );
}

#[test]
fn a_key_written_twice_is_an_error() {
    let errors = errors("listen = \"127.0.0.1:80\"\nlisten = \"127.0.0.1:81\"\n");
    assert_eq!(errors.problems()[0].origin.to_string(), "ropeline.toml:2");
}

#[test]
fn a_wrong_key_is_not_repeated() {
    let flags = Overrides {
        admin_key: Some("two words".into()),
        service_key: Some("two words".into()),
        ..Overrides::default()
    };
    let errors = Settings::from_text("", &flags).unwrap_err().to_string();
    assert!(errors.contains("--admin-key (or ROPELINE_ADMIN_KEY)"));
    assert!(errors.contains("--service-key (or ROPELINE_SERVICE_KEY)"));
    assert!(!errors.contains("two words"));
}

#[test]
fn a_key_that_can_be_guessed_is_refused_where_others_can_try() {
    let with = |text: &str, key: &str| {
        let flags = Overrides {
            admin_key: Some(key.into()),
            ..Overrides::default()
        };
        Settings::from_text(text, &flags).map_err(|errors| errors.to_string())
    };
    assert!(with("", "short").is_ok(), "on this machine alone");
    for text in [
        "listen = '0.0.0.0:80'\n",
        "public_url = 'https://tickets.example'\n",
        "trusted_proxies = ['10.0.0.0/8']\n",
    ] {
        let refused = with(text, "fifteen-letters").unwrap_err();
        for part in ["--admin-key", "at least 16 characters", "openssl rand"] {
            assert!(refused.contains(part), "{refused}");
        }
        assert!(!refused.contains("fifteen-letters"), "{refused}");
        assert!(with(text, "sixteen-letters!").is_ok());
        let directory = tempfile::tempdir().unwrap();
        let key_file = directory.path().join("key");
        ropeline_testing::write_secret(&key_file, "short");
        let text = format!("{text}service_key_file = '{}'\n", key_file.display());
        let refused = with(&text, "sixteen-letters!").unwrap_err();
        assert!(
            refused.contains("ropeline.toml: service_key_file"),
            "{refused}"
        );
    }
}
