-- Runs: what was asked and where it stands. Ids are UUIDv7, so the table is in order of time. Columns of fixed
-- width come first, because a server finds those behind them only by reading the row.
CREATE TABLE IF NOT EXISTS runs (
    id UUID NOT NULL PRIMARY KEY,
    job UUID NOT NULL,
    version BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    cell INTEGER NOT NULL,
    state SMALLINT NOT NULL,
    shelf SMALLINT,
    shelf_rank BIGINT,
    namespace BYTEA NOT NULL,
    idempotency_key BYTEA,
    params BYTEA,
    head BYTEA,
    detail BYTEA
);
-- Active work only: a run leaves this index when it ends.
CREATE INDEX IF NOT EXISTS runs_active ON runs (shelf, cell, shelf_rank, id) WHERE shelf IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS runs_key ON runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- History only: an update that ends a run would enter it here a second time.
CREATE INDEX IF NOT EXISTS runs_job ON runs (job, id) WHERE shelf IS NULL;

-- Which jobs have, or once had, runs in which namespace: how the runs of a namespace are found by their jobs.
CREATE TABLE IF NOT EXISTS run_jobs (
    namespace BYTEA NOT NULL,
    job UUID NOT NULL,
    PRIMARY KEY (namespace, job)
);

CREATE TABLE IF NOT EXISTS attempts (
    run UUID NOT NULL,
    attempt BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    node UUID NOT NULL,
    placed_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT NOT NULL,
    detail BYTEA NOT NULL,
    PRIMARY KEY (run, attempt)
);

CREATE TABLE IF NOT EXISTS run_events (
    run UUID NOT NULL,
    version BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    happened_at BIGINT NOT NULL,
    detail BYTEA NOT NULL,
    PRIMARY KEY (run, version, ordinal)
);

CREATE TABLE IF NOT EXISTS jobs (
    id UUID NOT NULL PRIMARY KEY,
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
    job UUID NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by BYTEA NOT NULL,
    spec BYTEA NOT NULL,
    PRIMARY KEY (job, version)
);

CREATE TABLE IF NOT EXISTS nodes (
    id UUID NOT NULL PRIMARY KEY,
    cell INTEGER NOT NULL,
    state SMALLINT NOT NULL,
    revision BIGINT NOT NULL,
    detail BYTEA NOT NULL
);
CREATE INDEX IF NOT EXISTS nodes_cell ON nodes (cell, id);

CREATE TABLE IF NOT EXISTS counters (
    hour BIGINT NOT NULL,
    job UUID NOT NULL,
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
    holder UUID,
    expires_at BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    pause BYTEA
);

CREATE TABLE IF NOT EXISTS members (
    id UUID NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL,
    detail BYTEA NOT NULL
);

-- What a batch of new runs and a batch of new statuses look like on their way in. A migration that changes either
-- makes a type with a new name and leaves the old one to the programs before it.
CREATE TYPE run_insert AS (
    id UUID,
    namespace BYTEA,
    job UUID,
    idempotency_key BYTEA,
    params BYTEA,
    head BYTEA,
    cell INTEGER,
    version BIGINT,
    epoch BIGINT,
    state SMALLINT,
    shelf SMALLINT,
    shelf_rank BIGINT,
    detail BYTEA
);
CREATE TYPE run_update AS (
    id UUID,
    expected BIGINT,
    cell INTEGER,
    version BIGINT,
    epoch BIGINT,
    state SMALLINT,
    shelf SMALLINT,
    shelf_rank BIGINT,
    detail BYTEA
);
