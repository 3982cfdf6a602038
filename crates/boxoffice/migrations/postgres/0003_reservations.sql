-- Holds and bookings: both are reservations, and a payment turns the one into the other.

CREATE TABLE reservations (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT reservations_pk PRIMARY KEY,
    seat_id BIGINT NOT NULL CONSTRAINT reservations_seat_fk REFERENCES seats (id),
    user_id BIGINT NOT NULL CONSTRAINT reservations_user_fk REFERENCES users (id),
    state TEXT NOT NULL,
    price BIGINT NOT NULL,
    held_at BIGINT NOT NULL,
    hold_until BIGINT NOT NULL,
    -- The pass that the seat was reserved with, which a payment finishes.
    pass_room TEXT,
    pass_visitor TEXT,
    pass_ordinal BIGINT,
    CONSTRAINT reservations_state_known CHECK (state IN ('HELD', 'PAID', 'EXPIRED', 'CANCELLED')),
    CONSTRAINT reservations_price_positive CHECK (price >= 1),
    CONSTRAINT reservations_hold_has_length CHECK (hold_until > held_at),
    CONSTRAINT reservations_pass_whole CHECK (
        (pass_room IS NULL) = (pass_visitor IS NULL) AND (pass_room IS NULL) = (pass_ordinal IS NULL)
    )
);

-- The judge of every race: a seat is held or paid once, whatever the code does. A hold that has run out
-- still counts here, since an index cannot know the time; whoever takes the seat ends it first.
CREATE UNIQUE INDEX reservations_seat_once ON reservations (seat_id) WHERE state IN ('HELD', 'PAID');

CREATE INDEX reservations_by_user ON reservations (user_id, id);
CREATE INDEX reservations_by_end ON reservations (hold_until) WHERE state = 'HELD';

CREATE TABLE payments (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT payments_pk PRIMARY KEY,
    reservation_id BIGINT NOT NULL CONSTRAINT payments_reservation_fk REFERENCES reservations (id),
    transfer_id BIGINT NOT NULL CONSTRAINT payments_transfer_fk REFERENCES transfers (id),
    amount BIGINT NOT NULL,
    -- The payer's balance at that moment, so that a repeated payment is answered like the first.
    balance_after BIGINT NOT NULL,
    paid_at BIGINT NOT NULL,
    CONSTRAINT payments_reservation_once UNIQUE (reservation_id),
    CONSTRAINT payments_transfer_once UNIQUE (transfer_id),
    CONSTRAINT payments_amount_positive CHECK (amount >= 1),
    CONSTRAINT payments_balance_not_negative CHECK (balance_after >= 0)
);
