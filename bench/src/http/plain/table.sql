-- The tokens of seeds 003 and 004. The seeds name no index; these are those that their questions need.
CREATE TABLE token (
    token_id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id         TEXT NOT NULL UNIQUE,
    status          TEXT NOT NULL,
    token_issued_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    expires_at      TIMESTAMPTZ
);
CREATE INDEX token_in_line ON token (status, token_issued_at);
