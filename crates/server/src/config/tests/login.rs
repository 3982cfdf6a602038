use ropeline_core::Identity;
use ropeline_testing::write_secret;

use super::{errors::told, *};

/// A file with a secret, and the lines of `[login]` that name it.
fn secret() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret");
    write_secret(&path, [b'x'; 32]);
    let lines = format!(
        "[login]\nsecret_file = '{}'\nissuer = 'i'\naudience = 'a'\n",
        path.display()
    );
    (directory, lines)
}

#[test]
fn a_room_may_take_logins_where_a_key_is_given() {
    let (_directory, login) = secret();
    let settings = settings(&format!("{login}[rooms.vip]\nbatch = 1\nidentity = 'jwt'"));
    assert_eq!(policy(&settings, "vip").identity, Identity::Jwt);
    assert_eq!(
        summary(policy(&settings, "vip")),
        "1 every 5s, no cap inside, passes of 5m, with a verified login"
    );
    assert_eq!(
        difference(policy(&settings, "main"), policy(&settings, "vip")).pop(),
        Some("identity: open -> jwt".into())
    );
}

#[test]
fn a_room_may_take_logins_where_the_box_office_brings_its_own() {
    let jwt = "[boxoffice]\nenabled = true\n[rooms.vip]\nbatch = 1\nidentity = 'jwt'";
    let flags = |store: Option<&str>, database: Option<&str>| Overrides {
        store: store.map(str::to_owned),
        database: database.map(str::to_owned),
        ..Overrides::default()
    };
    let redis = Some("redis://127.0.0.1:6379");
    for (flags, accepted) in [
        (flags(None, None), true),
        (flags(redis, None), false),
        (flags(redis, Some("sqlite:/shared/books.db")), true),
        (flags(Some("embedded"), None), true),
    ] {
        let read = Settings::from_text(jwt, &flags);
        assert_eq!(read.is_ok(), accepted, "{flags:?}: {read:?}");
    }
    let off = jwt.replace("true", "false");
    assert!(Settings::from_text(&off, &Overrides::default()).is_err());
}

#[test]
fn logins_are_refused_where_the_box_office_gives_out_user_ids_too() {
    let (_directory, login) = secret();
    let redis = Overrides {
        store: Some("redis://127.0.0.1:6379".into()),
        ..Overrides::default()
    };
    let shared = Overrides {
        database: Some("postgres://db/boxoffice".into()),
        ..redis.clone()
    };
    for (more, flags, refused) in [
        ("boxoffice = {}", Overrides::default(), true),
        ("boxoffice.enabled = false", Overrides::default(), false),
        ("", Overrides::default(), false),
        ("boxoffice = {}", redis, false),
        ("boxoffice = {}", shared, true),
    ] {
        let read = Settings::from_text(&format!("{more}\n{login}"), &flags);
        let keys: Vec<_> = match &read {
            Ok(_) => Vec::new(),
            Err(errors) => errors.problems().iter().map(|p| p.key.as_str()).collect(),
        };
        let expected: &[&str] = if refused { &["login"] } else { &[] };
        assert_eq!(keys, expected, "{more} {flags:?}: {read:?}");
    }
    let error = errors(&format!("boxoffice = {{}}\n{login}")).to_string();
    for part in [
        "ropeline.toml:2: login",
        "user 7 of your site",
        "enabled = false in [boxoffice]",
        "remove the key from [login]",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    settings("boxoffice = {}\nlogin.leeway = '1s'");
}

#[test]
fn a_room_may_be_closed_to_stated_ids_where_a_service_vouches_for_users() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    write_secret(&path, "a-service-key-of-this-test");
    let jwt = "boxoffice.enabled = false\n[rooms.vip]\nbatch = 1\nidentity = 'jwt'";
    let of_file = format!("service_key_file = '{}'\n{jwt}", path.display());
    assert_eq!(policy(&settings(&of_file), "vip").identity, Identity::Jwt);
    let by_flag = |key: Option<&str>, file: Option<PathBuf>| Overrides {
        service_key: key.map(str::to_owned),
        service_key_file: file,
        ..Overrides::default()
    };
    for (flags, accepted) in [
        (by_flag(Some("a-service-key-of-this-test"), None), true),
        (by_flag(None, Some(path)), true),
        (by_flag(Some(""), None), false),
    ] {
        let read = Settings::from_text(jwt, &flags);
        assert_eq!(read.is_ok(), accepted, "{flags:?}: {read:?}");
    }
}

#[test]
fn a_wrong_service_key_is_not_blamed_on_the_rooms_that_need_it() {
    let errors = errors(
        "boxoffice.enabled = false\nservice_key_file = '/nowhere'\n[rooms.vip]\nbatch = 1\nidentity = 'jwt'",
    );
    let keys: Vec<_> = errors.problems().iter().map(|p| p.key.as_str()).collect();
    assert_eq!(keys, ["service_key_file"]);
}

#[test]
fn an_open_room_is_advised_by_the_logins_that_there_are() {
    let (_directory, login) = secret();
    for (text, part) in [
        (
            "boxoffice.enabled = true",
            "which takes the logins of the box office",
        ),
        (
            "boxoffice.enabled = false",
            "and a key for logins in [login]",
        ),
        (login.as_str(), "which takes the logins of [login]"),
    ] {
        let advice = settings(text).advice_for_open_room();
        assert!(advice.contains(part), "{advice}");
    }
}

#[test]
fn a_server_is_public_by_its_address_or_its_proxy() {
    for (text, public) in [
        ("", false),
        ("listen = '[::1]:80'", false),
        ("listen = '0.0.0.0:80'", true),
        ("listen = '[::]:80'", true),
        ("public_url = 'https://tickets.example'", true),
        ("trusted_proxies = ['127.0.0.1']", true),
    ] {
        let settings = settings(text);
        assert_eq!(settings.is_public(settings.listen), public, "{text}");
    }
}

#[test]
fn the_same_rule_holds_for_rooms_that_are_made_while_running() {
    let open = Policy::clone(policy(&settings(""), "main"));
    let jwt = Policy {
        identity: Identity::Jwt,
        ..open.clone()
    };
    assert_eq!(check_identity(&open, VerifiedUsers::Impossible), Ok(()));
    assert_eq!(check_identity(&jwt, VerifiedUsers::Possible), Ok(()));
    let error = check_identity(&jwt, VerifiedUsers::Impossible).unwrap_err();
    assert_eq!(error.field, "identity");
}

#[test]
fn logins_shown_as_a_file_mean_the_same() {
    let (_directory, login) = secret();
    let written = settings(&format!(
        "{login}leeway = '1500ms'\n[boxoffice]\nenabled = false"
    ));
    assert_eq!(written.login.leeway, Duration::from_millis(1_500));
    let source = written.login.source.as_ref().unwrap();
    assert_eq!((&*source.issuer, &*source.audience), ("i", "a"));
    assert_eq!(settings(&written.to_toml()), written);
}

#[test]
fn each_wrong_value_of_logins_is_told_why() {
    let (_directory, login) = secret();
    for (text, key, wrong) in [
        (
            "[login]\nleeway = '6s'".to_owned(),
            "login.leeway",
            "must be between 0s and 5s",
        ),
        (
            "[login]\nissuer = 'i'".to_owned(),
            "login.issuer",
            "needs a key beside it: secret_file, public_key_file or jwks_file",
        ),
        (
            login.replace("issuer = 'i'", ""),
            "login.issuer",
            "must be set where a key is given",
        ),
        (
            login.replace("audience = 'a'", ""),
            "login.audience",
            "must be set where a key is given",
        ),
        (
            login.replace("'a'", "''"),
            "login.audience",
            "must not be empty",
        ),
        (
            login.replace("'i'", "5"),
            "login.issuer",
            "must be text in quotes, not a number",
        ),
        (
            format!("{login}jwks_file = '/nowhere'"),
            "login.jwks_file",
            "cannot stand beside secret_file: logins have one source of keys",
        ),
        (
            "[login]\njwks_file = '/nowhere'\nissuer = 'i'\naudience = 'a'".to_owned(),
            "login.jwks_file",
            "/nowhere cannot be read: No such file or directory (os error 2)",
        ),
        (
            "[login]\nkey = 'x'".to_owned(),
            "login.key",
            "is not a setting",
        ),
    ] {
        told(&text, key, wrong);
    }
}

#[test]
fn a_wrong_key_is_not_blamed_on_the_rooms_that_need_it() {
    let login = "[login]\nsecret_file = '/nowhere'\nissuer = 'i'\naudience = 'a'\n";
    for login in [login, "[login]\nsecret_file = 5\n"] {
        let errors = errors(&format!(
            "boxoffice.enabled = false\n{login}[rooms.vip]\nbatch = 1\nidentity = 'jwt'"
        ));
        let keys: Vec<_> = errors.problems().iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, ["login.secret_file"]);
    }
}
