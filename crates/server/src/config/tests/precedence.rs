use ropeline_testing::write_secret;

use super::*;

#[test]
fn flags_beat_the_file_and_the_file_beats_the_shipped_values() {
    let file = "listen = \"127.0.0.1:1111\"\ndata = \"/file\"\ndatabase = \"sqlite:file.db\"";
    let flags = Overrides {
        listen: Some("127.0.0.1:2222".into()),
        store: Some("embedded".into()),
        database: Some("sqlite:flag.db".into()),
        admin_key: Some("from-the-flag".into()),
        ..Overrides::default()
    };
    let settings = Settings::from_text(file, &flags).unwrap();
    assert_eq!(settings.listen.port(), 2222);
    assert_eq!(settings.data, PathBuf::from("/file"));
    let database = settings.database.unwrap();
    assert_eq!(database.reveal(), "sqlite:flag.db");
    assert_eq!(settings.admin_key.unwrap().reveal(), "from-the-flag");
    assert_eq!(settings.token_ttl, Duration::from_secs(7 * 86_400));
}

#[test]
fn an_empty_variable_counts_as_absent() {
    let empty = Overrides {
        config: Some(PathBuf::new()),
        listen: Some(String::new()),
        data: Some(PathBuf::new()),
        store: Some(String::new()),
        database: Some(String::new()),
        admin_key: Some(String::new()),
        admin_key_file: Some(PathBuf::new()),
        service_key: Some(String::new()),
        service_key_file: Some(PathBuf::new()),
    };
    let settings = Settings::from_text("", &empty).unwrap();
    assert_eq!(
        settings,
        Settings::from_text("", &Overrides::default()).unwrap()
    );
}

#[test]
fn the_admin_key_comes_from_its_file_unless_a_flag_gives_it() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("key");
    write_secret(&key_file, "  from-the-file\n");
    let file = format!("admin_key_file = '{}'", key_file.display());
    let key = |file: &str, flags: &Overrides| {
        let settings = Settings::from_text(file, flags).unwrap();
        settings.admin_key.unwrap().reveal().to_owned()
    };
    let by_flag = Overrides {
        admin_key: Some("from-the-flag".into()),
        ..Overrides::default()
    };
    let by_file = Overrides {
        admin_key_file: Some(key_file),
        ..Overrides::default()
    };
    assert_eq!(key(&file, &Overrides::default()), "from-the-file");
    assert_eq!(key("", &by_file), "from-the-file");
    assert_eq!(key(&file, &by_flag), "from-the-flag");
    assert_eq!(
        key("admin_key_file = '/nowhere'", &by_flag),
        "from-the-flag"
    );
}

#[test]
fn the_service_key_comes_from_its_file_unless_a_flag_gives_it() {
    let directory = tempfile::tempdir().unwrap();
    let key_file = directory.path().join("key");
    write_secret(&key_file, "from-the-file\n");
    let file = format!("service_key_file = '{}'", key_file.display());
    let key = |file: &str, flags: &Overrides| {
        let settings = Settings::from_text(file, flags).unwrap();
        settings.service_key.map(|key| key.reveal().to_owned())
    };
    let by_flag = Overrides {
        service_key: Some("from-the-flag".into()),
        ..Overrides::default()
    };
    let by_file = Overrides {
        service_key_file: Some(key_file),
        ..Overrides::default()
    };
    assert_eq!(key("", &Overrides::default()), None);
    let [from_file, from_flag] = ["file", "flag"].map(|from| Some(format!("from-the-{from}")));
    assert_eq!(key(&file, &Overrides::default()), from_file);
    assert_eq!(key("", &by_file), from_file);
    assert_eq!(key(&file, &by_flag), from_flag);
    assert_eq!(key("service_key_file = '/nowhere'", &by_flag), from_flag);
}

#[test]
fn a_named_file_must_exist() {
    let flags = Overrides {
        config: Some("/nowhere/ropeline.toml".into()),
        ..Overrides::default()
    };
    assert_eq!(
        Settings::load(&flags).unwrap_err().to_string(),
        "\
the settings have a problem

  --config (or ROPELINE_CONFIG)
    /nowhere/ropeline.toml cannot be read: No such file or directory (os error 2)
    name a file that exists; to begin one: ropeline config default > /nowhere/ropeline.toml"
    );
}

#[test]
fn a_file_that_is_not_text_is_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ropeline.toml");
    fs::write(&file, b"listen = \"\xff\"").unwrap();
    let flags = Overrides {
        config: Some(file),
        ..Overrides::default()
    };
    let errors = Settings::load(&flags).unwrap_err();
    assert_eq!(
        errors.problems()[0].instead,
        "it must be a text file in UTF-8 that this user may read"
    );
}

#[test]
fn the_unnamed_file_need_not_exist() {
    // Tests run in the folder of their crate, which has no ropeline.toml.
    let settings = Settings::load(&Overrides::default()).unwrap();
    assert_eq!(settings, Settings::shipped());
}

#[test]
fn a_secret_is_not_in_the_debug_output() {
    let flags = Overrides {
        admin_key: Some("hunter2-hunter2".into()),
        service_key: Some("hunter2-service".into()),
        store: Some("redis://ann:hunter2@cache".into()),
        ..Overrides::default()
    };
    let settings = Settings::from_text("", &flags).unwrap();
    assert!(matches!(&settings.store, StoreChoice::Redis(url) if url.has_password()));
    for shown in [
        format!("{flags:?}"),
        format!("{settings:?}"),
        settings.to_toml(),
    ] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
