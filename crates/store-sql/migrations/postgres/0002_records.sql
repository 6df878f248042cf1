-- The management side's small documents: a kind, a key, opaque bytes.
CREATE TABLE IF NOT EXISTS records (
    kind INTEGER NOT NULL,
    record_key BYTEA NOT NULL,
    revision BIGINT NOT NULL,
    expires_at BIGINT,
    value BYTEA NOT NULL,
    PRIMARY KEY (kind, record_key)
);
CREATE INDEX IF NOT EXISTS records_expiry ON records (expires_at, kind, record_key) WHERE expires_at IS NOT NULL;
