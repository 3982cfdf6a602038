-- Holds and bookings: both are reservations, and a payment turns the one into the other.

CREATE TABLE reservations (
    id INTEGER NOT NULL CONSTRAINT reservations_pk PRIMARY KEY AUTOINCREMENT,
    seat_id INTEGER NOT NULL CONSTRAINT reservations_seat_fk REFERENCES seats (id),
    user_id INTEGER NOT NULL CONSTRAINT reservations_user_fk REFERENCES users (id),
    state TEXT NOT NULL,
    price INTEGER NOT NULL,
    held_at INTEGER NOT NULL,
    hold_until INTEGER NOT NULL,
    -- The pass that the seat was reserved with, which a payment finishes.
    pass_room TEXT,
    pass_visitor TEXT,
    pass_ordinal INTEGER,
    CONSTRAINT reservations_state_known CHECK (state IN ('HELD', 'PAID', 'EXPIRED', 'CANCELLED')),
    CONSTRAINT reservations_price_positive CHECK (price >= 1),
    CONSTRAINT reservations_hold_has_length CHECK (hold_until > held_at),
    CONSTRAINT reservations_pass_whole CHECK (
        (pass_room IS NULL) = (pass_visitor IS NULL) AND (pass_room IS NULL) = (pass_ordinal IS NULL)
    )
) STRICT;

-- The judge of every race: a seat is held or paid once, whatever the code does. A hold that has run out
-- still counts here, since an index cannot know the time; whoever takes the seat ends it first.
CREATE UNIQUE INDEX reservations_seat_once ON reservations (seat_id) WHERE state IN ('HELD', 'PAID');

CREATE INDEX reservations_by_user ON reservations (user_id, id);
CREATE INDEX reservations_by_end ON reservations (hold_until) WHERE state = 'HELD';

CREATE TABLE payments (
    id INTEGER NOT NULL CONSTRAINT payments_pk PRIMARY KEY AUTOINCREMENT,
    reservation_id INTEGER NOT NULL CONSTRAINT payments_reservation_fk REFERENCES reservations (id),
    transfer_id INTEGER NOT NULL CONSTRAINT payments_transfer_fk REFERENCES transfers (id),
    amount INTEGER NOT NULL,
    -- The payer's balance at that moment, so that a repeated payment is answered like the first.
    balance_after INTEGER NOT NULL,
    paid_at INTEGER NOT NULL,
    CONSTRAINT payments_reservation_once UNIQUE (reservation_id),
    CONSTRAINT payments_transfer_once UNIQUE (transfer_id),
    CONSTRAINT payments_amount_positive CHECK (amount >= 1),
    CONSTRAINT payments_balance_not_negative CHECK (balance_after >= 0)
) STRICT;
