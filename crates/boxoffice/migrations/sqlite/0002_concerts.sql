-- What is sold: concerts, the dates they are given on, and the numbered seats of a date.

CREATE TABLE concerts (
    id INTEGER NOT NULL CONSTRAINT concerts_pk PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT concerts_title_length CHECK (length(title) BETWEEN 1 AND 200)
) STRICT;

CREATE TABLE concert_dates (
    id INTEGER NOT NULL CONSTRAINT concert_dates_pk PRIMARY KEY AUTOINCREMENT,
    concert_id INTEGER NOT NULL CONSTRAINT concert_dates_concert_fk REFERENCES concerts (id),
    starts_at INTEGER NOT NULL,
    -- A date that an operator sends twice is one date.
    CONSTRAINT concert_dates_once UNIQUE (concert_id, starts_at)
) STRICT;

CREATE TABLE seats (
    id INTEGER NOT NULL CONSTRAINT seats_pk PRIMARY KEY AUTOINCREMENT,
    date_id INTEGER NOT NULL CONSTRAINT seats_date_fk REFERENCES concert_dates (id),
    number INTEGER NOT NULL,
    price INTEGER NOT NULL,
    CONSTRAINT seats_number_once UNIQUE (date_id, number),
    CONSTRAINT seats_number_positive CHECK (number >= 1),
    CONSTRAINT seats_price_in_range CHECK (price BETWEEN 1 AND 100000000)
) STRICT;
