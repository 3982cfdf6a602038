-- What all who sell from this database must know alike: a login that one has given out is good at each.
CREATE TABLE secrets (
    name TEXT NOT NULL CONSTRAINT secrets_pk PRIMARY KEY,
    value BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT secrets_value_length CHECK (length(value) = 32)
) STRICT;
