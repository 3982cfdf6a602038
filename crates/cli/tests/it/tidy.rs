//! What is written beside the code keeps up with it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ropeline_server::error::CATALOGUE;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_changelog_has_a_heading_for_this_version() {
    let heading = format!("## [{}]", env!("CARGO_PKG_VERSION"));
    assert!(
        text("CHANGELOG.md")
            .lines()
            .any(|line| line.starts_with(&heading)),
        "{heading}"
    );
}

#[test]
fn every_code_is_explained_in_the_api_document() {
    let document = text("docs/API.md");
    for kind in CATALOGUE.iter().chain(&ropeline_web::CATALOGUE) {
        let row = format!("| `{}` | {}", kind.code, kind.status.as_u16());
        assert!(document.lines().any(|line| line.starts_with(&row)), "{row}");
    }
}

/// A start with a damaged database depends on it, and the tests run with another profile.
#[test]
fn a_release_unwinds_when_it_panics() {
    let manifest = text("Cargo.toml");
    let release = manifest
        .split("\n[")
        .find_map(|section| section.strip_prefix("profile.release]"));
    let release = release.expect("a section for releases");
    assert!(release.contains("\npanic = \"unwind\"\n"), "{release}");
}

#[test]
fn every_test_that_holds_a_promise_exists() {
    let tests = test_names(&root().join("crates"));
    let guarantees = text("docs/GUARANTEES.md");
    let named = guarantees.split('`').filter(|part| {
        part.matches("::").count() >= 2
            && !part.contains([' ', '…'])
            && !part.starts_with("crate::")
    });
    let named: Vec<_> = named.filter_map(|path| path.rsplit("::").next()).collect();
    assert!(
        named.len() > 50,
        "the document names its tests: {}",
        named.len()
    );
    for name in named {
        assert!(tests.contains(name), "there is no test {name}");
    }
}

#[test]
fn no_promise_is_stated_of_a_store_on_which_no_test_holds_it() {
    let guarantees = text("docs/GUARANTEES.md");
    let rows = rows_with_stores(&guarantees);
    assert!(rows.len() > 50, "{}", rows.len());
    for (promise, stated, tests) in rows {
        let held: BTreeSet<_> = tests.split('`').flat_map(stores_of).copied().collect();
        let stated: BTreeSet<_> = stated.split(' ').collect();
        assert!(stated.is_subset(&held), "{promise} {stated:?}, {held:?}");
    }
}

#[test]
fn the_stores_of_a_test_are_told_by_its_name() {
    let of = |test| stores_of(test).concat();
    assert_eq!(of("core::rules::time::room_time_never_runs_back"), "ERSC");
    assert_eq!(of("store::redis::forgetful::after_flushall"), "R");
    assert_eq!(of("cli::failover::cut::a_node_that_is_cut_off"), "C");
    assert_eq!(of("cli::life::a_stop_finishes"), "E");
    assert_eq!(of(", "), "");
}

/// The promises that name stores: the promise, the stores, the tests.
fn rows_with_stores(guarantees: &str) -> Vec<(&str, &str, &str)> {
    let mut lines = guarantees.lines();
    let mut rows = Vec::new();
    while lines.any(|line| line == "| promise | on | held by |") {
        let table = lines.by_ref().skip(1);
        let table = table.map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        rows.extend(table.map(|row| {
            let (promise, rest) = row.split_once(" | ").expect("three columns");
            let (stores, tests) = rest.split_once(" | ").expect("three columns");
            (promise, stores, tests)
        }));
    }
    rows
}

/// Modules of this crate's tests that start a single Redis.
const ON_REDIS: [&str; 7] = [
    "catch_up",
    "nodes",
    "outage",
    "redis_rights",
    "redis_start",
    "shared_keys",
    "three_nodes",
];

/// The stores on which a test runs, or all if it is of the rules that they share.
fn stores_of(test: &str) -> &'static [&'static str] {
    let path: Vec<_> = test.split("::").collect();
    match path[..] {
        ["core", ..] | ["store", "conformance" | "model", ..] => &["E", "R", "S", "C"],
        ["store", "carry", ..] | ["cli", "moving", ..] | ["cli", "boxoffice", "squatter", ..] => {
            &["E", "R"]
        }
        ["cli", "failover", "sentinel" | "unconfirmed", ..] => &["S"],
        ["cli", "failover", ..] => &["C"],
        ["cli", "nemesis", ..] => &["R", "S", "C"],
        ["cli", "nodes", "alone", ..] => &["E"],
        ["store", "redis", ..] => &["R"],
        ["cli", module, ..] if ON_REDIS.contains(&module) => &["R"],
        ["store" | "server" | "cli", _, ..] => &["E"],
        _ if test.starts_with("stories;") => &["E", "R", "S", "C"],
        _ => &[],
    }
}

#[test]
fn every_setting_has_a_test() {
    let settings = settings_of(&text("ropeline.default.toml"));
    let rows = rows_of_settings(&text("docs/GUARANTEES.md"));
    let missing: Vec<_> = settings.difference(&rows).collect();
    assert!(missing.is_empty(), "settings without a row: {missing:?}");
    let stray: Vec<_> = rows.difference(&settings).collect();
    assert!(stray.is_empty(), "rows without a setting: {stray:?}");
}

/// The settings of the shipped file with their sections, also those that stand in comments as examples.
fn settings_of(file: &str) -> BTreeSet<String> {
    let mut section = String::new();
    let mut names = BTreeSet::new();
    for line in file.lines() {
        let line = line.strip_prefix("# ").unwrap_or(line);
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            let name = if name.starts_with("rooms.") {
                "rooms.NAME"
            } else {
                name
            };
            section = format!("{name}.");
        } else if let Some((name, value)) = line.split_once(" = ") {
            let is_name = name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            // A sentence that begins with a setting ends with a full stop.
            let is_value = matches!(value, "true" | "false")
                || value.ends_with(|end: char| matches!(end, '"' | ']' | '0'..='9'));
            if is_name && is_value {
                names.insert(format!("{section}{name}"));
            }
        }
    }
    names
}

/// The settings of the table that names a test for each.
fn rows_of_settings(guarantees: &str) -> BTreeSet<String> {
    let lines = guarantees.lines();
    let table = lines
        .skip_while(|line| *line != "## Settings")
        .skip(1)
        .take_while(|line| !line.starts_with("## "));
    let rows = table.filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    rows.map(|(name, tests)| {
        assert!(tests.contains("::"), "a test of {name}: {tests}");
        name.to_owned()
    })
    .collect()
}

/// The functions that stand below a test attribute, in all sources below a directory.
fn test_names(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("a directory of sources").path();
        if path.is_dir() {
            names.extend(test_names(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a source");
            names.extend(tests_of(&source));
            names.extend(stories_of(&source));
            names.extend(told_to_both(&source));
        }
    }
    names
}

/// Stories that every store is told; which of them a store is not told fails to compile.
fn stories_of(source: &str) -> Vec<String> {
    let stories = source.lines().filter(|line| line.contains("impl Fixture)"));
    let names = stories.filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next());
    names.map(str::to_owned).collect()
}

/// Stories that both databases are told; one that is listed and not written fails to compile.
fn told_to_both(source: &str) -> Vec<String> {
    let Some((_, list)) = source.split_once("on_both![") else {
        return Vec::new();
    };
    let list = list.split("];").next().unwrap_or_default();
    let items = list.split([',', '\n']).map(str::trim);
    let is_name = |item: &&str| {
        let mut bytes = item.bytes();
        bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    items.filter(is_name).map(str::to_owned).collect()
}

fn tests_of(source: &str) -> Vec<String> {
    let mut lines = source
        .lines()
        .map(str::trim)
        .skip_while(|line| !is_test(line));
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        if is_test(line) {
            let function = lines.by_ref().find(|line| line.contains("fn "));
            let name = function.and_then(|line| line.split("fn ").nth(1)?.split('(').next());
            names.extend(name.map(str::to_owned));
        }
    }
    names
}

fn is_test(line: &str) -> bool {
    line == "#[test]" || line.starts_with("#[tokio::test")
}
