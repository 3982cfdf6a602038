//! The reader of our own text and `serde_json` never disagree.

use proptest::{collection::vec, prelude::*, sample::Index};
use ropeline_core::UserId;

use super::*;

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0_u64..100, 1_600_000_000_u64..1_900_000_000]
}

fn visitors() -> impl Strategy<Value = Visitor> {
    let ids = || "[!-~]{1,128}".prop_map(|id| UserId::parse(&id).unwrap());
    prop_oneof![
        ids().prop_map(|id| Visitor::stated(&id)),
        ids().prop_map(|id| Visitor::verified(&id)),
        any::<u128>().prop_map(Visitor::anonymous),
    ]
}

/// Any that can be signed; most are as we sign them now.
fn all_claims() -> impl Strategy<Value = Claims> {
    let iss = prop_oneof![4 => Just(ISSUER.to_owned()), 1 => any::<String>()];
    let lane = prop_oneof![4 => Just(LANE_MAIN.to_owned()), 1 => any::<String>()];
    let ver = prop_oneof![4 => Just(FORMAT), 1 => any::<u8>()];
    let aud = "[a-z0-9-]{1,64}".prop_map(|room| RoomId::parse(&room).unwrap());
    let figures = [numbers(), numbers(), numbers(), numbers()];
    (iss, lane, ver, aud, visitors(), any::<bool>(), figures).prop_map(
        |(iss, lane, ver, aud, sub, vfd, [epoch, ord, iat, exp])| Claims {
            iss: iss.into(),
            aud,
            epoch: Timestamp(epoch),
            sub,
            ord: Ordinal(ord),
            lane: lane.into(),
            vfd,
            ver,
            iat,
            exp,
        },
    )
}

/// A change to a text: bytes put in the place of others, of which the odd ones of JSON are the likeliest.
fn edits() -> impl Strategy<Value = (Index, usize, Vec<u8>)> {
    let byte = prop_oneof![
        prop::sample::select(br#" "\{}[],:.-+0129eEtfn"#.to_vec()),
        any::<u8>()
    ];
    (any::<Index>(), 0_usize..4, vec(byte, 0..4))
}

fn by_serde(text: &[u8]) -> Option<Claims> {
    serde_json::from_slice(text).ok()
}

proptest! {
    #[test]
    fn all_claims_are_written_as_serde_json_writes_them(claims in all_claims()) {
        let text = String::from_utf8(write(&claims)).unwrap();
        prop_assert_eq!(text, serde_json::to_string(&claims).unwrap());
    }

    #[test]
    fn all_claims_are_read_as_they_were_written(claims in all_claims()) {
        prop_assert_eq!(read(&write(&claims)), Ok(claims));
    }

    #[test]
    fn changed_texts_mean_what_they_mean_to_serde_json(
        claims in all_claims(),
        edits in vec(edits(), 1..3),
    ) {
        let mut text = write(&claims);
        for (at, remove, put) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + remove).min(text.len());
            text.splice(at..end, put);
        }
        let shown = String::from_utf8_lossy(&text).into_owned();
        prop_assert_eq!(read(&text).ok(), by_serde(&text), "{}", shown);
    }

    #[test]
    fn any_text_means_what_it_means_to_serde_json(text in vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(read(&text).ok(), by_serde(&text));
    }
}

fn usual() -> String {
    r#"{"iss":"ropeline","aud":"main","epoch":5,"sub":"u:42","ord":7,"lane":"main","vfd":false,"ver":1,"iat":8,"exp":9}"#
        .to_owned()
}

#[test]
fn a_usual_text_needs_no_general_parser() {
    let claims = read_own(usual().as_bytes()).unwrap();
    assert_eq!(Some(claims), by_serde(usual().as_bytes()));
}

#[test]
fn numbers_that_are_none_in_json_or_do_not_fit_are_refused() {
    let largest = u64::MAX.to_string();
    for (number, fine) in [
        ("0", true),
        ("9999999999999999999", true),
        (largest.as_str(), true),
        ("18446744073709551616", false),
        ("00", false),
        ("07", false),
        ("-7", false),
        ("+7", false),
        ("7.0", false),
        ("7e0", false),
        ("", false),
        ("null", false),
    ] {
        let text = usual().replace(r#""ord":7"#, &format!(r#""ord":{number}"#));
        assert_eq!(read(text.as_bytes()).is_ok(), fine, "{number}");
        assert_eq!(
            read(text.as_bytes()).ok(),
            by_serde(text.as_bytes()),
            "{number}"
        );
    }
}

#[test]
fn the_same_claims_in_another_order_or_with_spaces_are_read_too() {
    let spaced = usual()
        .replace(':', " : ")
        .replace(r#""u : 42""#, r#""u:42""#);
    assert_eq!(read_own(spaced.as_bytes()), None);
    assert_eq!(read(spaced.as_bytes()), read(usual().as_bytes()));
    for ending in ["", "} ", "}}", "}x"] {
        let text = usual().replace('}', ending);
        assert_eq!(
            read(text.as_bytes()).ok(),
            by_serde(text.as_bytes()),
            "{ending:?}"
        );
    }
}
