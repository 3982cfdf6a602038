use super::*;

const HEARD: Timestamp = Timestamp(1_000_000);
const PASS_TTL: Duration = Duration::from_secs(300);

fn outage(gate: GateRule, lease_max: Option<Duration>) -> Outage {
    Outage::new(OutageSettings { gate, lease_max })
}

fn away() -> StoreError {
    StoreError::Unavailable("it is away".into())
}

#[test]
fn each_rule_has_its_own_answer_to_an_outage() {
    let leased = Some(HEARD);
    let until = Verdict::Leased { until: HEARD };
    for (rule, lease, away_is, rush_is) in [
        (GateRule::Closed, leased, Verdict::Refuse, Verdict::Refuse),
        (GateRule::Open, None, Verdict::LetThrough, Verdict::Refuse),
        (GateRule::Lease, None, Verdict::Refuse, Verdict::Refuse),
        (GateRule::Lease, leased, until, until),
    ] {
        let outage = outage(rule, None);
        assert_eq!(outage.verdict(&away(), lease), away_is, "{rule:?}");
        let rush = StoreError::Overloaded;
        assert_eq!(outage.verdict(&rush, lease), rush_is, "{rule:?}");
        let no_room = StoreError::NoSuchRoom(RoomId::main());
        assert_eq!(outage.verdict(&no_room, lease), Verdict::Refuse);
    }
}

#[test]
fn a_lease_ends_so_long_after_the_last_news() {
    for (lease_max, lasts) in [(None, PASS_TTL), (Some(PASS_TTL / 2), PASS_TTL / 2)] {
        let outage = outage(GateRule::Lease, lease_max);
        let end = HEARD + lasts;
        for (now, lease) in [
            (HEARD, Some(end)),
            (end - Duration::from_millis(1), Some(end)),
            (end, None),
        ] {
            assert_eq!(outage.lease_from(HEARD, PASS_TTL, now), lease);
        }
    }
    let closed = outage(GateRule::Closed, None);
    assert_eq!(closed.lease_from(HEARD, PASS_TTL, HEARD), None);
}

#[test]
fn the_gate_opens_to_everybody_only_by_that_rule_and_while_the_store_is_away() {
    let down = Health::Down("it is away".into());
    for (rule, health, opens) in [
        (GateRule::Open, &down, true),
        (GateRule::Open, &Health::Up, false),
        (GateRule::Lease, &down, false),
        (GateRule::Closed, &down, false),
    ] {
        assert_eq!(outage(rule, None).opens_gate(health), opens, "{rule:?}");
    }
}

#[test]
fn who_was_let_in_unchecked_is_counted_for_each_outage() {
    let outage = outage(GateRule::Open, None);
    let down = Health::Down("it is away".into());
    outage.count(&down);
    outage.count(&down);
    assert_eq!(outage.unchecked.load(Ordering::Relaxed), 2);
    assert!(outage.under_way.load(Ordering::Relaxed));
    outage.observe(&Health::Up);
    assert_eq!(outage.unchecked.load(Ordering::Relaxed), 0);
    assert!(!outage.under_way.load(Ordering::Relaxed));
}
