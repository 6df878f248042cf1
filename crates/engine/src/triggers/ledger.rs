//! The ledger: what became of each planned moment. Its lines are records, by job, trigger and moment.

use std::time::Duration;

use mainspring_model::{BackfillId, JobId, RunId, Timestamp};
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery};
use serde::{Deserialize, Serialize};

use super::row::TriggerKey;

/// Planned moments: by job, name and moment.
const OCCURRENCES: RecordKind = RecordKind(1_002);

/// What became of a planned moment, or of several in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The moment, or the first of several.
    #[serde(skip)]
    pub planned: Timestamp,
    /// The last of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Timestamp>,
    /// How many; none when they are too many to count.
    pub count: Option<u64>,
    /// What became of them.
    pub outcome: Outcome,
    /// Why.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub reason: Box<str>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The backfill that made up for it: a line of its own, behind the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill: Option<BackfillId>,
    /// Whether somebody fired it: it was not planned, and is not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hand: bool,
    /// When it was decided.
    pub at: Timestamp,
}

/// What became of a planned moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A run was made.
    Fired,
    /// It is covered by another run.
    Merged,
    /// The job's overlap policy left it out.
    Skipped,
    /// It passed.
    Missed,
}

impl Outcome {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Merged => "merged",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
        }
    }
}

impl TriggerKey {
    fn ledger(&self) -> Vec<u8> {
        [self.job.as_bytes().as_slice(), self.name.as_bytes(), &[0]].concat()
    }

    /// A page of its ledger, the newest first, before a line.
    pub fn occurrences(&self, before: Option<(Timestamp, Option<BackfillId>)>, limit: usize) -> RecordQuery {
        let prefix = self.ledger().into();
        let after = before.map(|(planned, backfill)| self.line(planned, backfill));
        RecordQuery { kind: OCCURRENCES, prefix, after, reverse: true, limit }
    }

    /// Whose ledger is asked for.
    pub(super) fn of_ledger(query: &RecordQuery) -> Option<Self> {
        let (job, name) = query.prefix.split_first_chunk::<16>().filter(|_| query.kind == OCCURRENCES)?;
        let name = std::str::from_utf8(name.strip_suffix(&[0])?).ok()?.into();
        Some(Self { job: JobId::from_bytes(*job), name })
    }

    /// A page of its ledger, the oldest first, after a place in it.
    pub(super) fn lines_after(&self, after: RecordKey, limit: usize) -> RecordQuery {
        let (prefix, after) = (self.ledger().into(), Some(after));
        RecordQuery { kind: OCCURRENCES, prefix, after, reverse: false, limit }
    }

    /// The place in its ledger before all lines of a moment.
    pub(super) fn ledger_before(&self, planned: Timestamp) -> RecordKey {
        self.line(planned - Duration::from_micros(1), Some(BackfillId::MAX))
    }

    fn line(&self, planned: Timestamp, backfill: Option<BackfillId>) -> RecordKey {
        let backfill = backfill.as_ref().map_or(&[][..], |backfill| backfill.as_bytes());
        [&self.ledger()[..], &ordered(planned), backfill].concat().into()
    }
}

impl Occurrence {
    /// One moment.
    pub(super) fn one(planned: Timestamp, at: Timestamp, outcome: Outcome) -> Self {
        Self {
            planned,
            through: None,
            count: Some(1),
            outcome,
            reason: "".into(),
            run: None,
            backfill: None,
            by_hand: false,
            at,
        }
    }

    /// Whether the run is its own, and not one of another moment that covers it.
    pub(super) fn is_own(&self) -> bool {
        self.run.is_some() && self.outcome != Outcome::Merged
    }

    /// Reads a record; none when it is not one of the ledger.
    pub fn read(record: &Record) -> Option<Self> {
        let (_, rest) = record.key.as_bytes().split_at_checked(size_of::<JobId>())?;
        let name = rest.iter().position(|byte| *byte == 0)?;
        let planned = moment(rest[name + 1..].first_chunk()?);
        let occurrence: Self = serde_json::from_slice(&record.value).ok()?;
        (record.kind == OCCURRENCES).then_some(Self { planned, ..occurrence })
    }

    /// Whose ledger a record is a line of; none when it is not one.
    pub fn key(record: &Record) -> Option<TriggerKey> {
        let (job, rest) = record.key.as_bytes().split_first_chunk::<16>()?;
        let name = rest.split(|byte| *byte == 0).next()?;
        let name = std::str::from_utf8(name).ok()?.into();
        (record.kind == OCCURRENCES).then_some(TriggerKey { job: JobId::from_bytes(*job), name })
    }

    /// The record that keeps it for so long.
    pub(super) fn write(&self, key: &TriggerKey, kept: Duration) -> Record {
        Record {
            kind: OCCURRENCES,
            key: key.line(self.planned, self.backfill),
            revision: 1,
            expires_at: Some(self.at + kept),
            value: serde_json::to_vec(self).unwrap_or_default().into(),
        }
    }
}

/// A moment as bytes that sort like it.
fn ordered(at: Timestamp) -> [u8; 8] {
    (at.as_micros() as u64 ^ 1 << 63).to_be_bytes()
}

fn moment(bytes: &[u8; 8]) -> Timestamp {
    Timestamp::from_micros((u64::from_be_bytes(*bytes) ^ 1 << 63) as i64)
}
