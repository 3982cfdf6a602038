-- What is sold: concerts, the dates they are given on, and the numbered seats of a date.

CREATE TABLE concerts (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT concerts_pk PRIMARY KEY,
    title TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT concerts_title_length CHECK (length(title) BETWEEN 1 AND 200)
);

CREATE TABLE concert_dates (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT concert_dates_pk PRIMARY KEY,
    concert_id BIGINT NOT NULL CONSTRAINT concert_dates_concert_fk REFERENCES concerts (id),
    starts_at BIGINT NOT NULL,
    -- A date that an operator sends twice is one date.
    CONSTRAINT concert_dates_once UNIQUE (concert_id, starts_at)
);

CREATE TABLE seats (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT seats_pk PRIMARY KEY,
    date_id BIGINT NOT NULL CONSTRAINT seats_date_fk REFERENCES concert_dates (id),
    number BIGINT NOT NULL,
    price BIGINT NOT NULL,
    CONSTRAINT seats_number_once UNIQUE (date_id, number),
    CONSTRAINT seats_number_positive CHECK (number >= 1),
    CONSTRAINT seats_price_in_range CHECK (price BETWEEN 1 AND 100000000)
);
