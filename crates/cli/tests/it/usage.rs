use crate::Shell;

#[test]
fn an_unknown_flag_is_a_usage_error_with_the_nearest_one() {
    let complaint = Shell::new().ropeline("--lisen 127.0.0.1:80").complaint(2);
    let expected = "\
ropeline: unexpected argument '--lisen' found

  tip: a similar argument exists: '--listen'
";
    assert!(complaint.starts_with(expected), "{complaint}");
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    let complaint = Shell::new().ropeline("sevre").complaint(2);
    assert!(complaint.starts_with("ropeline: unrecognized subcommand 'sevre'"));
}

#[test]
fn two_ways_of_giving_the_key_by_flag_are_a_usage_error() {
    for name in ["admin", "service"] {
        let line = format!("--{name}-key some-key --{name}-key-file key");
        let complaint = Shell::new().ropeline(&line).complaint(2);
        let expected = format!("ropeline: give --{name}-key or --{name}-key-file, not both");
        assert!(complaint.starts_with(&expected), "{complaint}");
    }
}

#[test]
fn the_version_is_printed() {
    let version = Shell::new().ropeline("--version").result();
    assert_eq!(version, format!("ropeline {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn settings_are_taken_before_and_after_the_command() {
    for line in [
        "--listen nowhere",
        "--listen nowhere serve",
        "serve --listen nowhere",
        "config --listen nowhere show",
        "config show --listen=nowhere",
    ] {
        let complaint = Shell::new().ropeline(line).complaint(1);
        assert!(
            complaint.contains("--listen (or ROPELINE_LISTEN)"),
            "{line}"
        );
    }
}

#[test]
fn half_a_command_is_answered_with_its_help() {
    let complaint = Shell::new().ropeline("config").complaint(2);
    assert!(
        complaint.starts_with("Judge and show settings\n"),
        "{complaint}"
    );
    assert!(complaint.contains("\n  check "), "{complaint}");
}
