//! What every store refuses as [`Error::Invalid`] before it looks at a row: the caller's side of the
//! contract, checked in one place so that no store is laxer than another.
//!
//! Whether the rows allow a write is the store's own answer; whether a seq is in turn needs the lease row
//! and is the store's too.

use mainspring_model::{CounterKey, JobId, NodeId, Run, RunId, RunStatus, limits};
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::commit::{RunUpdate, Transaction, Write};
use crate::contract::Retention;
use crate::error::{Error, Result};
use crate::record::{Record, RecordKey, RecordKind};

/// Checks a batch: its size, one write for each row, the values' limits, and what needs a fence.
pub fn transaction(transaction: &Transaction) -> Result<()> {
    let writes = &transaction.writes;
    at_most("writes in a transaction", writes.len(), limits::TRANSACTION_WRITES_MAX)?;
    if transaction.fence.is_some_and(|fence| fence.seq == 0) {
        return Err(invalid("the first commit of an epoch has seq 1"));
    }
    if transaction.fence.is_some() && transaction.all_or_nothing {
        return Err(invalid("a fenced transaction answers for each write by itself"));
    }
    let expected = if writes.len() > 1 { writes.len() } else { 0 };
    let mut rows = FxHashSet::with_capacity_and_hasher(expected, FxBuildHasher);
    for write in writes {
        check_write(write, transaction.fence.is_some())?;
        if writes.len() > 1 && !rows.insert(RowKey::of(write)) {
            return Err(Error::Invalid(format!("two writes for one row: {:?}", RowKey::of(write))));
        }
    }
    Ok(())
}

/// Checks the limit of a page, or the number of ids of a read by id.
pub fn rows(limit: usize) -> Result<()> {
    at_most("rows in a page", limit, limits::PAGE_ROWS_MAX)
}

/// Checks that a rule says what goes.
pub fn retention(rule: &Retention) -> Result<()> {
    match rule {
        Retention { made_before: None, keep_newest: None, .. } => {
            Err(invalid("a retention rule without a rule"))
        }
        Retention { job: None, keep_newest: Some(_), .. } => Err(invalid("keep_newest needs a job")),
        _ => Ok(()),
    }
}

/// The row that a write touches.
#[derive(Debug, PartialEq, Eq, Hash)]
enum RowKey<'a> {
    Run(RunId),
    Attempt(RunId, u32),
    Event(RunId, u64, u16),
    Job(JobId),
    JobVersion(JobId, u32),
    Node(NodeId),
    Counter(&'a CounterKey),
    CellPause,
    Record(RecordKind, &'a RecordKey),
}

impl<'a> RowKey<'a> {
    fn of(write: &'a Write) -> Self {
        match write {
            Write::InsertRun(run) => Self::Run(run.head.id),
            Write::UpdateRun(update) => Self::Run(update.id),
            Write::InsertAttempt(attempt) => Self::Attempt(attempt.token.run, attempt.token.number),
            Write::InsertEvent(event) => Self::Event(event.run, event.version, event.ordinal),
            Write::PutJob(job) => Self::Job(job.id),
            Write::RemoveJob { id, .. } => Self::Job(*id),
            Write::InsertJobVersion(version) => Self::JobVersion(version.job, version.version),
            Write::PutNode(node) => Self::Node(node.id),
            Write::RemoveNode { id, .. } => Self::Node(*id),
            Write::AddCounts(add) => Self::Counter(&add.0),
            Write::PauseCell(_) => Self::CellPause,
            Write::PutRecord(record) => Self::Record(record.kind, &record.key),
            Write::RemoveRecord { kind, key, .. } => Self::Record(*kind, key),
        }
    }
}

fn check_write(write: &Write, fenced: bool) -> Result<()> {
    match write {
        Write::InsertRun(run) => check_run(run),
        Write::UpdateRun(update) => check_update(update),
        Write::PutJob(job) => {
            at_most("bytes of a job's name", job.name.len(), limits::NAME_BYTES_MAX)?;
            check_revision(job.revision)
        }
        Write::PutNode(node) => check_revision(node.revision),
        Write::AddCounts(_) | Write::PauseCell(_) if !fenced => {
            Err(invalid("adding counts and pausing a cell need a fence"))
        }
        Write::RemoveJob { .. } | Write::RemoveNode { .. } | Write::RemoveRecord { .. } if fenced => {
            Err(invalid("removals have no fence: nothing is left to tell who removed it"))
        }
        Write::PutRecord(record) => check_record(record),
        Write::RemoveRecord { key, .. } => check_key(key),
        Write::AddCounts(_)
        | Write::PauseCell(_)
        | Write::InsertAttempt(_)
        | Write::InsertEvent(_)
        | Write::InsertJobVersion(_)
        | Write::RemoveJob { .. }
        | Write::RemoveNode { .. } => Ok(()),
    }
}

fn check_run(run: &Run) -> Result<()> {
    let head = &run.head;
    let key_bytes = head.idempotency_key.as_ref().map_or(0, |key| key.len());
    at_most("bytes of an idempotency key", key_bytes, limits::IDEMPOTENCY_KEY_BYTES_MAX)?;
    at_most("bytes of parameters", head.params.len(), limits::PARAMS_BYTES_MAX)?;
    let spec_bytes = head.inline_spec.as_ref().map_or(0, |spec| spec.len());
    at_most("bytes of a specification", spec_bytes, limits::SPEC_BYTES_MAX)?;
    for key in head.keys.iter().flat_map(|keys| [&keys.concurrency, &keys.rate, &keys.hash]) {
        at_most("bytes of a rendered key", key.len(), limits::RENDERED_KEY_BYTES_MAX)?;
    }
    check_status(&run.status)
}

fn check_update(update: &RunUpdate) -> Result<()> {
    if update.status.version.checked_sub(1) != Some(update.expected) {
        return Err(invalid("an update's version is the expected one plus one"));
    }
    check_status(&update.status)
}

/// A run that is not over and has no place would never be found again.
fn check_status(status: &RunStatus) -> Result<()> {
    if status.state.is_terminal() != status.place.is_none() {
        return Err(invalid("a run has a place if and only if it is not over"));
    }
    if let Some(extra) = &status.extra {
        let bytes =
            |payload: &Option<mainspring_model::Payload>| payload.as_ref().map_or(0, |bytes| bytes.len());
        at_most("bytes of a result", bytes(&extra.result), limits::RESULT_BYTES_MAX)?;
        at_most("bytes of a checkpoint", bytes(&extra.checkpoint), limits::CHECKPOINT_BYTES_MAX)?;
    }
    Ok(())
}

fn check_record(record: &Record) -> Result<()> {
    check_key(&record.key)?;
    at_most("bytes of a record's value", record.value.len(), limits::RECORD_VALUE_BYTES_MAX)?;
    check_revision(record.revision)
}

fn check_key(key: &RecordKey) -> Result<()> {
    if key.as_bytes().is_empty() {
        return Err(invalid("a record without a key"));
    }
    at_most("bytes of a record's key", key.as_bytes().len(), limits::RECORD_KEY_BYTES_MAX)
}

fn check_revision(revision: u64) -> Result<()> {
    if revision == 0 { Err(invalid("revisions count from 1")) } else { Ok(()) }
}

fn at_most(what: &str, found: usize, limit: usize) -> Result<()> {
    if found <= limit {
        Ok(())
    } else {
        Err(Error::Invalid(format!("{found} {what}, at most {limit} are allowed")))
    }
}

fn invalid(what: &str) -> Error {
    Error::Invalid(what.to_owned())
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, Epoch, Place, RunState, Shelf, Timestamp};

    use super::*;
    use crate::commit::Fence;

    fn update(expected: u64, change: impl FnOnce(&mut RunStatus)) -> Write {
        let mut status = RunStatus::arrived(CellId(0), Timestamp::ZERO);
        status.version = expected + 1;
        change(&mut status);
        Write::UpdateRun(RunUpdate { id: RunId::MIN, expected, status })
    }

    fn check(writes: Vec<Write>, seq: Option<u64>, good: bool) {
        let fence = seq.map(|seq| Fence { cell: CellId(0), epoch: Epoch(1), seq });
        let batch = Transaction { fence, all_or_nothing: false, writes };
        assert_eq!(transaction(&batch).is_ok(), good, "{batch:?}");
    }

    #[test]
    fn batches_keep_the_callers_side_of_the_contract() {
        check(vec![], None, true);
        check(vec![update(1, |_| {})], Some(1), true);
        check(vec![update(1, |_| {})], Some(0), false);
        check(vec![update(1, |_| {}), update(1, |_| {})], Some(1), false);
        check(vec![update(1, |status| status.version = 3)], Some(1), false);
        check(vec![update(1, |status| status.place = None)], Some(1), false);
        check(vec![update(1, |status| status.state = RunState::Success)], Some(1), false);
        check(vec![Write::PauseCell(None)], None, false);
        check(vec![Write::PauseCell(None)], Some(1), true);
        check(vec![Write::PauseCell(None), Write::PauseCell(None)], Some(1), false);
    }

    #[test]
    fn records_and_removals_keep_it_too() {
        let record = |key: &str, bytes: usize, revision| {
            let (key, value) = (key.into(), vec![7; bytes].into());
            Write::PutRecord(Box::new(Record { kind: RecordKind(1), key, revision, expires_at: None, value }))
        };
        let removal = |key: &str| Write::RemoveRecord { kind: RecordKind(1), key: key.into(), expected: 1 };
        let long = "k".repeat(limits::RECORD_KEY_BYTES_MAX);
        check(vec![record(&long, limits::RECORD_VALUE_BYTES_MAX, 1), record("k", 0, 2)], Some(1), true);
        check(vec![record(&format!("{long}k"), 0, 1)], None, false);
        check(vec![record("", 0, 1)], None, false);
        check(vec![record("k", limits::RECORD_VALUE_BYTES_MAX + 1, 1)], None, false);
        check(vec![record("k", 0, 0)], None, false);
        check(vec![record("k", 0, 2), removal("k")], None, false);
        check(vec![removal("k")], None, true);
        check(vec![removal("")], None, false);
        check(vec![removal("k")], Some(1), false);
        check(vec![Write::RemoveJob { id: JobId::MIN, expected: 1 }], Some(1), false);
        let whole = |fence| Transaction { fence, ..Transaction::all_or_nothing(vec![record("k", 0, 1)]) };
        assert!(transaction(&whole(None)).is_ok());
        let fence = Fence { cell: CellId(0), epoch: Epoch(1), seq: 1 };
        assert!(transaction(&whole(Some(fence))).is_err());
    }

    #[test]
    fn a_run_that_is_over_leaves_its_shelf() {
        let over = |status: &mut RunStatus| (status.state, status.place) = (RunState::Success, None);
        check(vec![update(1, over)], Some(1), true);
        let place = Some(Place { shelf: Shelf::Waiting, rank: 0 });
        check(
            vec![update(1, |status| (status.state, status.place) = (RunState::Waiting, place))],
            Some(1),
            true,
        );
    }
}
