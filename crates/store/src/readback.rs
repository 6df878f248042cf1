//! What a fenced batch that is sent twice answers the second time.
//!
//! A store that finds `lease.seq == fence.seq` writes nothing: it reads the rows that the batch names and
//! asks here, one function for each kind of write, so that every store answers alike (I13). Adding counts
//! and pausing a cell need no reading: under a matching seq they are `Applied`.
//!
//! The rule is "applied, if the row is what this batch wrote". Between the two sendings only others wrote,
//! never the owner itself, so a row of the owner's cell is either as the batch left it or was never the
//! batch's. What moved on since, in the hands of another cell's owner or of retention, answers with what is
//! there now; the caller reads such a row before it acts on the answer.

use mainspring_model::{Epoch, Job, Node, Run, RunId, RunState, RunStatus};

use crate::commit::{Conflict, Outcome, RunUpdate};
use crate::record::Record;

/// The part of a run's row that tells who wrote it, and what. Version and epoch alone are not enough: an
/// owner that acted on a row it read too early may have made another write of the same version before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunMark {
    /// The row's version.
    pub version: u64,
    /// The epoch of the owner that wrote it.
    pub epoch: Epoch,
    /// The run's state; none when the row is damaged, which is then nobody's write.
    pub state: Option<RunState>,
    /// Its place's rank, if it has a place.
    pub rank: Option<i64>,
}

impl From<&RunStatus> for RunMark {
    fn from(status: &RunStatus) -> Self {
        let rank = status.place.map(|place| place.rank);
        Self { version: status.version, epoch: status.epoch, state: Some(status.state), rank }
    }
}

/// For [`crate::Write::InsertRun`]: `row` has the run's id, `key_holder` has its (namespace, key).
pub fn insert_run(run: &Run, epoch: Epoch, row: Option<RunMark>, key_holder: Option<RunId>) -> Outcome {
    match (row, key_holder) {
        (Some(row), _) if row == written(&run.status, epoch) => Outcome::Applied,
        (Some(_), _) => Outcome::Conflict(Conflict::Exists),
        (None, Some(other)) => Outcome::Conflict(Conflict::KeyTaken(Some(other))),
        (None, None) => Outcome::Conflict(Conflict::Missing),
    }
}

/// For [`crate::Write::UpdateRun`]: `row` has the run's id.
pub fn update_run(update: &RunUpdate, epoch: Epoch, row: Option<RunMark>) -> Outcome {
    match row {
        Some(row) if row == written(&update.status, epoch) => Outcome::Applied,
        Some(row) => Outcome::Conflict(Conflict::Version(row.version)),
        None => Outcome::Conflict(Conflict::Missing),
    }
}

/// The mark that a batch under `epoch` leaves with `status`.
fn written(status: &RunStatus, epoch: Epoch) -> RunMark {
    RunMark { epoch, ..RunMark::from(status) }
}

/// For [`crate::Write::InsertAttempt`], [`crate::Write::InsertEvent`] and [`crate::Write::InsertJobVersion`]:
/// these rows never change, so one that is there is as good as written.
pub fn insert(exists: bool) -> Outcome {
    if exists { Outcome::Applied } else { Outcome::Conflict(Conflict::Missing) }
}

/// For [`crate::Write::PutJob`]: `row` has the job's id; `name_taken` says whether another job has its
/// (namespace, name). Jobs are also written without a fence, so the whole row is compared, not its revision.
pub fn put_job(job: &Job, row: Option<&Job>, name_taken: bool) -> Outcome {
    match row {
        Some(row) if row == job => Outcome::Applied,
        _ => refused(job.revision, row.map(|row| row.revision), name_taken),
    }
}

/// For [`crate::Write::PutNode`]: `row` has the node's id.
pub fn put_node(node: &Node, row: Option<&Node>) -> Outcome {
    match row {
        Some(row) if row == node => Outcome::Applied,
        _ => refused(node.revision, row.map(|row| row.revision), false),
    }
}

/// For [`crate::Write::PutRecord`]: `row` has the record's kind and key.
pub fn put_record(record: &Record, row: Option<&Record>) -> Outcome {
    match row {
        Some(row) if row == record => Outcome::Applied,
        _ => refused(record.revision, row.map(|row| row.revision), false),
    }
}

/// Why a put was not applied, from what is there now.
pub fn refused(written: u64, found: Option<u64>, name_taken: bool) -> Outcome {
    // One that the row does not refuse now was refused by the name, or the row has changed since.
    let otherwise = match found {
        _ if name_taken => Conflict::KeyTaken(None),
        Some(found) => Conflict::Version(found),
        None => Conflict::Missing,
    };
    Outcome::Conflict(Conflict::of_put(written, found).unwrap_or(otherwise))
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, JobId, Timestamp};

    use super::*;

    const MINE: Epoch = Epoch(4);

    fn update(expected: u64) -> RunUpdate {
        let mut status = RunStatus::arrived(CellId(0), Timestamp::ZERO);
        status.version = expected + 1;
        RunUpdate { id: RunId::MIN, expected, status }
    }

    fn job(revision: u64, name: &str) -> Job {
        Job {
            id: JobId::MIN,
            namespace: "acme".parse().unwrap(),
            name: name.into(),
            current_version: 1,
            revision,
            pause: None,
            created_at: Timestamp::ZERO,
            updated_at: Timestamp::ZERO,
        }
    }

    #[test]
    fn an_update_is_applied_when_the_row_is_the_one_it_wrote() {
        let mark = |version, epoch| {
            let (state, rank) = (Some(RunState::Ready), Some(0));
            Some(RunMark { version, epoch: Epoch(epoch), state, rank })
        };
        let state = Some(RunState::Cancelled);
        let other = RunMark { state, rank: None, ..RunMark::from(&update(2).status) };
        for (row, outcome) in [
            (mark(3, 4), Outcome::Applied),
            // The owner's own earlier write of this version, made before it read the row that it acts on now.
            (Some(RunMark { epoch: MINE, ..other }), Outcome::Conflict(Conflict::Version(3))),
            (mark(3, 3), Outcome::Conflict(Conflict::Version(3))),
            (mark(2, 4), Outcome::Conflict(Conflict::Version(2))),
            (mark(9, 4), Outcome::Conflict(Conflict::Version(9))),
            (None, Outcome::Conflict(Conflict::Missing)),
        ] {
            assert_eq!(update_run(&update(2), MINE, row), outcome, "{row:?}");
        }
    }

    #[test]
    fn a_put_is_applied_when_the_whole_row_is_the_one_it_wrote() {
        for (written, row, name_taken, outcome) in [
            (job(1, "a"), Some(job(1, "a")), false, Outcome::Applied),
            (job(1, "a"), Some(job(1, "b")), false, Outcome::Conflict(Conflict::Exists)),
            (job(1, "a"), None, true, Outcome::Conflict(Conflict::KeyTaken(None))),
            (job(2, "a"), Some(job(2, "a")), false, Outcome::Applied),
            (job(2, "a"), Some(job(2, "b")), false, Outcome::Conflict(Conflict::Version(2))),
            (job(2, "a"), Some(job(1, "b")), true, Outcome::Conflict(Conflict::KeyTaken(None))),
            (job(2, "a"), Some(job(5, "a")), false, Outcome::Conflict(Conflict::Version(5))),
            (job(2, "a"), None, false, Outcome::Conflict(Conflict::Missing)),
        ] {
            assert_eq!(put_job(&written, row.as_ref(), name_taken), outcome, "{written:?} over {row:?}");
        }
    }
}
