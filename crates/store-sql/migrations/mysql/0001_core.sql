-- Runs: what was asked (to `head`), where it stands (from `cell`). Ids are UUIDv7, so the table is in order of time.
CREATE TABLE IF NOT EXISTS runs (
    id BINARY(16) NOT NULL PRIMARY KEY,
    namespace VARBINARY(255) NOT NULL,
    job BINARY(16) NOT NULL,
    idempotency_key VARBINARY(255),
    params LONGBLOB,
    head LONGBLOB,
    cell INT NOT NULL,
    version BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    shelf SMALLINT,
    shelf_rank BIGINT,
    detail LONGBLOB,
    KEY runs_active (shelf, cell, shelf_rank, id),
    UNIQUE KEY runs_key (namespace, idempotency_key),
    KEY runs_job (job, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

-- Which jobs have, or once had, runs in which namespace: how the runs of a namespace are found by their jobs.
CREATE TABLE IF NOT EXISTS run_jobs (
    namespace VARBINARY(255) NOT NULL,
    job BINARY(16) NOT NULL,
    PRIMARY KEY (namespace, job)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS attempts (
    run BINARY(16) NOT NULL,
    attempt BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    node BINARY(16) NOT NULL,
    placed_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT NOT NULL,
    detail LONGBLOB NOT NULL,
    PRIMARY KEY (run, attempt)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS run_events (
    run BINARY(16) NOT NULL,
    version BIGINT NOT NULL,
    ordinal INT NOT NULL,
    happened_at BIGINT NOT NULL,
    detail LONGBLOB NOT NULL,
    PRIMARY KEY (run, version, ordinal)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS jobs (
    id BINARY(16) NOT NULL PRIMARY KEY,
    namespace VARBINARY(255) NOT NULL,
    name VARBINARY(128) NOT NULL,
    current_version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    pause LONGBLOB,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE KEY jobs_name (namespace, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS job_versions (
    job BINARY(16) NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by LONGBLOB NOT NULL,
    spec LONGBLOB NOT NULL,
    PRIMARY KEY (job, version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS nodes (
    id BINARY(16) NOT NULL PRIMARY KEY,
    cell INT NOT NULL,
    state SMALLINT NOT NULL,
    revision BIGINT NOT NULL,
    detail LONGBLOB NOT NULL,
    KEY nodes_cell (cell, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS counters (
    hour BIGINT NOT NULL,
    job BINARY(16) NOT NULL,
    namespace VARBINARY(255) NOT NULL,
    success BIGINT NOT NULL,
    final_failed BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    queued_us BIGINT NOT NULL,
    running_us BIGINT NOT NULL,
    PRIMARY KEY (hour, job, namespace),
    KEY counters_job (job, hour)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

-- One row for each cell. `seq` counts the owner's commits under `epoch`.
CREATE TABLE IF NOT EXISTS leases (
    cell INT NOT NULL PRIMARY KEY,
    epoch BIGINT NOT NULL,
    holder BINARY(16),
    expires_at BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    pause LONGBLOB
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;

CREATE TABLE IF NOT EXISTS members (
    id BINARY(16) NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL,
    detail LONGBLOB NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary;
