-- The management side's small documents: a kind, a key, opaque bytes.
CREATE TABLE IF NOT EXISTS records (
    kind INT NOT NULL,
    record_key VARBINARY(512) NOT NULL,
    revision BIGINT NOT NULL,
    expires_at BIGINT,
    value LONGBLOB NOT NULL,
    PRIMARY KEY (kind, record_key),
    KEY records_expiry (expires_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;
