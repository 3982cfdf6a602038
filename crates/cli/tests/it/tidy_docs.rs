//! What documents and deploy files name is there: routes, files, headings.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a directory of the repository, with its text.
fn files(directory: &str, endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(directory)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of the repository") {
            let path = entry.expect("an entry").path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let text = fs::read_to_string(&path).expect("a text file");
                found.push((path, text));
            }
        }
    }
    found
}

/// The documents for people and the files that sites run.
fn written() -> Vec<(PathBuf, String)> {
    let top = [
        "README.md",
        "README.ko.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ];
    let top = top.map(|name| {
        let path = root().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        (path, text)
    });
    let endings = [".md", ".conf", ".example", ".yaml", ".toml", ".service"];
    let mut all = files("docs", &[".md"]);
    all.extend(files("deploy", &endings));
    all.extend(top);
    all
}

/// The paths of the API that the routers have.
fn routes() -> BTreeSet<String> {
    let sources = ["crates/server/src", "crates/boxoffice/src"]
        .map(|directory| files(directory, &["router.rs"]));
    let texts = sources.iter().flatten().map(|(_, text)| text);
    let mut routes = BTreeSet::new();
    for text in texts {
        let after = text.split(".route(").skip(1);
        let paths = after.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
        routes.extend(paths.map(str::to_owned));
    }
    routes
}

/// Whether a path is one of a router's, or stands for all that begin with it.
fn is_routed(path: &str, routes: &BTreeSet<String>) -> bool {
    let asked: Vec<_> = path.trim_end_matches('/').split('/').collect();
    routes.iter().any(|route| {
        let known: Vec<_> = route.split('/').collect();
        let begins = known.len() >= asked.len();
        let same = |(known, asked): (&&str, &&str)| known == asked || known.starts_with('{');
        begins && known.iter().zip(&asked).all(same)
    })
}

#[test]
fn every_api_path_that_is_named_is_routed() {
    let routes = routes();
    let mut seen = 0;
    for (file, text) in written() {
        for rest in text.split("/api/v1").skip(1) {
            let end = |c: char| !c.is_ascii_alphanumeric() && !"/-_{}".contains(c);
            let path = rest.split(end).next().unwrap_or_default();
            seen += 1;
            let path = format!("/api/v1{path}");
            assert!(is_routed(&path, &routes), "{} names {path}", file.display());
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn a_path_is_told_from_one_that_nothing_answers() {
    let routes = routes();
    for path in [
        "/api/v1/queue/verify",
        "/api/v1/queue/",
        "/api/v1/admin/rooms/main/pause",
        "/api/v1/service/rooms/{room}",
    ] {
        assert!(is_routed(path, &routes), "{path}");
    }
    for path in ["/api/v1/queue/events", "/api/v1/queue/verify/x"] {
        assert!(!is_routed(path, &routes), "{path}");
    }
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut seen = 0;
    for (file, text) in written() {
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for rest in text.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            if target.contains("://") || target.is_empty() {
                continue;
            }
            seen += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let to = match path {
                "" => file.clone(),
                path => file.with_file_name(path),
            };
            let from = file.display();
            assert!(to.exists(), "{from} leads to {target}");
            if !heading.is_empty() {
                let there = fs::read_to_string(&to).expect("a document");
                assert!(
                    headings(&there).contains(heading),
                    "{from} leads to {target}"
                );
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The headings of a document as links name them, and the anchors in its text.
fn headings(document: &str) -> BTreeSet<String> {
    let lines = document.lines().filter(|line| line.starts_with('#'));
    let headings = lines.map(|line| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let kept = text
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    });
    let anchors = document.split("<a id=\"").skip(1);
    let anchors = anchors.filter_map(|rest| rest.split_once('"'));
    headings
        .chain(anchors.map(|(anchor, _)| anchor.to_owned()))
        .collect()
}
