//! The limits of the management side that callers meet. Those of runs and specifications are in `model::limits`.

use std::time::Duration;

/// Runs in one batch submission.
pub(crate) const BATCH_RUNS_MAX: usize = 10_000;
/// Rows of a page that asks for none.
pub(crate) const PAGE_DEFAULT: usize = 100;
/// Rows of a page.
pub(crate) const PAGE_MAX: usize = 1_000;
/// Runs that one request with a filter looks at.
pub(crate) const SCAN_BUDGET: usize = 20_000;
/// Runs that one answer about how many a query finds looks at.
pub(crate) const COUNT_BUDGET: usize = 20_000;
/// Namespaces that such an answer names.
pub(crate) const COUNT_NAMESPACES_MAX: usize = 100;
/// Groups of waiting runs that are looked at in one cell for one answer about the queue.
pub(crate) const QUEUE_GROUPS_MAX: usize = 2_000;
/// Jobs of a page that tells how each fares.
pub(crate) const HEALTH_JOBS_MAX: usize = 100;
/// Ends of each of those jobs.
pub(crate) const HEALTH_ENDS: usize = 30;
/// Characters of the words that jobs are found by.
pub(crate) const JOBS_TEXT_CHARS_MAX: usize = 1024;
/// Jobs that one request with words looks at.
pub(crate) const JOBS_LOOKED_AT_MAX: usize = 10_000;
/// Jobs whose specifications one request looks into.
pub(crate) const SPECS_LOOKED_INTO_MAX: usize = 2_000;
/// Specifications that are read at once.
pub(crate) const SPECS_AT_ONCE: usize = 100;
/// Runs that one bulk operation may name.
pub(crate) const BULK_RUNS_MAX: usize = 10_000;
/// Runs that a bulk operation looks at before it writes down how far it is.
pub(crate) const BULK_PAGE: usize = 500;
/// How long a bulk operation is told about.
pub(crate) const BULK_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// Failures that a bulk action tells about, and runs that a preview names.
pub(crate) const BULK_SAMPLE_MAX: usize = 20;
/// Bytes of a subject's name.
pub(crate) const SUBJECT_BYTES_MAX: usize = 128;
/// Roles that are read to tell somebody which admins there are.
pub(crate) const ADMIN_ROLES_READ_MAX: usize = 1_000;
/// Admins that are named.
pub(crate) const ADMINS_NAMED_MAX: usize = 20;
/// Nodes of which the Why of a run tells what they lack.
pub(crate) const WHY_NODES_MAX: usize = 20;
/// Nodes of one answer with what they used in the last hour.
pub(crate) const LOAD_NODES_MAX: usize = 200;
/// Scopes of a token.
pub(crate) const SCOPES_MAX: usize = 64;
/// Bytes of an artifact.
pub(crate) const ARTIFACT_BYTES_MAX: u64 = 4 << 30;
/// How long the content of a file is kept that no namespace has any more.
pub(crate) const FILE_GRACE: Duration = Duration::from_secs(3600);
/// Stored bytes of a log in one answer.
pub(crate) const LOG_PART_BYTES_MAX: usize = 1 << 20;
/// Stored bytes of a log in one answer that asks for none.
pub(crate) const LOG_PART_BYTES_DEFAULT: usize = 256 << 10;
/// Lines of a log in one answer, beside the rest of the piece in which it is reached.
pub(crate) const LOG_PART_LINES_MAX: usize = 10_000;
/// Stored bytes of one piece of a log: what nodes make at most.
pub(crate) const LOG_FRAME_BYTES_MAX: usize = 80 << 10;
/// Stored bytes of the longest piece of a log that anybody ever made.
pub(crate) const LOG_PIECE_BYTES_MAX: usize = 5 << 20;
/// Stored bytes of a log that one request searches.
pub(crate) const LOG_SEARCH_BYTES: u64 = 32 << 20;
/// Stored bytes of a log that one request reads to find places in it.
pub(crate) const LOG_INDEX_BYTES: u64 = 256 << 20;
/// Stored bytes of a log from one such place to the next.
pub(crate) const LOG_MARK_EVERY: u64 = 256 << 10;
/// Such places in one answer, and gaps.
pub(crate) const LOG_MARKS_MAX: usize = 2_000;
/// Attempts whose places are kept.
pub(crate) const LOG_INDICES_KEPT_MAX: usize = 32;
/// Lines that match in one answer, and when it asks for no number.
pub(crate) const LOG_MATCHES_MAX: usize = 1_000;
pub(crate) const LOG_MATCHES_DEFAULT: usize = 100;
/// Bytes of a line that a match shows, and that are searched.
pub(crate) const LOG_MATCH_TEXT_BYTES: usize = 4 << 10;
pub(crate) const LOG_LINE_SEARCHED_BYTES: usize = 1 << 20;
/// Bytes of what is searched for, and of what it is compiled to.
pub(crate) const LOG_PATTERN_BYTES_MAX: usize = 1_024;
pub(crate) const LOG_PATTERN_MEMORY_MAX: usize = 1 << 20;
/// Rows of roll-ups in one answer.
pub(crate) const STATS_ROWS_MAX: usize = 10_000;
/// Pages of so many rows that are added up for one answer.
pub(crate) const STATS_PAGES_MAX: usize = 100;
/// Steps of a series.
pub(crate) const SERIES_STEPS_MAX: u64 = 1_000;
/// Groups of a series.
pub(crate) const SERIES_GROUPS_MAX: usize = 50;
/// Ends that are read for the percentiles of a series.
pub(crate) const SERIES_ENDS_MAX: usize = 10_000;
/// Lines of the ledger that one request looks at.
pub(crate) const LINES_LOOKED_AT_MAX: usize = 20_000;
/// Rows of triggers that one request about all ledgers looks at.
pub(crate) const LEDGER_TRIGGERS_LOOKED_AT_MAX: usize = 20_000;
/// Triggers whose ledgers one request reads.
pub(crate) const LEDGERS_READ_MAX: usize = 1_000;
/// Days of planned load that are told when nobody says how many.
pub(crate) const LOAD_DAYS_DEFAULT: u16 = 7;
/// Days of planned load in one answer.
pub(crate) const LOAD_DAYS_MAX: u16 = 31;
/// Triggers that one answer about planned load counts.
pub(crate) const LOAD_TRIGGERS_MAX: usize = 20_000;
/// Planned moments that are looked at one by one for it.
pub(crate) const LOAD_MOMENTS_MAX: usize = 2_000_000;
/// Pages of roll-ups that are read to know how long runs take.
pub(crate) const LOAD_STATS_PAGES_MAX: usize = 10;

/// How long a token is good for when it names nothing.
pub(crate) const TOKEN_TTL_DEFAULT: Duration = Duration::from_secs(90 * 86_400);
/// How long a session lasts.
pub(crate) const SESSION_TTL: Duration = Duration::from_secs(12 * 3600);
/// Tokens and sessions that a session may come from, one from the other.
pub(crate) const SESSION_ORIGINS_MAX: usize = 8;
/// How long a login code is good for.
pub(crate) const LOGIN_CODE_TTL_DEFAULT: Duration = Duration::from_secs(600);
/// The longest that a login code is good for.
pub(crate) const LOGIN_CODE_TTL_MAX: Duration = Duration::from_secs(3600);
/// How long a join token is good for.
pub(crate) const JOIN_TTL_DEFAULT: Duration = Duration::from_secs(3600);
/// The longest that a join token is good for.
pub(crate) const JOIN_TTL_MAX: Duration = Duration::from_secs(7 * 86_400);
/// The fewest bytes of chance that a node joins with.
pub(crate) const NONCE_BYTES_MIN: usize = 16;
/// The most bytes of chance that a node joins with.
pub(crate) const NONCE_BYTES_MAX: usize = 64;
/// How long a node may take to be emptied when nobody says.
pub(crate) const DRAIN_PATIENCE_DEFAULT: Duration = Duration::from_secs(3600);
/// Entries of the audit in a minute about requests of nobody knows whom.
pub(crate) const STRANGER_ENTRIES_PER_MINUTE: u32 = 30;
/// Characters of the audit about why a request failed.
pub(crate) const FAILURE_CHARS_MAX: usize = 512;
