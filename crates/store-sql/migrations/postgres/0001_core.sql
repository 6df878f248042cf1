-- Runs: what was asked (to `head`), where it stands (from `cell`). Ids are UUIDv7, so the table is in order of time.
CREATE TABLE IF NOT EXISTS runs (
    id BYTEA NOT NULL PRIMARY KEY,
    namespace BYTEA NOT NULL,
    job BYTEA NOT NULL,
    job_version BIGINT NOT NULL,
    idempotency_key BYTEA,
    priority INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    params BYTEA,
    head BYTEA,
    cell INTEGER NOT NULL,
    version BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    shelf SMALLINT,
    shelf_rank BIGINT,
    attempt BIGINT NOT NULL,
    node BYTEA,
    eligible_at BIGINT,
    placed_at BIGINT,
    started_at BIGINT,
    finished_at BIGINT,
    cause SMALLINT,
    detail BYTEA
);
-- Active work only: a run leaves this index when it ends.
CREATE INDEX IF NOT EXISTS runs_active ON runs (cell, shelf, shelf_rank, id) WHERE shelf IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS runs_key ON runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_job ON runs (job, id);

CREATE TABLE IF NOT EXISTS attempts (
    run BYTEA NOT NULL,
    attempt BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    node BYTEA NOT NULL,
    placed_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT NOT NULL,
    detail BYTEA NOT NULL,
    PRIMARY KEY (run, attempt)
);

CREATE TABLE IF NOT EXISTS run_events (
    run BYTEA NOT NULL,
    version BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    happened_at BIGINT NOT NULL,
    detail BYTEA NOT NULL,
    PRIMARY KEY (run, version, ordinal)
);

CREATE TABLE IF NOT EXISTS jobs (
    id BYTEA NOT NULL PRIMARY KEY,
    namespace BYTEA NOT NULL,
    name BYTEA NOT NULL,
    current_version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    pause BYTEA,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS jobs_name ON jobs (namespace, name);

CREATE TABLE IF NOT EXISTS job_versions (
    job BYTEA NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by BYTEA NOT NULL,
    spec BYTEA NOT NULL,
    PRIMARY KEY (job, version)
);

CREATE TABLE IF NOT EXISTS nodes (
    id BYTEA NOT NULL PRIMARY KEY,
    cell INTEGER NOT NULL,
    state SMALLINT NOT NULL,
    revision BIGINT NOT NULL,
    detail BYTEA NOT NULL
);
CREATE INDEX IF NOT EXISTS nodes_cell ON nodes (cell, id);

CREATE TABLE IF NOT EXISTS counters (
    hour BIGINT NOT NULL,
    job BYTEA NOT NULL,
    namespace BYTEA NOT NULL,
    success BIGINT NOT NULL,
    final_failed BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    queued_us BIGINT NOT NULL,
    running_us BIGINT NOT NULL,
    PRIMARY KEY (hour, job, namespace)
);
CREATE INDEX IF NOT EXISTS counters_job ON counters (job, hour);

-- One row for each cell. `seq` counts the owner's commits under `epoch`.
CREATE TABLE IF NOT EXISTS leases (
    cell INTEGER NOT NULL PRIMARY KEY,
    epoch BIGINT NOT NULL,
    holder BYTEA,
    expires_at BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    pause BYTEA
);

CREATE TABLE IF NOT EXISTS members (
    id BYTEA NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL,
    detail BYTEA NOT NULL
);
