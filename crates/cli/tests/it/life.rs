//! From the first start to the last stop.

use std::{
    fs::{self, Permissions},
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::{PermissionsExt, chown, symlink},
    process::{Command, Stdio},
    time::Duration,
};

use ropeline_testing::http::{Ask, Client};
use serde_json::{Value, json};

use crate::{
    process::{Leashed, Site, mode},
    still::STILL_ROOM,
    visitor::{Place, join, status, token_of},
    wait::until,
    watch::Seat,
};

/// A stop with nothing to wait for.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Within this a running server takes up a change of its keys.
const KEYS_MAX: Duration = Duration::from_secs(5);

#[test]
fn a_data_directory_has_one_server_at_a_time() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    let complaint = site.ropeline("serve").complaint(1);
    for part in [
        site.data().display().to_string(),
        format!("pid {}", server.pid()),
    ] {
        assert!(complaint.contains(&part), "{part}: {complaint}");
    }
    token_of(&mut server.client(), "ann");
}

#[test]
fn an_address_in_use_is_said_with_the_flag_that_changes_it() {
    let site = Site::new(STILL_ROOM);
    let taken = std::net::TcpListener::bind(site.address()).unwrap();
    let complaint = site.ropeline("serve").complaint(1);
    let address = taken.local_addr().unwrap().to_string();
    for part in [address.as_str(), "--listen"] {
        assert!(complaint.contains(part), "{complaint}");
    }
}

#[test]
fn a_first_start_that_cannot_listen_makes_no_key() {
    let site = Site::new(STILL_ROOM);
    let taken = std::net::TcpListener::bind(site.address()).unwrap();
    site.ropeline("serve").complaint(1);
    for file in ["admin.key", "keys.json"] {
        assert!(!site.data().join(file).exists(), "{file}");
    }
    drop(taken);
    let server = site.start();
    server.room(&site.admin_key());
}

#[test]
fn a_stop_finishes_what_was_asked_and_keeps_everything() {
    let site = Site::new(STILL_ROOM);
    let mut server = site.start();
    let mut client = server.client();
    let mut tokens: Vec<_> = (1..=20)
        .map(|n| token_of(&mut client, &format!("user-{n}")))
        .collect();
    let mut request = UnfinishedJoin::send(TcpStream::connect(server.address()).unwrap());
    server.terminate();
    until(STOP_MAX, "the stop is logged", || {
        server.stderr().contains("stopping").then_some(())
    });
    let view = request.finish();
    assert_eq!(view["ordinal"], json!(21));
    tokens.push(view["token"].as_str().unwrap().to_owned());
    assert_eq!(server.ended_within(STOP_MAX).code(), Some(0));

    let server = site.start();
    let mut client = server.client();
    for (token, ordinal) in tokens.iter().zip(1..) {
        let place = Place::of(&client.send(&status(token))).unwrap();
        assert_eq!(place.ordinal, ordinal);
    }
}

#[test]
fn every_start_says_where_it_listens_and_where_the_admin_key_is() {
    let site = Site::new(STILL_ROOM);
    let listening = format!("http://{}", site.address());
    let kept = format!("admin key   in {}", site.data().join("admin.key").display());
    let mut keys = Vec::new();
    for _ in 0..2 {
        let server = site.start();
        let (stdout, key) = (server.stdout(), site.admin_key());
        assert!(stdout.contains(&listening), "{stdout}");
        assert!(stdout.contains(&kept), "{stdout}");
        assert!(
            !stdout.contains(&key),
            "a file may be read by many: {stdout}"
        );
        server.room(&key);
        keys.push(key);
    }
    assert_eq!(keys[0], keys[1]);
}

#[test]
fn a_new_admin_key_is_shown_on_a_terminal_once() {
    let site = Site::new(STILL_ROOM);
    let shown_by_start = || {
        let mut terminal = Seat::new(&site, "serve");
        let shown = terminal.await_text("By hand:");
        terminal.type_in("\u{3}");
        // The shell of the terminal is interrupted too, and says so by its exit code.
        terminal.code();
        shown
    };
    let first = shown_by_start();
    let key = site.admin_key();
    assert!(first.contains(&key), "{first}");
    assert!(first.contains("admin.key"), "{first}");
    let second = shown_by_start();
    assert!(!second.contains(&key), "{second}");
    assert!(second.contains("admin.key"), "{second}");
}

#[test]
fn the_data_directory_is_for_its_owner_alone_whatever_the_umask() {
    let site = Site::new(&format!("[boxoffice]\n{STILL_ROOM}"));
    let serve = site.command("serve");
    let mut careless = Command::new("sh");
    careless
        .args(["-c", "umask 0; exec \"$@\"", "sh"])
        .arg(serve.get_program());
    careless.args(serve.get_args()).stdin(Stdio::null());
    careless.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Leashed(careless.spawn().unwrap());
    until(STOP_MAX, "every file is there", || {
        let key = fs::read_to_string(site.data().join("admin.key")).ok()?;
        let mut client = Client::connect(site.address()).ok()?;
        let ask = Ask::get("/api/v1/admin/rooms")
            .header("Authorization", &format!("Bearer {}", key.trim()));
        (client.try_send(&ask).ok()?.status == 200).then_some(())
    });
    drop(server);
    assert_eq!(mode(&site.data()), 0o700);
    let mut files = Vec::new();
    for entry in fs::read_dir(site.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    for file in [
        "rooms.redb",
        "rooms.journal",
        "lock",
        "keys.json",
        "admin.key",
        "audit.log",
        "boxoffice.db-wal",
    ] {
        assert!(files.iter().any(|name| name == file), "{file}: {files:?}");
    }
    site.ropeline("keys rotate").result();
    assert_eq!(mode(&site.data().join("keys.json")), 0o600);
}

#[test]
fn files_that_an_earlier_version_left_open_to_others_are_closed() {
    let site = Site::new(&format!("[boxoffice]\n{STILL_ROOM}"));
    site.start().kill();
    let open = [
        "rooms.redb",
        "rooms.journal",
        "lock",
        "audit.log",
        "boxoffice.db",
        "boxoffice.db-wal",
        "boxoffice.db-shm",
    ];
    the_next_start_closes(&site, &open);
}

#[test]
fn a_database_file_of_any_name_is_closed_to_others() {
    let site = Site::new("");
    let books = site.data().join("my books.db");
    let url = format!("sqlite:{}", books.display()).replace(' ', "%20");
    site.configure(&format!("database = '{url}'\n[boxoffice]\n{STILL_ROOM}"));
    site.start().kill();
    let open = ["my books.db", "my books.db-wal", "my books.db-shm"];
    for file in open {
        assert_eq!(mode(&site.data().join(file)), 0o600, "{file}");
    }
    the_next_start_closes(&site, &open);
}

#[test]
fn no_symbolic_link_to_a_database_is_followed() {
    for (database, link) in [
        ("", "boxoffice.db"),
        ("", "boxoffice.db-wal"),
        ("books.db", "books.db"),
        ("books.db", "books.db-shm"),
    ] {
        let site = Site::new("");
        fs::create_dir(site.data()).unwrap();
        let setting = match database {
            "" => String::new(),
            name => format!("database = 'sqlite:{}'\n", site.data().join(name).display()),
        };
        site.configure(&format!("{setting}[boxoffice]\n{STILL_ROOM}"));
        let target = site.with_file("target", b"");
        symlink(&target, site.data().join(link)).unwrap();
        let complaint = site.ropeline("serve").complaint(1);
        assert!(complaint.contains("symbolic link"), "{link}: {complaint}");
        assert!(complaint.contains(link), "{link}: {complaint}");
        assert_eq!(fs::read(&target).unwrap(), b"", "{link}");
    }
}

/// Opens files of the data directory to others, and sees them closed again, without a warning.
fn the_next_start_closes(site: &Site, files: &[&str]) {
    open_to_others(site, files);
    let server = site.start();
    for file in files {
        assert_eq!(mode(&site.data().join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&site.data()), 0o700);
    assert!(!server.stderr().contains("WARN"), "{}", server.stderr());
}

/// Gives files of the data directory, and the directory, the permissions that earlier versions gave them.
fn open_to_others(site: &Site, files: &[&str]) {
    for file in files {
        fs::set_permissions(site.data().join(file), Permissions::from_mode(0o644))
            .expect("the file is there");
    }
    fs::set_permissions(site.data(), Permissions::from_mode(0o755))
        .expect("the directory is there");
}

#[test]
fn an_admin_key_that_others_can_read_is_refused_with_the_command_that_helps() {
    let site = Site::new(STILL_ROOM);
    site.start().kill();
    let file = site.data().join("admin.key");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let complaint = site.ropeline("serve").complaint(1);
    let command = format!("chmod 600 {}", file.display());
    assert!(complaint.contains(&command), "{complaint}");
    assert!(!complaint.contains(&site.admin_key()), "{complaint}");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    site.start().room(&site.admin_key());
}

#[test]
fn an_admin_key_of_another_user_is_refused_with_the_command_that_helps() {
    let site = Site::new(STILL_ROOM);
    site.start().kill();
    let file = site.data().join("admin.key");
    chown(&file, Some(10_001), None).expect("these tests run as root");
    let complaint = site.ropeline("serve").complaint(1);
    for part in ["user 10001", &format!("chown 0 {}", file.display())] {
        assert!(complaint.contains(part), "{complaint}");
    }
    // An operator who is root uses the key of a server that is not.
    chown(site.data(), Some(10_001), None).expect("these tests run as root");
    let server = site.start();
    assert!(
        server.stderr().contains("belongs to user 10001"),
        "{}",
        server.stderr()
    );
    site.ropeline("room list").result();
}

#[test]
fn a_given_key_that_everybody_can_read_is_refused_with_the_command_that_helps() {
    for setting in ["admin_key_file", "service_key_file"] {
        let site = Site::new("");
        let file = site.with_file("key", b"a-key-that-is-long-enough");
        site.configure(&format!("{setting} = '{}'\n", file.display()));
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let complaint = site.ropeline("config check").complaint(1);
        let command = format!("chmod o= {}", file.display());
        assert!(complaint.contains(&command), "{complaint}");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        site.ropeline("config check").result();
    }
}

#[test]
fn no_symbolic_link_in_the_data_directory_is_followed() {
    for (link, needed) in [
        ("audit.log", "the audit log"),
        ("admin.key", "the admin key"),
        ("keys.json", "the signing keys"),
        ("rooms.redb", "rooms.redb"),
    ] {
        let site = Site::new(STILL_ROOM);
        fs::create_dir(site.data()).unwrap();
        let target = site.with_file("target", b"");
        symlink(&target, site.data().join(link)).unwrap();
        let complaint = site.ropeline("serve").complaint(1);
        assert!(complaint.contains("symbolic link"), "{link}: {complaint}");
        assert!(complaint.contains(needed), "{link}: {complaint}");
        assert_eq!(fs::read(&target).unwrap(), b"", "{link}");
    }
}

#[test]
fn keys_behind_a_link_that_leads_nowhere_are_not_replaced() {
    for (link, needed) in [
        ("keys.json", "the signing keys"),
        ("admin.key", "the admin key"),
    ] {
        let site = Site::new(STILL_ROOM);
        fs::create_dir(site.data()).unwrap();
        let link = site.data().join(link);
        symlink("/nowhere/at-all", &link).unwrap();
        let complaint = site.ropeline("serve").complaint(1);
        assert!(complaint.contains("symbolic link"), "{complaint}");
        assert!(complaint.contains(needed), "{complaint}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}

#[test]
fn neither_the_admin_key_nor_a_token_is_logged_even_when_everything_is() {
    let settings = format!("[log]\nlevel = \"trace\"\n{STILL_ROOM}");
    let site = Site::new(&settings);
    let mut logs = String::new();
    let mut secrets = Vec::new();
    for user in ["ann", "bob"] {
        let mut server = site.start();
        let mut client = server.client();
        let token = token_of(&mut client, user);
        assert_eq!(client.send(&status(&token)).status, 200);
        assert_eq!(client.send(&join(user)).status, 409);
        server.room(&site.admin_key());
        server.terminate();
        server.ended_within(STOP_MAX);
        logs += &server.stderr();
        let (_, signature) = token.rsplit_once('.').unwrap();
        secrets.push(signature.to_owned());
    }
    assert!(logs.contains("stopping"), "this test needs a log: {logs}");
    secrets.push(site.admin_key());
    for secret in secrets {
        assert!(!logs.contains(&secret), "{logs}");
    }
}

#[test]
fn a_changed_section_is_applied_at_the_next_start_and_shown() {
    let site = Site::new("[rooms.main]\nactive_max = 7\n");
    let server = site.start();
    assert_eq!(policy(&server.room(&site.admin_key()))["activeMax"], 7);
    server.kill();
    site.configure("[rooms.main]\nactive_max = 9\npass_ttl = \"2m\"\n");
    let server = site.start();
    let stdout = server.stdout();
    let changes: Vec<_> = stdout
        .lines()
        .filter(|line| line.contains("changed:"))
        .collect();
    assert_eq!(changes.len(), 2, "{stdout}");
    for part in ["active_max", "7", "9", "pass_ttl", "5m", "2m"] {
        assert!(
            changes.iter().any(|line| line.contains(part)),
            "{part}: {stdout}"
        );
    }
    let room = server.room(&site.admin_key());
    assert_eq!(policy(&room)["activeMax"], 9);
    assert_eq!(policy(&room)["passTtl"], "2m");
}

#[test]
fn an_unchanged_section_is_left_alone() {
    // A box office would tell the room how many seats are left, which is a change too.
    let alone = "[boxoffice]\nenabled = false\n";
    let site = Site::new(&format!("{alone}[rooms.main]\nactive_max = 7\n"));
    let server = site.start();
    let before = server.room(&site.admin_key());
    server.kill();
    let same = "# The same with other words.\n[rooms.main]\n\nactive_max=7 # seats\n";
    site.configure(&format!("{alone}{same}"));
    let server = site.start();
    assert!(!server.stdout().contains("changed:"), "{}", server.stdout());
    let after = server.room(&site.admin_key());
    assert_eq!(policy(&after), policy(&before));
    assert_eq!(after["version"], before["version"]);
}

#[test]
fn rotated_keys_are_taken_up_while_the_server_runs() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    let mut client = server.client();
    let old = token_of(&mut client, "ann");
    let old_kid = site.ropeline("keys list").result();
    let old_kid = old_kid.split_whitespace().next().unwrap();

    site.ropeline("keys rotate").result();
    let mut users = 0;
    let new = until(KEYS_MAX, "the new key signs", || {
        users += 1;
        let token = token_of(&mut client, &format!("user-{users}"));
        (header(&token) != header(&old)).then_some(token)
    });
    assert_eq!(client.send(&status(&old)).status, 200);

    site.ropeline(&format!("keys retire {old_kid}")).result();
    let refused = until(KEYS_MAX, "tokens of the retired key are void", || {
        let reply = client.send(&status(&old));
        (reply.status != 200).then_some(reply)
    });
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (401, "TOKEN_INVALID")
    );
    assert_eq!(client.send(&status(&new)).status, 200);
    server.kill();
    let server = site.start();
    assert_eq!(server.client().send(&status(&new)).status, 200);
    assert_eq!(server.client().send(&status(&old)).status, 401);
}

/// The first part of a token, which names its key.
fn header(token: &str) -> &str {
    token.split('.').next().unwrap_or_default()
}

fn policy(room: &Value) -> &Value {
    &room["policy"]
}

/// A join that the server has begun to handle and cannot finish yet.
pub(crate) struct UnfinishedJoin(TcpStream);

impl UnfinishedJoin {
    const BODY: &str = "{\"userId\":\"the-last\"}";

    /// Sends the head alone, and waits until the handler asks for the body.
    pub(crate) fn send(mut stream: TcpStream) -> Self {
        stream
            .set_read_timeout(Some(STOP_MAX))
            .expect("an open socket");
        let head = format!(
            "POST /api/v1/queue/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            Self::BODY.len()
        );
        stream.write_all(head.as_bytes()).expect("an open socket");
        let mut go_on = [0; 25];
        stream.read_exact(&mut go_on).expect("an answer");
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self(stream)
    }

    /// Sends the rest, and gives the place view.
    pub(crate) fn finish(&mut self) -> Value {
        self.0
            .write_all(Self::BODY.as_bytes())
            .expect("an open socket");
        let mut answer = String::new();
        self.0.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        serde_json::from_str(body).expect("a place view")
    }
}
