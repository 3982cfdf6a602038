//! Where the server is, where its data is, and whose key it takes.

use std::{
    fs,
    process::{Command, Stdio},
    time::Duration,
};

use ropeline_testing::http::{Ask, Client};

use crate::{
    process::{Leashed, Site, free_address},
    wait::until,
};

const START_MAX: Duration = Duration::from_secs(10);

#[test]
fn the_file_alone_says_where_to_listen_and_where_the_data_is() {
    let directory = tempfile::tempdir().unwrap();
    let address = free_address();
    let settings = format!("listen = '{address}'\ndata = 'queue'\n");
    fs::write(directory.path().join("ropeline.toml"), settings).unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    serve.current_dir(directory.path()).env_clear();
    serve.stdin(Stdio::null()).stdout(Stdio::null());
    let _server = Leashed(serve.stderr(Stdio::null()).spawn().unwrap());
    until(START_MAX, "the server is ready there", || {
        let reply = Client::connect(address)
            .ok()?
            .try_send(&Ask::get("/readyz"));
        reply.ok().filter(|reply| reply.status == 200)
    });
    assert!(directory.path().join("queue/keys.json").exists());
    assert!(!directory.path().join("data").exists());
}

#[test]
fn an_address_that_lacks_something_is_refused_without_repeating_its_password() {
    let site = Site::new("store = 'redis+sentinel://:hunter2@a,b,c'\n");
    let complaint = site.ropeline("serve").complaint(1);
    assert!(complaint.contains("must end with the name"), "{complaint}");
    assert!(!complaint.contains("hunter2"), "{complaint}");
    assert!(!site.data().exists(), "nothing was begun");
    site.configure("store = 'embedded'\n");
    site.start();
}

#[test]
fn the_service_key_of_a_file_is_taken_and_no_other() {
    let site = Site::new("");
    let key = "a-key-for-the-shop-and-for-nobody-else";
    let file = site.with_file("key", format!("{key}\n").as_bytes());
    site.configure(&format!("service_key_file = '{}'\n", file.display()));
    let server = site.start();
    let mut client = server.client();
    for (key, status) in [(key, 201), (&*site.admin_key(), 401), ("another", 401)] {
        let ask = Ask::post("/api/v1/service/rooms/main/tokens");
        let ask = ask.header("Authorization", &format!("Bearer {key}"));
        assert_eq!(client.send(&ask).status, status);
    }
    let said = server.stdout() + &server.stderr();
    assert!(!said.contains(key), "{said}");
}

#[test]
fn the_key_of_a_file_is_taken_and_none_is_made() {
    let site = Site::new("");
    let key = "a-key-that-the-site-has-made";
    let file = site.with_file("key", format!("{key}\n").as_bytes());
    site.configure(&format!("admin_key_file = '{}'\n", file.display()));
    let server = site.start();
    server.room(key);
    assert!(!site.data().join("admin.key").exists());
    let stdout = server.stdout();
    let said = format!("admin key   in {}\n", file.display());
    assert!(stdout.contains(&said), "{stdout}");
}

#[test]
fn a_secret_that_is_given_as_a_flag_is_warned_of_and_not_repeated() {
    let secret = "a-secret-of-more-than-sixteen-letters";
    for flag in ["--admin-key", "--service-key"] {
        let site = Site::new("").with_flag(flag, secret);
        let said = site.start().stderr();
        let warning =
            format!("can read the secret in {flag} from the list of processes: use {flag}-file");
        assert!(said.contains(&warning), "{said}");
        assert!(!said.contains(secret), "{said}");
        let variable = format!("ROPELINE_{}", flag[2..].replace('-', "_").to_uppercase());
        let site = Site::new("").with_variable(&variable, secret);
        let said = site.start().stderr();
        assert!(!said.contains("list of processes"), "{said}");
    }
}
