use super::*;

fn rule(public_url: &str) -> ReturnRule {
    let hosts = ["tickets.example.com", "shop.example.com:8443"].map(str::to_owned);
    let settings = crate::config::Settings::from_text(
        &format!("public_url = '{public_url}'"),
        &crate::config::Overrides::default(),
    );
    ReturnRule::new(&hosts, settings.unwrap().public_url.as_ref())
}

/// What attackers send. `crates/server/tests/it/pages.rs` sends the same over HTTP.
const HOSTILE: &str = include_str!("../../tests/it/hostile_returns.txt");

fn hostile() -> impl Iterator<Item = String> {
    HOSTILE
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).expect("each line is a JSON string"))
}

#[test]
fn nothing_hostile_is_let_through() {
    let rules = [
        rule("https://wait.example.com"),
        rule("http://wait.example.com"),
    ];
    for payload in hostile() {
        for rule in &rules {
            assert_eq!(rule.judge(&payload), None, "{payload:?}");
        }
    }
    assert!(hostile().count() >= 40);
    let long = format!("/{}", "a".repeat(2_048));
    assert_eq!(rules[0].judge(&long), None);
    let grows = format!("/{}", "가".repeat(400));
    assert_eq!(rules[0].judge(&grows), None, "too long once it is encoded");
}

#[test]
fn paths_and_listed_hosts_are_written_in_their_normal_form() {
    let rule = rule("http://wait.example.com:8080");
    for (given, written) in [
        ("/", "/"),
        ("/shop?date=3#seats", "/shop?date=3#seats"),
        ("/a/../b", "/b"),
        ("/공연", "/%EA%B3%B5%EC%97%B0"),
        ("/%2f%2fevil.example", "/%2f%2fevil.example"),
        ("/a//b", "/a//b"),
        ("/go?to=https://evil.example", "/go?to=https://evil.example"),
        ("/\"><script>", "/%22%3E%3Cscript%3E"),
        (
            "https://tickets.example.com",
            "https://tickets.example.com/",
        ),
        (
            "HTTPS://Tickets.Example.com/a?b#c",
            "https://tickets.example.com/a?b#c",
        ),
        (
            "https://tickets.example.com:443/",
            "https://tickets.example.com/",
        ),
        ("http://tickets.example.com/", "http://tickets.example.com/"),
        (
            "https://shop.example.com:8443/x",
            "https://shop.example.com:8443/x",
        ),
        (
            "http://wait.example.com:8080/",
            "http://wait.example.com:8080/",
        ),
    ] {
        let judged = rule.judge(given);
        assert_eq!(
            judged.as_ref().map(ReturnTo::as_str),
            Some(written),
            "{given}"
        );
    }
}

#[test]
fn an_https_site_sends_nobody_to_plain_http() {
    let rule = rule("https://wait.example.com");
    for text in [
        "https://wait.example.com/x",
        "https://tickets.example.com/x",
    ] {
        assert!(rule.judge(text).is_some(), "{text}");
        let plain = text.replace("https", "http");
        assert_eq!(rule.judge(&plain), None, "{plain}");
    }
}

#[test]
fn without_a_list_only_paths_are_allowed() {
    let rule = ReturnRule::new(&[], None);
    assert!(rule.judge("/shop").is_some());
    for text in [
        "http://localhost/",
        "https://tickets.example.com/",
        "shop",
        "",
    ] {
        assert_eq!(rule.judge(text), None, "{text}");
    }
}
