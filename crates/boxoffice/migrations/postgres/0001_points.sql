-- Users and their points: an append-only ledger, and the balance that it adds up to.
-- Times are milliseconds since the Unix epoch; amounts are whole points.

CREATE TABLE users (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT users_pk PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT users_name_length CHECK (length(name) BETWEEN 1 AND 100)
);

-- The two accounts of the house have no balance here: it would be one row that every payment waits for.
-- It is the sum of their transfers.
CREATE TABLE accounts (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT accounts_pk PRIMARY KEY,
    kind TEXT NOT NULL,
    user_id BIGINT CONSTRAINT accounts_user_fk REFERENCES users (id),
    balance BIGINT,
    CONSTRAINT accounts_kind_known CHECK (kind IN ('USER', 'CHARGES', 'SALES')),
    CONSTRAINT accounts_user_named CHECK ((kind = 'USER') = (user_id IS NOT NULL)),
    CONSTRAINT accounts_user_balance CHECK ((kind = 'USER') = (balance IS NOT NULL)),
    -- The database judges: no order of statements can spend points that are not there.
    CONSTRAINT accounts_balance_in_range CHECK (balance BETWEEN 0 AND 1000000000000),
    CONSTRAINT accounts_user_once UNIQUE (user_id)
);

-- The house has one account of each kind.
CREATE UNIQUE INDEX accounts_house_once ON accounts (kind) WHERE kind <> 'USER';

-- CHARGES is where charged points come from, SALES is where paid points go.
INSERT INTO accounts (kind) VALUES ('CHARGES'), ('SALES');

-- One row moves points from one account to another, so that the sum over all accounts is always zero.
CREATE TABLE transfers (
    id BIGINT GENERATED ALWAYS AS IDENTITY CONSTRAINT transfers_pk PRIMARY KEY,
    debit_account BIGINT NOT NULL CONSTRAINT transfers_debit_fk REFERENCES accounts (id),
    credit_account BIGINT NOT NULL CONSTRAINT transfers_credit_fk REFERENCES accounts (id),
    amount BIGINT NOT NULL,
    reason TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    CONSTRAINT transfers_two_accounts CHECK (debit_account <> credit_account),
    CONSTRAINT transfers_amount_in_range CHECK (amount BETWEEN 1 AND 1000000000000),
    CONSTRAINT transfers_reason_known CHECK (reason IN ('CHARGE', 'PAYMENT'))
);

CREATE INDEX transfers_by_debit ON transfers (debit_account);
CREATE INDEX transfers_by_credit ON transfers (credit_account);

-- What was booked is never changed; a mistake is corrected by another transfer.
CREATE FUNCTION refuse_to_change_transfers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'transfers are append-only'; END
$$;
CREATE TRIGGER transfers_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_transfers();
