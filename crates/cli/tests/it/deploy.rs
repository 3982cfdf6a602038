//! The files of `deploy/` agree with each other and with the program.

use std::{fs, path::PathBuf};

use crate::Shell;

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
fn every_variable_of_the_compose_file_is_one_that_is_read() {
    let help = Shell::new().ropeline("--help").result();
    let compose = text("compose.yaml");
    let words = compose.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    let variables: Vec<_> = words.filter(|word| word.starts_with("ROPELINE_")).collect();
    assert!(variables.contains(&"ROPELINE_STORE"));
    for variable in variables {
        assert!(help.contains(&format!("[env: {variable}")), "{variable}");
    }
}

#[test]
fn the_compose_file_mounts_what_the_image_reads() {
    let (compose, image) = (text("compose.yaml"), text("Dockerfile"));
    let directory = behind(&image, "WORKDIR ")
        .last()
        .copied()
        .unwrap_or_default();
    let settings = format!("./ropeline-three-nodes.toml:{directory}/ropeline.toml:ro");
    assert_eq!(compose.matches(&settings).count(), 3, "{settings}");
    let data = behind(&image, "VOLUME ").concat();
    for node in ["node-1", "node-2", "node-3"] {
        assert_eq!(compose.matches(&format!("{node}:{data}\n")).count(), 1);
    }
    assert!(compose.contains("dockerfile: deploy/Dockerfile\n"));
    assert!(compose.contains("./nginx-three-nodes.conf:"));
}

#[test]
fn nginx_knows_every_node_and_every_node_trusts_nginx() {
    let (compose, nginx) = (text("compose.yaml"), text("nginx-three-nodes.conf"));
    let port = behind(&text("Dockerfile"), "EXPOSE ").concat();
    for node in ["node-1", "node-2", "node-3"] {
        for role in ["max_fails=2 fail_timeout=5s;", "max_fails=0 backup;"] {
            let server = format!("server {node}:{port} {role}");
            assert_eq!(nginx.matches(&server).count(), 1, "{server}");
        }
        assert!(compose.contains(&format!("\n  {node}:\n")), "{node}");
    }
    assert!(nginx.contains("server service:80;") && compose.contains("\n  service:\n"));
    let subnet = behind(&compose, "subnet: ").concat();
    let trusted = format!("trusted_proxies = [\"{subnet}\"]");
    assert!(
        text("ropeline-three-nodes.toml").contains(&trusted),
        "{trusted}"
    );
}
