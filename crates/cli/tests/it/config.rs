use ropeline_testing::write_secret;

use crate::Shell;

#[test]
fn a_good_file_is_ok_and_its_rooms_are_listed() {
    let shell = Shell::new().with_file("my.toml", "[rooms.album-sale]\npreset = \"seed-004\"\n");
    assert_eq!(
        shell.ropeline("config check my.toml").result(),
        "\
my.toml: OK
  album-sale  200 inside, refilled as they leave, passes of 10m
  main        50 every 5s, at most 200 inside, passes of 5m
"
    );
}

#[test]
fn the_settings_of_benchmark_and_tests_are_valid() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for name in [
        "bench/ropeline.toml",
        "bench/growth.toml",
        "bench/k6/ropeline.toml",
        "tests/api/ropeline.toml",
    ] {
        let check = format!("config check --config {root}/{name}");
        Shell::new().ropeline(&check).result();
    }
}

#[test]
fn a_bad_file_is_told_all_its_problems() {
    let text = "listen = \"8080\"\n\n[rooms.main]\nbacth = 5\nactive_max = 5\n";
    let shell = Shell::new().with_file("ropeline.toml", text);
    assert_eq!(
        shell.ropeline("config check").complaint(1),
        "\
ropeline: the settings have 2 problems

  ropeline.toml:1: listen
    must be an IP address and a port
    write: listen = \"0.0.0.0:8080\"

  ropeline.toml:4: rooms.main.bacth
    is not a setting
    did you mean: batch

`ropeline config default` prints every setting with its explanation.
"
    );
}

#[test]
fn a_bad_file_keeps_the_server_from_starting() {
    let shell = Shell::new().with_file("ropeline.toml", "lisen = 1");
    for line in ["", "serve"] {
        let complaint = shell.ropeline(line).complaint(1);
        assert!(complaint.starts_with("ropeline: the settings have a problem"));
    }
}

#[test]
fn without_a_file_the_built_in_settings_are_ok() {
    let verdict = Shell::new().ropeline("config check").result();
    assert!(verdict.starts_with("built-in settings (there is no ropeline.toml here): OK\n"));
}

#[test]
fn the_box_office_is_on_without_a_file_and_with_one_only_if_it_says_so() {
    let shown = |text: &str| {
        let shell = Shell::new().with_file("ropeline.toml", text);
        shell.ropeline("config show").result()
    };
    let on = "[boxoffice]\nenabled = true\n";
    assert!(Shell::new().ropeline("config show").result().contains(on));
    assert!(shown("[boxoffice]\n").contains(on));
    assert!(shown("boxoffice.holds_max = 2\n").contains(on));
    for text in [
        "",
        "[rooms.main]\nbatch = 1\n",
        "[boxoffice]\nenabled = false\n",
    ] {
        assert!(!shown(text).contains(on), "{text}");
    }
}

#[test]
fn a_named_file_must_exist() {
    let shell = Shell::new();
    for line in [
        "config check no.toml",
        "--config no.toml",
        "config show --config no.toml",
    ] {
        let complaint = shell.ropeline(line).complaint(1);
        assert!(complaint.contains("no.toml cannot be read"), "{complaint}");
    }
}

#[test]
fn the_shipped_file_comes_back_as_settings_that_change_nothing() {
    let shipped = Shell::new().ropeline("config default").result();
    let copied = Shell::new().with_file("ropeline.toml", &shipped);
    assert_eq!(
        copied.ropeline("config show").result(),
        Shell::new().ropeline("config show").result()
    );
    let shown = copied.ropeline("config show").result();
    let again = Shell::new().with_file("ropeline.toml", &shown);
    assert_eq!(again.ropeline("config show").result(), shown);
}

#[test]
fn flags_beat_the_environment_which_beats_the_file() {
    let file = "listen = \"127.0.0.1:1001\"\ndata = \"from-file\"\ntoken_ttl = \"1d\"\n";
    let shell = Shell::new()
        .with_file("other.toml", file)
        .with_variable("ROPELINE_CONFIG", "other.toml")
        .with_variable("ROPELINE_LISTEN", "127.0.0.1:1002")
        .with_variable("ROPELINE_DATA", "from-environment");
    let shown = shell
        .ropeline("config show --listen 127.0.0.1:1003")
        .result();
    for line in [
        "listen = \"127.0.0.1:1003\"",
        "data = \"from-environment\"",
        "token_ttl = \"1d\"",
        "store = \"embedded\"",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
}

#[test]
fn an_empty_variable_counts_as_absent() {
    let shell = Shell::new()
        .with_variable("ROPELINE_CONFIG", "")
        .with_variable("ROPELINE_LISTEN", "")
        .with_variable("ROPELINE_DATA", "")
        .with_variable("ROPELINE_STORE", "")
        .with_variable("ROPELINE_ADMIN_KEY", "")
        .with_variable("ROPELINE_SERVICE_KEY", "");
    assert_eq!(
        shell.ropeline("config show").result(),
        Shell::new().ropeline("config show").result()
    );
}

#[test]
fn the_admin_key_is_not_shown() {
    let shell = Shell::new().with_variable("ROPELINE_ADMIN_KEY", "hunter2-hunter2");
    let shown = shell.ropeline("config show").result();
    assert!(shown.contains("# The admin key is given, and not shown."));
    assert!(!shown.contains("hunter2"));
    assert!(!shell.ropeline("--help").result().contains("hunter2"));
}

#[test]
fn the_service_key_is_not_shown() {
    let shell = Shell::new().with_variable("ROPELINE_SERVICE_KEY", "hunter2-hunter2");
    let shown = shell.ropeline("config show").result();
    assert!(shown.contains("# The service key is given, and not shown."));
    assert!(!shown.contains("hunter2"));
    assert!(!shell.ropeline("--help").result().contains("hunter2"));
}

#[test]
fn the_password_of_a_store_is_not_shown() {
    let shell = Shell::new().with_variable("ROPELINE_STORE", "redis://ann:hunter2@cache/3");
    let shown = shell.ropeline("config show").result();
    assert!(shown.contains("# The password of the store is given, and not shown.\n"));
    assert!(
        shown.contains("store = \"redis://ann:…@cache:6379/3\"\n"),
        "{shown}"
    );
    for line in ["config show", "config check", "--help"] {
        assert!(!shell.ropeline(line).result().contains("hunter2"), "{line}");
    }
}

#[test]
fn a_key_file_by_flag_beats_a_key_from_the_environment() {
    for (variable, flag) in [
        ("ROPELINE_ADMIN_KEY", "--admin-key-file"),
        ("ROPELINE_SERVICE_KEY", "--service-key-file"),
    ] {
        // The key of the environment is not a valid one, so taking it would be a complaint.
        let shell = Shell::new().with_variable(variable, "two words");
        write_secret(&shell.path().join("key"), "from-the-file\n");
        shell.ropeline(&format!("config show {flag} key")).result();
        shell.ropeline("config show").complaint(1);
    }
}
