//! The use cases in one place: what they share, and the check that stands before each.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{CellId, ErrorCode, Namespace, Timestamp};
use mainspring_store::Store;
use tokio::sync::Notify;

use crate::artifact_use::HeldFiles;
use crate::audit::{Chain, Entry, Journal, Now, Observed, Outcome, Strangers, told};
use crate::error::{Error, Result, done};
use crate::identity::{Origin, Principals, TokenUses};
use crate::limits::FAILURE_CHARS_MAX;
use crate::lookup::{Jobs, NodeNames};
use crate::operation::{Operation, Place};
use crate::ports::{Artifacts, CellError, Cells, Command, Logs};
use crate::principal::Caller;
use crate::random::Random;
use crate::runs::LogIndices;

/// What the audit calls somebody who is not known.
const STRANGER: &str = "anonymous";

/// What the use cases work with.
pub struct Parts {
    /// The truth.
    pub store: Arc<dyn Store>,
    /// The owners of cells.
    pub cells: Arc<dyn Cells>,
    /// The output of attempts.
    pub logs: Arc<dyn Logs>,
    /// Files; none when this process has no place for them.
    pub artifacts: Option<Arc<dyn Artifacts>>,
    /// The audit of this process, shared with whoever commits for [`Cells`].
    pub chain: Arc<Chain>,
}

/// How long what was read is believed.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// A token and the roles of its subject. A revocation by this process holds at once, by another within this time.
    pub principal_ttl: Duration,
    /// A job's row and the files that it names, when a run of it is submitted. A change by this process holds at once, by another within this time;
    /// zero reads it every time.
    pub job_ttl: Duration,
    /// How long a caller waits for what is written.
    pub store_wait: Duration,
    /// The seed of ids; none draws one. Secrets never follow from it.
    pub ids: Option<[u64; 2]>,
}

/// The use cases. Each takes a [`Caller`], checks that they may, does it, and writes down that it was done.
pub struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cells: Arc<dyn Cells>,
    pub(crate) logs: Arc<dyn Logs>,
    pub(crate) artifacts: Option<Arc<dyn Artifacts>>,
    pub(crate) journal: Journal,
    strangers: Strangers,
    pub(crate) principals: Principals,
    pub(crate) token_uses: TokenUses,
    pub(crate) jobs: Jobs,
    pub(crate) held_files: HeldFiles,
    pub(crate) node_names: NodeNames,
    pub(crate) log_indices: LogIndices,
    pub(crate) random: Random,
    /// A bulk operation was started or stopped here.
    pub(crate) bulk_wake: Notify,
    /// How long a caller waits until a change of a job counts.
    pub(crate) confirm_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            principal_ttl: Duration::from_secs(5),
            job_ttl: Duration::from_millis(500),
            store_wait: Duration::from_secs(10),
            ids: None,
        }
    }
}

impl App {
    /// The use cases over these parts.
    pub fn new(parts: Parts, options: Options) -> Arc<Self> {
        let Parts { store, cells, logs, artifacts, chain } = parts;
        Arc::new(Self {
            journal: Journal::new(store.clone(), now_of(&cells), chain, options.store_wait),
            strangers: Strangers::default(),
            principals: Principals::new(options.principal_ttl),
            token_uses: TokenUses::default(),
            jobs: Jobs::new(options.job_ttl),
            held_files: HeldFiles::new(options.job_ttl),
            node_names: NodeNames::default(),
            log_indices: LogIndices::default(),
            random: options.ids.map_or_else(Random::new, Random::seeded),
            bulk_wake: Notify::new(),
            // By default longer than it takes to replace an owner that died, and less than callers wait.
            confirm_wait: options.store_wait * 2,
            store,
            cells,
            logs,
            artifacts,
        })
    }

    /// Writes records of the audit that could not be written, whenever some are left and the store is back. Never returns.
    pub async fn write_left_over_audit(&self) {
        self.journal.write_left_over().await;
    }

    /// Tries once to write them; true when none is left.
    pub async fn try_left_over_audit(&self) -> bool {
        self.journal.try_left_over().await
    }

    /// The source of ids.
    pub fn random(&self) -> &Random {
        &self.random
    }

    /// The time that rows go by.
    pub fn now(&self) -> Timestamp {
        self.cells.now()
    }

    /// Goes on only if the caller may. That somebody tried to change what they may not is written down.
    pub(crate) async fn allow(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
    ) -> Result<()> {
        if caller.principal.may(operation, namespace) {
            return Ok(());
        }
        self.deny(caller, operation, namespace, None).await;
        Err(forbidden(operation, namespace))
    }

    /// Writes down that somebody tried to change what they may not.
    pub(crate) async fn deny(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
        target: Option<String>,
    ) {
        if operation.changes() {
            let entry = caller.entry(self.now(), operation, namespace);
            let entry = Entry { outcome: Outcome::Denied, target: target.map(Into::into), ..entry };
            self.journal.note(entry).await;
        }
    }

    /// Writes down that a request for a change failed, if nobody did: it could not be read, or was refused before it was
    /// clear to what it would happen. Of strangers only the kind of failure is told, and no more than so many.
    pub async fn note_failed(&self, observed: Observed, error: &Error, from: Origin) {
        let Observed { operation: Some(operation), caller, told: false } = observed else { return };
        if !operation.changes() {
            return;
        }
        let Some(caller) = caller else { return self.note_stranger(operation, error.code, from).await };
        let may = match operation.place() {
            Place::Namespace => !caller.principal.places(operation).is_empty(),
            Place::Cluster | Place::SignedIn | Place::Anyone => caller.principal.may(operation, None),
        };
        let outcome = if may { Outcome::Refused(error.code) } else { Outcome::Denied };
        let detail: String = error.message.chars().take(FAILURE_CHARS_MAX).collect();
        let entry = caller.entry(self.now(), operation, None);
        self.journal.note(Entry { outcome, detail: Some(detail.into()), ..entry }).await;
    }

    async fn note_stranger(&self, operation: Operation, code: ErrorCode, from: Origin) {
        let now = self.now();
        let Some(left_out) = self.strangers.admit(now) else { return };
        let outcome = match code {
            ErrorCode::Unauthenticated | ErrorCode::Forbidden => Outcome::Denied,
            code => Outcome::Refused(code),
        };
        let detail = match left_out {
            0 => code.name().to_owned(),
            count => format!("{}; {count} more like it were not written down", code.name()),
        };
        let entry = Entry {
            at: now,
            actor: STRANGER.into(),
            token: None,
            operation,
            namespace: None,
            target: None,
            outcome,
            detail: Some(detail.into()),
            request_id: from.request_id,
            from: from.address,
        };
        self.journal.note(entry).await;
    }

    /// Has the owner of a cell carry out a command, and write it down.
    pub(crate) async fn command(&self, cell: CellId, command: Command, entry: Entry) -> Result<()> {
        let answer = self.cells.command(cell, command, vec![entry]).await;
        note_answer(&answer);
        done(answer?)
    }

    /// Writes down that something was allowed and yet did not happen, and passes the reason on.
    pub(crate) async fn refused<T>(&self, entry: Entry, error: Error) -> Result<T> {
        self.journal.note(Entry { outcome: Outcome::Refused(error.code), ..entry }).await;
        Err(error)
    }
}

fn now_of(cells: &Arc<dyn Cells>) -> Now {
    let cells = Arc::clone(cells);
    Arc::new(move || cells.now())
}

/// Whoever answers for a cell has written down what was asked, also when it lost the cell on the way.
pub(crate) fn note_answer<T>(answer: &std::result::Result<T, CellError>) {
    if matches!(answer, Ok(_) | Err(CellError::Deposed)) {
        told();
    }
}

fn forbidden(operation: Operation, namespace: Option<&Namespace>) -> Error {
    let role = operation.role().name();
    let place = match (operation.place(), namespace) {
        (Place::Namespace, Some(namespace)) => format!("in `{namespace}`"),
        (Place::Namespace, None) => "everywhere, or in the namespace that is named".to_owned(),
        _ => "everywhere".to_owned(),
    };
    let message = format!("`{}` needs the role {role} {place}", operation.name());
    Error::new(ErrorCode::Forbidden, message)
}
