use std::path::Path;

use ropeline_core::{Claims, FORMAT, LANE_MAIN, Ordinal, RoomId, Visitor};
use ropeline_testing::ManualClock;
use tempfile::TempDir;

use super::*;
use crate::{
    shared::{LOOK, memory::Memory},
    token::ISSUER,
};

const START: Timestamp = Timestamp(1_700_000_000_000);
/// After five of these a key that all nodes have found signs.
const TURN: Duration = Duration::from_secs(2);

/// A store, a clock, and directories for nodes.
struct Site {
    texts: Arc<Memory>,
    clock: Arc<ManualClock>,
}

struct Node {
    shared: SharedKeys,
    data: TempDir,
}

impl Site {
    fn new() -> Self {
        Self {
            texts: Arc::default(),
            clock: Arc::new(ManualClock::at(START)),
        }
    }

    async fn node(&self) -> Node {
        self.node_on(tempfile::tempdir().unwrap()).await
    }

    async fn node_on(&self, data: TempDir) -> Node {
        let (texts, clock) = (Arc::clone(&self.texts), Arc::clone(&self.clock));
        let shared = SharedKeys::open(texts, data.path().to_owned(), clock).await;
        Node {
            shared: shared.unwrap(),
            data,
        }
    }

    /// Lets every node look once, and checks that each believes what the others sign, before and after.
    async fn look(&self, nodes: &mut [Node]) {
        for at in 0..nodes.len() {
            check_belief(nodes);
            nodes[at].shared.look().await.unwrap();
        }
        check_belief(nodes);
        self.clock.advance(TURN);
    }
}

impl Node {
    fn sign(&self) -> String {
        self.shared.ring.load().sign(&claims())
    }

    fn believes(&self, token: &str) -> bool {
        self.shared.ring.load().verify(token, START).is_ok()
    }

    fn change(&self, change: impl FnOnce(&mut KeyFile) -> Result<String, KeyError>) -> String {
        KeyFile::change(self.data.path(), change).unwrap()
    }

    fn rotate(&self) -> String {
        let now = self.shared.clock.now();
        self.change(|keys| keys.rotate(now).map(str::to_owned))
    }

    fn kids(&self) -> Vec<String> {
        kids(&self.shared.keys)
    }

    fn signs_with(&self) -> String {
        let token = self.sign();
        let signs = |kid: &String| {
            let alone = |other: &str| other == kid;
            let ring = self.shared.keys.ring_signing(alone).unwrap();
            ring.signing_header() == token.split('.').next().unwrap()
        };
        self.kids().into_iter().find(signs).unwrap()
    }
}

fn kids(keys: &KeyFile) -> Vec<String> {
    keys.kids().map(|(kid, _)| kid.to_owned()).collect()
}

fn on_disk(data: &Path) -> Vec<String> {
    kids(&KeyFile::open(data).unwrap())
}

#[track_caller]
fn check_belief(nodes: &[Node]) {
    for signer in nodes {
        let token = signer.sign();
        assert!(nodes.iter().all(|node| node.believes(&token)));
    }
}

fn claims() -> Claims {
    Claims {
        iss: ISSUER.into(),
        aud: RoomId::main(),
        epoch: Timestamp(1),
        sub: Visitor::anonymous(1),
        ord: Ordinal(1),
        lane: LANE_MAIN.into(),
        vfd: false,
        ver: FORMAT,
        iat: START.0 / 1_000,
        exp: START.0 / 1_000 + 3_600,
    }
}

#[tokio::test(start_paused = true)]
async fn nodes_that_start_at_the_same_instant_have_the_same_keys_before_they_serve() {
    for _ in 0..50 {
        let site = Site::new();
        let nodes = tokio::join!(site.node(), site.node(), site.node());
        let nodes = <[Node; 3]>::from(nodes);
        check_belief(&nodes);
        for node in &nodes {
            assert_eq!(node.shared.keys, nodes[0].shared.keys);
            assert_eq!(on_disk(node.data.path()), nodes[0].kids());
        }
        assert_eq!(nodes[0].kids().len(), 1, "only one node made keys");
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_starts_late_or_again_has_the_keys_of_the_others() {
    let site = Site::new();
    let first = site.node().await;
    let token = first.sign();
    let late = site.node().await;
    assert!(late.believes(&token));
    let again = site.node_on(late.data).await;
    check_belief(&[first, again]);
}

#[tokio::test(start_paused = true)]
async fn a_new_key_signs_only_when_every_node_has_it() {
    let site = Site::new();
    let mut nodes = [site.node().await, site.node().await, site.node().await];
    for _ in 0..6 {
        site.look(&mut nodes).await;
    }
    let old = nodes[0].signs_with();
    let new = nodes[1].rotate();
    let mut looks = 0;
    while nodes.iter().any(|node| node.signs_with() != new) {
        site.look(&mut nodes).await;
        looks += 1;
        assert!(looks < 10, "a rotation takes seconds");
    }
    assert!(looks > 4, "after {looks} looks");
    for node in &nodes {
        assert_eq!(node.kids(), [new.clone(), old.clone()]);
        assert_eq!(on_disk(node.data.path()), node.kids());
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_with_newer_keys_of_its_own_signs_with_them_when_the_others_have_them() {
    let site = Site::new();
    let first = site.node().await;
    site.clock.advance(Duration::from_secs(3_600));
    let own = tempfile::tempdir().unwrap();
    let newer = KeyFile::open_or_create(own.path(), site.clock.now()).unwrap();
    site.clock.advance(Duration::from_secs(3_600));
    let second = site.node_on(own).await;
    assert_eq!(second.signs_with(), first.signs_with());
    let mut nodes = [first, second];
    nodes[0].shared.look().await.unwrap();
    for _ in 0..7 {
        site.look(&mut nodes).await;
    }
    assert_eq!(nodes[0].signs_with(), kids(&newer)[0]);
    let visitors = nodes.each_ref().map(|node| {
        let ring = node.shared.ring.load();
        ring.visitor_of_key("main", "k")
    });
    assert_eq!(visitors[0], visitors[1], "one secret, the older");
}

#[tokio::test(start_paused = true)]
async fn a_retired_key_is_void_on_every_node_and_stays_so() {
    let site = Site::new();
    let mut nodes = [site.node().await, site.node().await];
    let backup = std::fs::read(KeyFile::path(nodes[0].data.path())).unwrap();
    let before = nodes[0].sign();
    let old = nodes[0].signs_with();
    nodes[0].rotate();
    for _ in 0..7 {
        site.look(&mut nodes).await;
    }
    nodes[1].change(|keys| keys.retire(&old).map(|()| String::new()));
    for _ in 0..2 {
        for node in &mut nodes {
            node.shared.look().await.unwrap();
        }
    }
    assert!(nodes.iter().all(|node| !node.believes(&before)));
    std::fs::write(KeyFile::path(nodes[0].data.path()), backup).unwrap();
    site.look(&mut nodes).await;
    assert!(nodes.iter().all(|node| !node.believes(&before)));
    assert!(!on_disk(nodes[0].data.path()).contains(&old));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_flushed_has_the_keys_again() {
    let site = Site::new();
    let mut nodes = [site.node().await, site.node().await];
    let token = nodes[0].sign();
    let text = site.texts.texts()[NAME].clone();
    site.texts.texts().clear();
    site.look(&mut nodes).await;
    assert_eq!(site.texts.texts()[NAME], text);
    assert!(
        site.node().await.believes(&token),
        "also a node that is new"
    );
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_a_new_key_verifies_here_and_does_not_sign() {
    let site = Site::new();
    let mut nodes = [site.node().await, site.node().await];
    let old = nodes[0].signs_with();
    site.texts.set_away(true);
    let new = nodes[0].rotate();
    for _ in 0..10 {
        let away = nodes[0].shared.look().await;
        assert!(matches!(away, Err(SharedKeyError::Store(_))), "{away:?}");
        site.clock.advance(TURN);
    }
    assert_eq!(nodes[0].kids()[0], new);
    assert_eq!(nodes[0].signs_with(), old);
    site.texts.set_away(false);
    for _ in 0..7 {
        site.look(&mut nodes).await;
    }
    assert_eq!(nodes[1].signs_with(), new);
}

#[tokio::test(start_paused = true)]
async fn a_node_without_keys_waits_for_those_of_the_others_when_the_store_has_none() {
    let site = Site::new();
    let mut old = site.node().await;
    site.texts.texts().clear();
    let look = async {
        tokio::time::sleep(LOOK).await;
        old.shared.look().await.unwrap();
    };
    let (new, ()) = tokio::join!(site.node(), look);
    assert_eq!(new.kids(), old.kids());
    check_belief(&[old, new]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_keys_is_neither_taken_nor_overwritten() {
    let site = Site::new();
    let mut node = site.node().await;
    let token = node.sign();
    let junk = "{\"version\": 9}";
    site.texts.texts().insert(NAME.to_owned(), junk.to_owned());
    let looked = node.shared.look().await;
    assert!(
        matches!(looked, Err(SharedKeyError::Malformed(_))),
        "{looked:?}"
    );
    assert!(node.believes(&token));
    assert_eq!(site.texts.texts()[NAME], junk);
    let data = tempfile::tempdir().unwrap();
    let path = data.path().to_owned();
    let (texts, clock) = (Arc::clone(&site.texts), Arc::clone(&site.clock));
    let late = SharedKeys::open(texts, path.clone(), clock).await;
    assert!(
        matches!(late, Err(SharedKeyError::Malformed(_))),
        "{late:?}"
    );
    assert!(!KeyFile::path(&path).exists(), "nothing was begun");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_cannot_be_written_keeps_no_node_from_hearing_of_new_keys() {
    let site = Site::new();
    let (mut node, other) = (site.node().await, site.node().await);
    let data = node.shared.data.clone();
    node.shared.data = data.join("gone");
    other.rotate();
    let mut nodes = [other];
    nodes[0].shared.look().await.unwrap();
    let looked = node.shared.look().await;
    assert!(matches!(looked, Err(SharedKeyError::Own(_))), "{looked:?}");
    assert_eq!(node.kids(), nodes[0].kids());
}
