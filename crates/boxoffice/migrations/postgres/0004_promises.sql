-- What is owed to callers: the same answer to a repeated request, and word to the waiting room.

-- A key belongs to its caller, so that the keys of others tell nothing.
CREATE TABLE idempotency_keys (
    user_id BIGINT NOT NULL CONSTRAINT idempotency_keys_user_fk REFERENCES users (id),
    idempotency_key TEXT NOT NULL,
    -- SHA-256 of what was asked for: the same key with another request is refused.
    digest BYTEA NOT NULL,
    answer TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT idempotency_keys_pk PRIMARY KEY (user_id, idempotency_key),
    CONSTRAINT idempotency_keys_key_length CHECK (length(idempotency_key) BETWEEN 1 AND 255),
    CONSTRAINT idempotency_keys_digest_length CHECK (octet_length(digest) = 32)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Passes to finish. A row is written in the transaction of the payment and tried until acknowledged.
CREATE TABLE outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pk PRIMARY KEY,
    room TEXT NOT NULL,
    visitor TEXT NOT NULL,
    ordinal BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    done_at BIGINT,
    CONSTRAINT outbox_attempts_not_negative CHECK (attempts >= 0)
);

CREATE INDEX outbox_due ON outbox (due_at) WHERE done_at IS NULL;

-- What happens once in the life of a database, such as the making of the demo concert.
CREATE TABLE milestones (
    name TEXT NOT NULL CONSTRAINT milestones_pk PRIMARY KEY,
    reached_at BIGINT NOT NULL
);
