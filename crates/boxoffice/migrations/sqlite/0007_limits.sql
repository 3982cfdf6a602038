-- What the limits of a user's holds look at, so that a long history costs nothing in the statement that takes a seat.

-- When the user last had this very seat.
CREATE INDEX reservations_by_user_and_seat ON reservations (user_id, seat_id);

-- What the user has now: a handful, however much was let go before.
CREATE INDEX reservations_had_by_user ON reservations (user_id) WHERE state IN ('HELD', 'PAID');
