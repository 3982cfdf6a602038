//! Views in order, and views with one fault each.

use serde_json::json;

use super::*;

/// A waiting visitor's view, in order.
pub(crate) fn waiting_view(ordinal: u64, ahead: u64) -> Value {
    json!({
        "token": "t", "room": "main", "userId": null, "ordinal": ordinal, "status": "WAITING",
        "position": ahead + 1, "ahead": ahead, "behind": 3, "next": ahead == 0, "beforeLine": false,
        "etaSeconds": 35,
        "etaRange": {"low": 30, "high": 45}, "admitAt": "2026-01-01T00:00:35.000Z",
        "issuedAt": "2026-01-01T00:00:00.000Z", "expiresAt": null, "remainingSeconds": 35,
        "pollAfterMs": 2000, "version": 7, "asOf": "2026-01-01T00:00:00.000Z",
        "roomState": "OPEN", "seatsLeft": null, "message": null,
    })
}

/// The view of somebody inside, in order.
pub(crate) fn inside_view(ordinal: u64) -> Value {
    let mut view = waiting_view(ordinal, 0);
    for (key, value) in [
        ("status", json!("ACTIVE")),
        ("position", json!(0)),
        ("behind", Value::Null),
        ("next", json!(false)),
        ("etaSeconds", json!(0)),
        ("etaRange", Value::Null),
        ("expiresAt", json!("2026-01-01T00:05:00.000Z")),
        ("remainingSeconds", json!(300)),
    ] {
        view[key] = value;
    }
    view
}

#[test]
fn both_kinds_of_view_are_read() {
    let place = Place::read(&waiting_view(12, 7)).unwrap();
    assert_eq!((place.ordinal, place.ahead, place.position), (12, 7, 8));
    assert!(!place.is_inside());
    assert!(Place::read(&inside_view(12)).unwrap().is_inside());
}

#[test]
fn every_key_is_missed() {
    for view in [waiting_view(1, 0), inside_view(1)] {
        for key in KEYS {
            let mut view = view.clone();
            view.as_object_mut().unwrap().remove(key);
            assert_eq!(Place::read(&view), Err(format!("{key} is missing")));
        }
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (base, key, value) in [
        (waiting_view(1, 0), "status", json!("READY")),
        (
            waiting_view(1, 0),
            "expiresAt",
            json!("2026-01-01T00:05:00Z"),
        ),
        (waiting_view(1, 0), "etaSeconds", json!(null)),
        (waiting_view(1, 0), "remainingSeconds", json!(34)),
        (
            waiting_view(1, 0),
            "etaRange",
            json!({"low": 36, "high": 45}),
        ),
        (
            waiting_view(1, 0),
            "etaRange",
            json!({"low": 30, "high": 34}),
        ),
        (waiting_view(1, 0), "etaRange", json!(null)),
        (waiting_view(1, 0), "behind", json!(null)),
        (waiting_view(1, 0), "ahead", json!(-1)),
        (waiting_view(1, 0), "next", json!("soon")),
        (waiting_view(1, 0), "beforeLine", json!(null)),
        (waiting_view(2, 1), "next", json!(true)),
        (inside_view(1), "next", json!(true)),
        (inside_view(1), "beforeLine", json!(true)),
        (waiting_view(1, 0), "admitAt", json!("soon")),
        (inside_view(1), "behind", json!(3)),
        (inside_view(1), "expiresAt", json!(null)),
        (inside_view(1), "etaSeconds", json!(5)),
        (inside_view(1), "remainingSeconds", json!(null)),
    ] {
        let mut view = base;
        view[key] = value.clone();
        assert!(Place::read(&view).is_err(), "{key} = {value}");
    }
}
