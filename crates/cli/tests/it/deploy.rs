//! The files of `deploy/` agree with each other and with the program.

use std::{fs, path::PathBuf, time::Duration};

use ropeline_testing::{ClusterOptions, SentinelOptions, TestCluster, TestSentinels};

use crate::{Shell, process::Site};

const COMPOSE: [&str; 3] = [
    "compose.yaml",
    "compose-sentinel.yaml",
    "compose-cluster.yaml",
];

fn path(name: &str) -> PathBuf {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");
    PathBuf::from(files).join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What stands behind each occurrence of `mark`, up to the end of the line.
fn behind<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let lines = text.lines();
    let found = lines.filter_map(|line| line.split_once(mark));
    found.map(|(_, rest)| rest.trim()).collect()
}

#[test]
fn the_settings_of_the_three_nodes_are_in_order() {
    let file = path("ropeline-three-nodes.toml");
    let check = format!("config check --config {}", file.display());
    Shell::new().ropeline(&check).result();
}

#[test]
fn every_variable_of_the_compose_files_is_one_that_is_read() {
    let help = Shell::new().ropeline("--help").result();
    for file in COMPOSE {
        let compose = text(file);
        let words = compose.split(|c: char| !c.is_ascii_uppercase() && c != '_');
        let variables: Vec<_> = words.filter(|word| word.starts_with("ROPELINE_")).collect();
        assert!(variables.contains(&"ROPELINE_STORE"), "{file}");
        for variable in variables {
            assert!(help.contains(&format!("[env: {variable}")), "{variable}");
        }
    }
}

#[test]
fn the_compose_files_name_their_stores_as_the_program_takes_them() {
    for file in COMPOSE {
        let store = behind(&text(file), "ROPELINE_STORE: ").concat();
        let site = Site::new(&format!("store = '{store}'\n"));
        site.ropeline("config check").result();
        let hosts = store.split(['/', ',', ':']).skip(3);
        for host in hosts.filter(|host| host.contains('-')) {
            assert!(text(file).contains(&format!("\n  {host}:\n")), "{host}");
        }
    }
}

#[test]
fn the_compose_files_mount_what_the_image_reads() {
    let image = text("Dockerfile");
    let directory = behind(&image, "WORKDIR ")
        .last()
        .copied()
        .unwrap_or_default();
    let settings = format!("./ropeline-three-nodes.toml:{directory}/ropeline.toml:ro");
    let data = behind(&image, "VOLUME ").concat();
    for file in COMPOSE {
        let compose = text(file);
        assert_eq!(compose.matches(&settings).count(), 3, "{settings}");
        for node in ["node-1", "node-2", "node-3"] {
            assert_eq!(compose.matches(&format!("{node}:{data}\n")).count(), 1);
        }
        assert!(compose.contains("dockerfile: deploy/Dockerfile\n"));
        let mounted = compose.lines().filter_map(|line| {
            let (file, _) = line.trim().strip_prefix("- ./")?.split_once(':')?;
            Some(file)
        });
        for file in mounted {
            assert!(path(file).is_file(), "{file}");
        }
    }
}

#[test]
fn nginx_knows_every_node_and_every_node_trusts_nginx() {
    let nginx = text("nginx-three-nodes.conf");
    let port = behind(&text("Dockerfile"), "EXPOSE ").concat();
    for node in ["node-1", "node-2", "node-3"] {
        for role in ["max_fails=2 fail_timeout=5s;", "max_fails=0 backup;"] {
            let server = format!("server {node}:{port} {role}");
            assert_eq!(nginx.matches(&server).count(), 1, "{server}");
        }
    }
    assert!(nginx.contains("server service:80;"));
    for file in COMPOSE {
        let compose = text(file);
        for service in ["node-1", "node-2", "node-3", "service"] {
            assert!(compose.contains(&format!("\n  {service}:\n")), "{service}");
        }
        let subnet = behind(&compose, "subnet: ").concat();
        let trusted = format!("trusted_proxies = [\"{subnet}\"]");
        let settings = text("ropeline-three-nodes.toml");
        assert!(settings.contains(&trusted), "{trusted}");
    }
}

/// The lines of a file of settings that say something.
fn settings(name: &str) -> Vec<String> {
    let text = text(name);
    let lines = text.lines().map(str::trim);
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    said.map(str::to_owned).collect()
}

/// What a node says at its start of servers that are set up as the files say.
fn said_of(store: &str) -> String {
    let site = Site::new(&format!("store = '{store}'\n"));
    site.start().stderr()
}

#[test]
fn nothing_is_wrong_with_the_servers_behind_sentinels() {
    let sentinel = settings("redis/sentinel.conf");
    let down_after = sentinel
        .iter()
        .find_map(|line| line.strip_prefix("sentinel down-after-milliseconds mymaster "))
        .and_then(|ms| ms.parse().ok())
        .expect("a time-out is set");
    let group = TestSentinels::with(&SentinelOptions {
        down_after: Duration::from_millis(down_after),
        settings: settings("redis/server.conf"),
        ..SentinelOptions::default()
    });
    let said = said_of(&group.url());
    assert!(!said.contains("WARN"), "{said}");
}

#[test]
fn nothing_is_wrong_with_the_servers_of_the_cluster() {
    let cluster = TestCluster::with(&ClusterOptions {
        settings: settings("redis/cluster.conf"),
        ..ClusterOptions::default()
    });
    let said = said_of(&cluster.url());
    assert!(!said.contains("WARN"), "{said}");
}

#[test]
fn the_unit_reloads_by_sighup_and_starts_again_whatever_ended_it() {
    let unit = text("ropeline.service");
    assert_eq!(behind(&unit, "ExecReload="), ["/bin/kill -HUP $MAINPID"]);
    assert_eq!(behind(&unit, "Restart="), ["always"]);
}
