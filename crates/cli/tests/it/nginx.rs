//! The nginx recipe of `deploy/`, with a real nginx between visitors, Ropeline and a service.

use std::{fs, net::SocketAddr, path::Path, time::Duration};

use ropeline_testing::http::{Ask, Client};
use tempfile::TempDir;

use crate::{
    process::{Leashed, Server, Site, free_address},
    proxy::{entered, recipe, sent_to_wait, service, start_nginx},
    visitor::{join, status, token_of},
    wait::until,
};

/// What has not happened by then never will.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// One inside, for a minute.
const SETTINGS: &str = "trusted_proxies = [\"127.0.0.1\"]\n\
    [rooms.main]\nactive_max = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\n";

/// Ropeline and a service behind nginx.
struct Front {
    ropeline: Server,
    address: SocketAddr,
    site: Site,
    _nginx: Leashed,
    _directory: TempDir,
}

impl Front {
    fn start() -> Self {
        Self::with(|address, ropeline| {
            let changes = [
                ("server 127.0.0.1:8080;", format!("server {ropeline};")),
                ("server 127.0.0.1:3000;", format!("server {};", service())),
                ("listen 80;", format!("listen {address};")),
            ];
            recipe("nginx.conf.example", &changes)
        })
    }

    /// With the recipe that a README shows, within a server of nginx.
    fn of_readme(name: &str) -> Self {
        Self::with(|address, ropeline| {
            let block = first_block_of(name, ropeline);
            format!("server {{\nlisten {address};\n{block}}}\n")
        })
    }

    /// With the locations that docs/PAGES.md shows, and the gate that they belong to.
    fn of_pages() -> Self {
        Self::with(|address, ropeline| {
            let block = first_block_of("docs/PAGES.md", ropeline);
            let service = service();
            format!(
                "server {{\nlisten {address};\n{block}\
                 location / {{ auth_request /_gate; proxy_pass http://{service}; }}\n\
                 location = /_gate {{ internal; proxy_pass http://{ropeline}/api/v1/queue/verify; }}\n}}\n"
            )
        })
    }

    /// With the recipe for three nodes, all of which are one.
    fn for_three_nodes() -> Self {
        Self::with(|address, ropeline| {
            let mut changes = vec![
                ("listen 80;".to_owned(), format!("listen {address};")),
                (
                    "server service:80;".to_owned(),
                    format!("server {};", service()),
                ),
            ];
            for node in 1..=3 {
                for role in ["max_fails=2", "max_fails=0"] {
                    let written = format!("server node-{node}:8080 {role}");
                    changes.push((written, format!("server {ropeline} {role}")));
                }
            }
            recipe("nginx-three-nodes.conf", &changes)
        })
    }

    /// With what is made of the addresses of nginx and of Ropeline.
    fn with(recipe: impl FnOnce(SocketAddr, SocketAddr) -> String) -> Self {
        let site = Site::new(SETTINGS);
        let ropeline = site.start();
        let address = free_address();
        let directory = tempfile::tempdir().expect("a temporary directory");
        let recipe = recipe(address, ropeline.address());
        let nginx = start_nginx(directory.path(), &recipe, address);
        Self {
            ropeline,
            address,
            site,
            _nginx: nginx,
            _directory: directory,
        }
    }

    fn client(&self) -> Client {
        Client::connect(self.address).expect("nginx takes connections")
    }
}

/// The first block for nginx in a document, with these addresses.
fn first_block_of(name: &str, ropeline: SocketAddr) -> String {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let text = fs::read_to_string(Path::new(files).join(name)).expect("it is there");
    let (_, block) = text.split_once("```nginx\n").expect("a recipe");
    let (block, _) = block.split_once("```").expect("its end");
    let block = block.replace("127.0.0.1:8080", &ropeline.to_string());
    block.replace("127.0.0.1:3000", &service().to_string())
}

#[test]
fn the_waiting_page_leads_back_to_where_the_visitor_wanted_to_be() {
    let front = Front::start();
    let mut client = front.client();
    let sent = client.send(&Ask::get("/concert?id=3&seat=a+b"));
    let place = sent.header("location").expect("to the waiting page");
    let page = client.send(&Ask::get(place));
    let page = String::from_utf8_lossy(&page.body).replace("&#x2f;", "/");
    let back = "data-return=\"/concert?id=3&amp;seat=a+b\"";
    assert!(page.contains(back), "{page}");
}

#[test]
fn nobody_reaches_the_service_without_a_pass_and_who_has_one_does() {
    let front = Front::start();
    let mut client = front.client();
    sent_to_wait(&client.send(&Ask::get("/concert?id=3")), "/concert?id=3");
    sent_to_wait(&client.send(&Ask::post("/pay")), "/pay");
    let forged = Ask::get("/").token("forged").header("X-Queue-User", "ann");
    sent_to_wait(&client.send(&forged), "/");

    let joined = client.send(&join("ann"));
    assert_eq!(joined.status, 201);
    let cookie = joined
        .header("set-cookie")
        .and_then(|c| c.split(';').next());
    let cookie = cookie.expect("a join sets the cookie");
    let enter = Ask::get("/concert").header("Cookie", cookie);
    entered(&client.send(&enter), "ann");
    let pretender = enter.clone().header("X-Queue-User", "root");
    let pretender = pretender.header("X-Queue-User-Verified", "true");
    entered(&client.send(&pretender), "ann");

    let bob = token_of(&mut client, "bob");
    sent_to_wait(&client.send(&Ask::get("/concert").token(&bob)), "/concert");
    assert_eq!(client.send(&status(&bob)).json()["position"], 1);
}

#[test]
fn each_request_through_the_gate_renews_the_pass() {
    let front = Front::start();
    let mut client = front.client();
    let ann = token_of(&mut client, "ann");
    let mut expires_at = || client.send(&status(&ann)).json()["expiresAt"].to_string();
    let before = expires_at();
    assert_eq!(expires_at(), before, "looking renews nothing");
    until(WAIT_MAX, "the pass lasts longer", || {
        entered(&front.client().send(&Ask::get("/").token(&ann)), "ann");
        (expires_at() > before).then_some(())
    });
}

#[test]
fn a_body_of_any_kind_does_not_disturb_the_gate() {
    let front = Front::start();
    let mut client = front.client();
    let ann = token_of(&mut client, "ann");
    let upload = Ask::post("/upload")
        .token(&ann)
        .raw("text/plain", &vec![0; 100_000]);
    entered(&client.send(&upload), "ann");
    let packed = Ask::post("/upload").token(&ann).raw("text/plain", b"x");
    entered(
        &client.send(&packed.header("Content-Encoding", "gzip")),
        "ann",
    );
    let foreign = Ask::post("/upload").token(&ann);
    entered(
        &client.send(&foreign.header("Sec-Fetch-Site", "cross-site")),
        "ann",
    );
}

#[test]
fn only_what_visitors_need_is_published() {
    let front = Front::start();
    let mut client = front.client();
    for path in ["/api/v1/admin/rooms", "/metrics", "/readyz"] {
        sent_to_wait(&client.send(&Ask::get(path)), path);
    }
    assert_eq!(client.send(&Ask::get("/_gate")).status, 404);
    assert_eq!(client.send(&Ask::get("/problems/not-admitted")).status, 200);
    let own = join("cid").header("Origin", "http://localhost");
    assert_eq!(client.send(&own).status, 201);
    let foreign = join("dan").header("Origin", "http://evil.example");
    assert_eq!(client.send(&foreign).code(), "CROSS_SITE");
}

#[test]
fn a_path_that_nginx_and_ropeline_could_read_differently_reaches_neither() {
    let fronts = [
        Front::start(),
        Front::of_readme("README.md"),
        Front::of_readme("README.ko.md"),
        Front::of_pages(),
        Front::for_three_nodes(),
    ];
    for front in fronts {
        let mut client = front.client();
        let key = format!("Bearer {}", front.site.admin_key());
        for path in [
            "/api/v1/admin/rooms/..%2f..%2f..%2f..%2fwait%2fx/reset",
            "/api/v1/admin/rooms/main/visitors/..%2F..%2F..%2F..%2F..%2F..%2Fwait%2Fx",
            "/api/v1/admin/rooms/%2e%2e/%2e%2e/%2e%2e/%2e%2e/wait/x",
            "/api/v1/admin/rooms/../../../../wait/x",
            "/api/v1/service/rooms/..%2f..%2fqueue%2ftokens",
            "/wait/a%5cb",
        ] {
            for method in ["GET", "POST"] {
                let reply = client.send(&Ask::with(method, path).header("Authorization", &key));
                let body = String::from_utf8_lossy(&reply.body);
                assert_eq!(reply.status, 400, "{method} {path}: {body}");
                assert!(
                    body.contains("nginx"),
                    "{method} {path} went further: {body}"
                );
            }
        }
        let page = client.send(&Ask::get("/wait/main?return=/a%2Fb/../c"));
        assert_eq!(page.status, 200, "a query may have anything");
        let service = client.send(&Ask::get("/a%2Fb"));
        let sent = service.header("location").unwrap_or_default();
        assert!(sent.ends_with("/wait/main?return=/a%2Fb"), "{sent}");
    }
}

#[test]
fn nobody_gets_in_while_ropeline_is_away() {
    let front = Front::start();
    let mut client = front.client();
    let ann = token_of(&mut client, "ann");
    entered(&client.send(&Ask::get("/").token(&ann)), "ann");
    front.ropeline.terminate();
    until(WAIT_MAX, "Ropeline is away", || {
        let reply = client.send(&Ask::get("/").token(&ann));
        (reply.status == 500).then_some(())
    });
}
