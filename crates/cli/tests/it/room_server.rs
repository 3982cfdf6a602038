//! Which server `ropeline room` talks to, with which key, and what it says when that fails.

use ropeline_testing::write_secret;

use crate::{Shell, process::Site, room::three_visitors};

#[test]
fn a_wrong_or_missing_key_is_told_where_the_right_one_is() {
    let (site, _server) = three_visitors();
    let wrong = site
        .ropeline("room list --admin-key not-the-key-of-this-server")
        .complaint(1);
    assert!(wrong.contains("does not take this admin key\n"), "{wrong}");
    assert!(wrong.contains("data/admin.key"), "{wrong}");
    assert!(!wrong.contains("not-the-key"), "{wrong}");
    let url = format!("http://{}", site.address());
    let missing = Shell::new()
        .ropeline(&format!("room list --url {url}"))
        .complaint(1);
    assert!(missing.starts_with(&format!(
        "ropeline: there is no admin key at hand for {url}\n"
    )));
    assert!(missing.contains("ROPELINE_ADMIN_KEY"), "{missing}");
}

#[test]
fn a_data_directory_that_is_named_with_a_server_has_its_key() {
    let (site, _server) = three_visitors();
    let elsewhere = Shell::new();
    let line = format!(
        "room list --url http://{} --data {}",
        site.address(),
        site.data().display()
    );
    let rooms = elsewhere.ropeline(&line).result();
    assert!(rooms.contains("main"), "{rooms}");
    let data: &'static str = site.data().display().to_string().leak();
    let by_variable = Shell::new().with_variable("ROPELINE_DATA", data);
    let line = format!("room list --url http://{}", site.address());
    let complaint = by_variable.ropeline(&line).complaint(1);
    assert!(
        complaint.contains("there is no admin key at hand"),
        "a key is not shown to an address that it was not named with: {complaint}"
    );
}

#[test]
fn a_directory_and_a_server_that_are_named_beat_a_key_that_is_not() {
    let (site, _server) = three_visitors();
    let elsewhere = Shell::new().with_variable("ROPELINE_ADMIN_KEY", "the-key-of-another-server");
    let line = format!(
        "room list --url http://{} --data {}",
        site.address(),
        site.data().display()
    );
    assert!(elsewhere.ropeline(&line).result().contains("main"));

    let in_file = Shell::new().with_file("ropeline.toml", "admin_key_file = 'key'\n");
    write_secret(&in_file.path().join("key"), "the-key-of-another-server");
    assert!(in_file.ropeline(&line).result().contains("main"));

    let typed = format!("{line} --admin-key-file key");
    let wrong = in_file.ropeline(&typed).complaint(1);
    assert!(wrong.contains("does not take this admin key"), "{wrong}");
    let typed = format!("{line} --admin-key the-key-of-another-server");
    Shell::new().ropeline(&typed).complaint(1);
}

#[test]
fn a_key_that_is_given_opens_a_server_whose_directory_has_none_or_an_old_one() {
    let key = "the-key-that-is-given-by-variable";
    let site = Site::new("").with_variable("ROPELINE_ADMIN_KEY", key);
    let _server = site.start();
    let url = format!("--url http://{}", site.address());
    // The commands of a site name its directory by flag.
    site.ropeline(&format!("room list {url}")).result();
    write_secret(
        &site.data().join("admin.key"),
        "an-old-key-of-this-directory",
    );
    site.ropeline("room list").result();
}

#[test]
fn another_server_is_named_by_flag_or_variable() {
    let (site, _server) = three_visitors();
    let url: &'static str = format!("http://{}", site.address()).leak();
    let key: &'static str = site.admin_key().leak();
    let shell = Shell::new().with_variable("ROPELINE_ADMIN_KEY", key);
    let line = format!("room pause main --url {url}");
    assert!(shell.ropeline(&line).result().starts_with("main is paused"));
    let shell = shell.with_variable("ROPELINE_URL", url);
    let resumed = shell.ropeline("room resume main").result();
    assert!(resumed.starts_with("main is open"), "{resumed}");
    let away = Shell::new()
        .with_variable("ROPELINE_ADMIN_KEY", key)
        .with_variable("ROPELINE_URL", "")
        .ropeline("room list --listen 127.0.0.1:9");
    let away = away.complaint(1);
    assert!(away.contains("cannot reach http://127.0.0.1:9"), "{away}");
}

#[test]
fn failures_say_what_to_do() {
    let site = Site::new("[rate_limits]\nadmin_per_minute = 2\n");
    let server = site.start();
    let unknown = site.ropeline("room pause mian").complaint(1);
    let expected = "ropeline: there is no room mian; did you mean main?\nThe rooms are: main\n";
    assert_eq!(unknown, expected);
    let limited = site.ropeline("room pause main").complaint(1);
    assert!(
        limited.contains("is asked too often from here: try again in "),
        "{limited}"
    );
    server.kill();
    let away = site.ropeline("room pause main").complaint(1);
    assert!(
        away.contains("is `ropeline serve` running there?"),
        "{away}"
    );
    site.ropeline("room pause Main!").complaint(2);
}
