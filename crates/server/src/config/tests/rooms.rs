use ropeline_core::Identity;

use super::*;

#[test]
fn the_room_main_is_there_without_a_section() {
    let settings = settings("[rooms.vip]\nactive_max = 1");
    assert_eq!(settings.rooms.len(), 2);
    assert_eq!(policy(&settings, "main").batch, Some(50));
}

#[test]
fn a_section_replaces_the_shipped_one_as_a_whole() {
    let settings = settings("[rooms.main]\nactive_max = 10");
    let main = policy(&settings, "main");
    assert_eq!((main.batch, main.active_max), (None, Some(10)));
    assert_eq!(main.pass_max, Duration::from_secs(1800));
    assert_eq!(main.every, Duration::from_secs(5));
}

#[test]
fn what_another_room_leaves_out_comes_from_the_shipped_main() {
    let settings = settings(
        "[rooms.main]\nbatch = 1\npass_ttl = \"7m\"\n[rooms.a]\nbatch = 2\n[rooms.z]\nbatch = 3",
    );
    assert_eq!(policy(&settings, "a").pass_ttl, Duration::from_secs(300));
    assert_eq!(policy(&settings, "z").pass_ttl, Duration::from_secs(300));
}

#[test]
fn a_preset_is_the_base_and_keys_beside_it_win() {
    let settings = settings("[rooms.x]\npreset = \"seed-004\"\nevery = \"3s\"\nbatch = 9");
    let x = policy(&settings, "x");
    assert_eq!((x.batch, x.active_max), (Some(9), Some(200)));
    assert_eq!(x.every, Duration::from_secs(3));
    assert_eq!(x.pass_ttl, Duration::from_secs(600));
}

#[test]
fn a_room_may_be_anonymous() {
    let settings = settings("[rooms.main]\nbatch = 1\nidentity = \"anonymous\"");
    assert_eq!(policy(&settings, "main").identity, Identity::Anonymous);
}

#[test]
fn a_digest_changes_with_the_meaning_and_not_with_the_looks() {
    let digest = |section: &str| {
        let settings = settings(&format!("[rooms.main]\n{section}"));
        settings.rooms[&RoomId::main()].digest.clone()
    };
    let plain = digest("batch = 5000\nevery = \"10s\"");
    assert_eq!(plain.len(), 64);
    for same in [
        "every = '10s' # in a rush\n\n   batch=5_000",
        "batch = 0x1388\nevery = \"\\u00310s\"",
    ] {
        assert_eq!(digest(same), plain, "{same}");
    }
    for other in [
        "batch = 5001\nevery = \"10s\"",
        "batch = 5000",
        "batch = 5000\nevery = \"10s\"\nidentity = \"open\"",
    ] {
        assert_ne!(digest(other), plain, "{other}");
    }
}

#[test]
fn the_shipped_section_copied_out_has_the_digest_of_the_shipped_one() {
    assert_eq!(settings(SHIPPED), Settings::shipped());
    let digest = |text| settings(text).rooms[&RoomId::main()].digest.clone();
    assert_eq!(digest(SHIPPED), digest(""));
}

#[test]
fn a_difference_names_each_setting_that_changed() {
    let settings = settings(
        "[rooms.a]\nbatch = 50\n[rooms.b]\nactive_max = 9\nevery = \"1m\"\npresence_ttl = \"0s\"",
    );
    let (a, b) = (policy(&settings, "a"), policy(&settings, "b"));
    assert_eq!(
        difference(a, b),
        [
            "every: 5s -> 1m",
            "batch: 50 -> no limit",
            "active_max: no limit -> 9",
            "presence_ttl: 90s -> 0s",
        ]
    );
    assert!(difference(a, a).is_empty());
}

#[test]
fn a_summary_tells_the_way_of_letting_in() {
    for (section, words) in [
        ("batch = 5", "5 every 5s, no cap inside, passes of 5m"),
        (
            "active_max = 5",
            "5 inside, refilled as they leave, passes of 5m",
        ),
        (
            "active_max = 5\nbatch = 2",
            "2 every 5s, at most 5 inside, passes of 5m",
        ),
    ] {
        let settings = settings(&format!("[rooms.main]\n{section}"));
        assert_eq!(summary(policy(&settings, "main")), words);
    }
}
