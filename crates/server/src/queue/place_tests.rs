use proptest::{option::of, prelude::*};

use super::*;

type Figures = ([u64; 6], [Option<u64>; 7], Option<(u64, u64)>);

proptest! {
    #[test]
    fn a_view_is_written_as_its_shape_is_described(
        (token, user, message) in ("[A-Za-z0-9_.-]{0,600}", of("[!-~]{1,128}"), of(any::<String>())),
        room in "[a-z0-9-]{1,64}",
        (numbers, maybe, range) in any::<Figures>(),
        (next, before_line) in any::<(bool, bool)>(),
        status in prop_oneof![Just("WAITING"), Just("ACTIVE")],
    ) {
        let [ordinal, position, ahead, issued, poll_after_ms, version] = numbers;
        let [behind, eta_seconds, admit, expires, remaining_seconds, as_of, seats_left] = maybe;
        let moment = |ms| Moment(Timestamp(ms));
        let room = RoomId::parse(&room).unwrap();
        let view = PlaceView {
            token: &token,
            room: &room,
            user_id: user.as_deref(),
            ordinal: Ordinal(ordinal),
            status,
            position,
            ahead,
            behind,
            next,
            before_line,
            eta_seconds,
            eta_range: range.map(|(low, high)| EtaRange { low, high }),
            admit_at: admit.map(moment),
            issued_at: moment(issued),
            expires_at: expires.map(moment),
            remaining_seconds,
            poll_after_ms,
            version,
            as_of: moment(as_of.unwrap_or_default()),
            room_state: "SOLD_OUT",
            seats_left,
            message: message.as_deref(),
        };
        let expected = serde_json::to_string(&view).unwrap();
        prop_assert_eq!(String::from_utf8(view.json().0).unwrap(), expected);
    }
}
