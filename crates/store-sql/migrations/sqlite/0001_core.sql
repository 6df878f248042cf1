-- Runs: what was asked (to `head`), where it stands (from `cell`). Ids are UUIDv7, so the table is in order of time.
CREATE TABLE IF NOT EXISTS runs (
    id BLOB NOT NULL PRIMARY KEY,
    namespace BLOB NOT NULL,
    job BLOB NOT NULL,
    idempotency_key BLOB,
    params BLOB,
    head BLOB,
    cell INTEGER NOT NULL,
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    state INTEGER NOT NULL,
    shelf INTEGER,
    shelf_rank INTEGER,
    detail BLOB
) STRICT, WITHOUT ROWID;
-- Active work only: a run leaves this index when it ends.
CREATE INDEX IF NOT EXISTS runs_active ON runs (shelf, cell, shelf_rank, id) WHERE shelf IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS runs_key ON runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_job ON runs (job, id);

-- Which jobs have, or once had, runs in which namespace: how the runs of a namespace are found by their jobs.
CREATE TABLE IF NOT EXISTS run_jobs (
    namespace BLOB NOT NULL,
    job BLOB NOT NULL,
    PRIMARY KEY (namespace, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS attempts (
    run BLOB NOT NULL,
    attempt INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    node BLOB NOT NULL,
    placed_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER NOT NULL,
    detail BLOB NOT NULL,
    PRIMARY KEY (run, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS run_events (
    run BLOB NOT NULL,
    version INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    happened_at INTEGER NOT NULL,
    detail BLOB NOT NULL,
    PRIMARY KEY (run, version, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS jobs (
    id BLOB NOT NULL PRIMARY KEY,
    namespace BLOB NOT NULL,
    name BLOB NOT NULL,
    current_version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    pause BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS jobs_name ON jobs (namespace, name);

CREATE TABLE IF NOT EXISTS job_versions (
    job BLOB NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    spec BLOB NOT NULL,
    PRIMARY KEY (job, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS nodes (
    id BLOB NOT NULL PRIMARY KEY,
    cell INTEGER NOT NULL,
    state INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    detail BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS nodes_cell ON nodes (cell, id);

CREATE TABLE IF NOT EXISTS counters (
    hour INTEGER NOT NULL,
    job BLOB NOT NULL,
    namespace BLOB NOT NULL,
    success INTEGER NOT NULL,
    final_failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    queued_us INTEGER NOT NULL,
    running_us INTEGER NOT NULL,
    PRIMARY KEY (hour, job, namespace)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS counters_job ON counters (job, hour);

-- One row for each cell. `seq` counts the owner's commits under `epoch`.
CREATE TABLE IF NOT EXISTS leases (
    cell INTEGER NOT NULL PRIMARY KEY,
    epoch INTEGER NOT NULL,
    holder BLOB,
    expires_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    pause BLOB
) STRICT;

CREATE TABLE IF NOT EXISTS members (
    id BLOB NOT NULL PRIMARY KEY,
    seen_at INTEGER NOT NULL,
    detail BLOB NOT NULL
) STRICT, WITHOUT ROWID;
