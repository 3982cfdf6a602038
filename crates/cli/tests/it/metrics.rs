//! The figures for Prometheus, judged by Prometheus's own tool.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use ropeline_testing::{Persistence, TestRedis, http::Ask};
use serde_json::json;

use crate::{
    process::{Server, Site},
    wait::until,
};

const RECIPES: &str = include_str!("../../../../docs/RECIPES.md");
/// Every figure of a room is there by then.
const FIGURES_MAX: Duration = Duration::from_secs(30);

/// A room with every limit, whose estimates come due within seconds, and another one.
const ROOMS: &str = "\
[rooms.main]
every = \"500ms\"
batch = 1
active_max = 100
presence_ttl = \"0s\"
[rooms.album-sale]
active_max = 5
[boxoffice]
enabled = true
";

/// A server after a little of everything.
fn busy(site: &Site) -> Server {
    let server = site.start();
    let mut client = server.client();
    for user in 0..6 {
        let join = Ask::post("/api/v1/queue/tokens").json(&json!({"userId": user.to_string()}));
        let joined = client.send(&join).json();
        let token = joined["token"].as_str().expect("a new place has a token");
        client.send(&Ask::get("/api/v1/queue/verify").token(token));
    }
    client.send(&Ask::get("/nothing"));
    server
}

fn figures(server: &Server) -> String {
    let reply = server.client().send(&Ask::get("/metrics"));
    String::from_utf8(reply.body).expect("figures are text")
}

/// The figures once estimates have come due, after which none are missing.
fn all_figures(server: &Server) -> String {
    until(FIGURES_MAX, "estimates come due", || {
        let text = figures(server);
        text.contains("ropeline_room_estimate_within_band_ratio{")
            .then_some(text)
    })
}

/// Runs promtool, which finds nothing wrong.
#[track_caller]
fn promtool(arguments: &[&str], directory: &Path, input: &str) {
    let mut command = Command::new("promtool");
    command.args(arguments).current_dir(directory);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("promtool, which ./test installs");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).expect("promtool reads");
    drop(stdin);
    let said = child.wait_with_output().expect("promtool ends");
    let text = [said.stdout, said.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(said.status.success(), "promtool {arguments:?}: {text}");
    // It warns of some things and succeeds all the same.
    let judges_metrics = arguments == ["check", "metrics"];
    assert!(!judges_metrics || text.is_empty(), "{text}");
}

#[test]
fn the_figures_of_rooms_and_box_office_pass_promtool() {
    let site = Site::new(ROOMS);
    let server = busy(&site);
    let text = all_figures(&server);
    for part in [
        r#"ropeline_room_seats_left{room="main"} "#,
        r#"ropeline_room_active_max{room="album-sale"} 5"#,
        r#"ropeline_gate_answers_total{outcome="waiting",room="main"} "#,
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    promtool(&["check", "metrics"], Path::new("."), &text);
}

#[test]
fn the_figures_of_a_node_on_redis_pass_promtool() {
    let redis = TestRedis::with(Persistence::None, &[]);
    let rooms = ROOMS.replace("[boxoffice]\nenabled = true\n", "");
    let settings = format!("store = 'redis://127.0.0.1:{}'\n{rooms}", redis.port());
    let site = Site::new(&settings);
    let server = busy(&site);
    promtool(&["check", "metrics"], Path::new("."), &all_figures(&server));
}

#[test]
fn every_figure_that_a_document_names_is_there() {
    let site = Site::new(ROOMS);
    let server = busy(&site);
    let text = all_figures(&server);
    let told: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let documents = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let mut named = BTreeSet::new();
    for entry in fs::read_dir(documents).expect("the documents") {
        let path = entry.expect("a document").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).expect("a document");
            named.extend(names_of(&text));
        }
    }
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !told.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "documents name {missing:?}");
    let api = names_of(include_str!("../../../../docs/API.md"));
    let untold: Vec<_> = told.iter().filter(|name| !api.contains(**name)).collect();
    assert!(untold.is_empty(), "docs/API.md does not name {untold:?}");
}

/// The figures that a document names, but for those that it says are no more.
fn names_of(document: &str) -> BTreeSet<String> {
    const KINDS: [&str; 6] = [
        "ropeline_room_",
        "ropeline_gate_",
        "ropeline_store_",
        "ropeline_http_",
        "ropeline_build_",
        "process_",
    ];
    let lines = document
        .lines()
        .filter(|line| !line.starts_with("Names that changed"));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_lowercase() && c != '_'));
    let names = words.filter(|word| {
        let kind = KINDS.iter().find(|kind| word.starts_with(*kind));
        kind.is_some_and(|kind| word.len() > kind.len() && !word.ends_with('_'))
    });
    let bare = |name: &str| {
        let parts = ["_bucket", "_sum", "_count"];
        let bare = parts.iter().find_map(|part| name.strip_suffix(part));
        bare.unwrap_or(name).to_owned()
    };
    names.map(bare).collect()
}

#[test]
fn the_alerts_of_the_recipes_fire_when_they_should() {
    let rules = RECIPES
        .split("```yaml\n")
        .find(|block| block.starts_with("# ropeline.rules.yml\n"))
        .and_then(|block| block.split("```").next())
        .expect("the recipes have rules");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let write = |name, text| fs::write(directory.path().join(name), text).expect("a file");
    write("ropeline.rules.yml", rules);
    write("test.yml", ALERTS);
    promtool(
        &["check", "rules", "ropeline.rules.yml"],
        directory.path(),
        "",
    );
    promtool(&["test", "rules", "test.yml"], directory.path(), "");
}

/// The room `full` has 950 in line of 1,000 and `wide` has 950 of 5,000,000; half of the estimates of `full` held.
const ALERTS: &str = r#"
rule_files: [ropeline.rules.yml]
evaluation_interval: 5s
tests:
  - interval: 5s
    input_series:
      - series: 'ropeline_room_visitors{job="ropeline", instance="a", room="full", where="waiting"}'
        values: '950+0x200'
      - series: 'ropeline_room_visitors{job="ropeline", instance="a", room="wide", where="waiting"}'
        values: '950+0x200'
      - series: 'ropeline_room_waiting_max{job="ropeline", instance="a", room="full"}'
        values: '1000+0x200'
      - series: 'ropeline_room_waiting_max{job="ropeline", instance="a", room="wide"}'
        values: '5000000+0x200'
      - series: 'ropeline_room_estimate_within_band_ratio{job="ropeline", instance="a", room="full"}'
        values: '0.5+0x200'
      - series: 'ropeline_store_up{job="ropeline", instance="a"}'
        values: '1+0x100 0+0x99'
      - series: 'up{job="ropeline", instance="a"}'
        values: '1+0x200'
    alert_rule_test:
      - eval_time: 1m
        alertname: RopelineLineNearlyFull
        exp_alerts:
          - exp_labels: { severity: page, instance: a, room: full }
            exp_annotations:
              summary: "950 wait in full. At waiting_max joins are refused with ROOM_FULL."
      - eval_time: 11m
        alertname: RopelineEstimatesAreOff
        exp_alerts:
          - exp_labels: { severity: ticket, job: ropeline, instance: a, room: full }
            exp_annotations:
              summary: "In full fewer than 60 % waited as long as they were told. Was the pace changed, or is the service slower?"
      - eval_time: 5m
        alertname: RopelineTakesNoJoins
        exp_alerts: []
      - eval_time: 10m
        alertname: RopelineTakesNoJoins
        exp_alerts:
          - exp_labels: { severity: page, job: ropeline, instance: a }
            exp_annotations:
              summary: "Joins are refused, or the server does not answer. Is the disk full? ropeline health says more."
"#;
