//! Every limit of the core, in one place. A limit is part of the contract: what exceeds it is refused
//! with the field's name and the number, never cut silently.

use std::time::Duration;

// --- runs and stores ---

/// Writes in one transaction.
pub const TRANSACTION_WRITES_MAX: usize = 10_000;
/// Rows in one page of any read.
pub const PAGE_ROWS_MAX: usize = 10_000;
/// Bytes of a run's parameters.
pub const PARAMS_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a run's result.
pub const RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a checkpoint.
pub const CHECKPOINT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// Bytes of a rendered concurrency, rate or hash key.
pub const RENDERED_KEY_BYTES_MAX: usize = 255;
/// Bytes of a message that a node, a task or a person attaches to a cause, an event or a pause.
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a record's key.
pub const RECORD_KEY_BYTES_MAX: usize = 512;
/// Bytes of a record's value.
pub const RECORD_VALUE_BYTES_MAX: usize = 256 * 1024;
/// Cells of one cluster.
pub const CELLS_MAX: u16 = 1024;

// --- attempts and nodes ---

/// Runs in a row of which each follows the end of the one before: jobs that follow each other in a ring come to an end.
pub const CHAIN_DEPTH_MAX: u16 = 100;

/// Attempts of one run that infrastructure may end before the run is given up (I10).
pub const LOSSES_PER_RUN_MAX: u32 = 10;
/// Attempts of one job in a row that end with the loss of their node before the job is quarantined.
pub const LOSSES_PER_JOB_MAX: u32 = 3;
/// Places in a queue that are told apart when somebody asks why a run waits.
pub const QUEUE_PLACES_TOLD: u32 = 1_000;
/// Pools that are named when the one that a run wants has no node.
pub const POOLS_TOLD: usize = 8;
/// Nodes that an earlier attempt failed on and a retry remembers.
pub const FAILED_NODES_REMEMBERED: usize = 4;
/// Labels of one node or job.
pub const LABELS_MAX: usize = 64;
/// Handlers that one node may offer.
pub const HANDLERS_MAX: usize = 1024;

// --- clocks and leases ---

/// How long a cell lease lasts without renewal. With the next one, and with how nodes dial, a takeover is over before nodes
/// that beat as by default stop their tasks: `LOST_AFTER` less a beat and the margin after the owner's death.
pub const LEASE_TTL: Duration = Duration::from_secs(5);
/// How often an owner renews; a takeover waits for the end of the lease plus this.
pub const LEASE_RENEW_EVERY: Duration = Duration::from_secs(1);
/// How often a node says that it lives.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(5);
/// How long a node may be silent before its attempts are lost.
pub const LOST_AFTER: Duration = Duration::from_secs(15);
/// The same for a node in the process of its only server: its silence says that both were away.
pub const RESIDENT_LOST_AFTER: Duration = Duration::from_secs(86_400);
/// How long an owner that cannot reach its store extends the leases of the nodes connected to it, from its last renewal on.
/// A new owner waits as much longer for nodes that have not said hello to it.
pub const STORE_OUTAGE_MAX: Duration = Duration::from_secs(60);
/// The part of `lost_after` that an agent gives up early, for clocks that differ and for the kill itself.
pub const NODE_LEASE_MARGIN: Duration = Duration::from_secs(2);

// --- job specifications ---

/// Bytes of a job file.
pub const SPEC_BYTES_MAX: usize = 1024 * 1024;
/// How many of the largest jobs fit into one file that holds several.
pub const SPEC_FILE_JOBS_MAX: usize = 64;
/// Levels of nesting in a job file.
pub const SPEC_DEPTH_MAX: usize = 32;
/// Values, keys included, in a job file after aliases are expanded.
pub const SPEC_NODES_MAX: usize = 100_000;
/// Problems reported about one job file.
pub const SPEC_PROBLEMS_MAX: usize = 100;
/// Bytes of a name of a job, a pool, a node, or a part of a namespace.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of a namespace.
pub const NAMESPACE_BYTES_MAX: usize = 255;
/// Parts of a namespace.
pub const NAMESPACE_DEPTH_MAX: usize = 16;
/// Bytes of a label's key.
pub const LABEL_KEY_BYTES_MAX: usize = 63;
/// Bytes of a label's value.
pub const LABEL_VALUE_BYTES_MAX: usize = 128;
/// Requirements in one selector, and values in one requirement.
pub const SELECTOR_TERMS_MAX: usize = 64;
/// Bytes of an owner, a user, a handler's name or an error class.
pub const WORD_BYTES_MAX: usize = 255;
/// The fewest open files that a task may be limited to: a program needs some to begin.
pub const OPEN_FILES_MIN: u32 = 16;
/// The most open files that a task may be limited to; no system has more.
pub const OPEN_FILES_MAX: u32 = 1 << 30;
/// The most processes that a task may be limited to; no system has more.
pub const PROCESSES_MAX: u32 = 1 << 22;
/// Bytes of a description.
pub const DESCRIPTION_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a script, a command's standard input, or any other long text.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a path, a URL, a key template, an argument or the value of a variable.
pub const LINE_BYTES_MAX: usize = 32 * 1024;
/// Entries of any list or map in a job file: arguments, variables, parameters, rules…
pub const SPEC_ENTRIES_MAX: usize = 1024;
/// Bytes that all templates of one moment, submission, call or order may produce: results, and every value on the way to
/// them. Largest parameters fit in as a value. Memory in use is at most three times as much, because text that grows is moved;
/// beside it there are the parameters themselves and a syntax tree in proportion to the text of one template.
pub const TEMPLATE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Names, values, operators and brackets in one expression of a template. No part is evaluated twice, so it bounds steps and depth.
pub const TEMPLATE_TOKENS_MAX: usize = 128;
/// Levels of brackets in one expression of a template.
pub const TEMPLATE_DEPTH_MAX: usize = 32;
/// Bytes of a message about a template, which may quote it.
pub const TEMPLATE_PROBLEM_BYTES_MAX: usize = 512;
/// Triggers of one job.
pub const TRIGGERS_MAX: usize = 100;
/// Jobs that a trigger may need.
pub const TRIGGER_NEEDS_MAX: usize = 10;
/// Calendars that a trigger may name.
pub const TRIGGER_CALENDARS_MAX: usize = 10;
/// The longest duration.
pub const DURATION_MAX: Duration = Duration::from_secs(3650 * 24 * 3600);
/// Retries of one run.
pub const RETRIES_MAX: u32 = 1000;
/// Runs that a concurrency or rate limit may allow, and runs that retention may count.
pub const COUNT_MAX: u32 = 1_000_000_000;
