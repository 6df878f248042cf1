-- The management side's small documents: a kind, a key, opaque bytes.
CREATE TABLE IF NOT EXISTS records (
    kind INTEGER NOT NULL,
    record_key BLOB NOT NULL,
    revision INTEGER NOT NULL,
    expires_at INTEGER,
    value BLOB NOT NULL,
    PRIMARY KEY (kind, record_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
