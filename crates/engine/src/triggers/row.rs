//! Where a trigger stands: a record, which whoever puts a job writes with it ([`super::merge`]); from then on the owner moves it,
//! always by compare-and-set.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::{After, Trigger};
use mainspring_model::{BackfillId, CellId, JobId, Name, Namespace, Pause, RunId, Timestamp, hash};
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery};
use serde::{Deserialize, Serialize};

use super::backfill::Backfill;
use super::cursor::Moved;
use super::pending::End;

/// Where triggers stand: by cell, job and name.
const TRIGGERS: RecordKind = RecordKind(1_001);
/// Ends that come so soon after each other have moments in their order.
const CLOSE: Duration = Duration::from_secs(1);
/// How long the row of a removed trigger stays: far longer than an owner takes to hear of the removal.
const GONE_KEPT: Duration = Duration::from_secs(3_600);
/// What the row of a removed trigger says.
const GONE: [u8; 4] = *b"gone";
/// Rows read at once.
pub(super) const PAGE_ROWS: usize = 5_000;

/// Which trigger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TriggerKey {
    /// Its job.
    pub job: JobId,
    /// Its name within the job.
    pub name: Arc<str>,
}

/// Where a trigger stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerRow {
    /// Which.
    pub key: TriggerKey,
    /// Grows by one with every write, from 1.
    pub revision: u64,
    /// Where it stands.
    pub state: TriggerState,
}

/// Where a trigger stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerState {
    /// Where its job belongs.
    pub namespace: Namespace,
    /// The version of the job that it is in.
    pub version: u32,
    /// A hash of what decides when it fires: another one begins anew.
    pub definition: u64,
    /// Planned moments up to here are accounted for.
    pub cursor: Timestamp,
    /// The next planned moment; none when there is none, or none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    /// When it is looked at: the next planned moment and its jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fires_at: Option<Timestamp>,
    /// Runs that it made.
    #[serde(default)]
    pub fired: u64,
    /// Of the last ones, those in a row that failed for good.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// Who paused it and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Box<Pause>>,
    /// Its last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<RunId>,
    /// Whether the next moment is counted from the end of the last run, which has not ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_end: bool,
    /// How long after the end of its last run it fires, in microseconds; 0 when it does not follow that.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub delay_us: u64,
    /// The jobs that it follows or waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Box<Follows>>,
    /// Whether it follows calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_called: bool,
    /// Whether it names calendars.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub heeds: bool,
    /// What stands between the cursor and the ledger, if something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Box<Moved>>,
    /// Its backfills, the oldest first: those that go on, and the last of those that are over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[allow(
        clippy::box_collection,
        reason = "hardly any trigger has one, and there may be a million triggers"
    )]
    pub backfills: Option<Box<Vec<Backfill>>>,
}

impl TriggerState {
    /// Its backfills, the oldest first.
    pub fn backfills(&self) -> &[Backfill] {
        self.backfills.as_ref().map_or(&[], |backfills| backfills)
    }

    pub(super) fn backfills_mut(&mut self) -> &mut Vec<Backfill> {
        self.backfills.get_or_insert_default()
    }

    pub(super) fn backfill_mut(&mut self, id: BackfillId) -> Option<&mut Backfill> {
        self.backfills.as_mut()?.iter_mut().find(|one| one.id == id)
    }

    /// Moments up to here are told.
    pub(super) fn told_until(&self) -> Timestamp {
        let jumped = self.moved.as_ref().and_then(|moved| moved.jumped.as_ref());
        jumped.map_or(self.cursor, |jumped| jumped.from)
    }

    /// The last moment that a call has.
    pub(super) fn reached(&self) -> Timestamp {
        let told = self.moved.as_ref().and_then(|moved| moved.told);
        told.map_or(self.cursor, |told| told.max(self.cursor))
    }

    /// As somebody writes it who does not know how far the owner is.
    pub(super) fn put(&self) -> Self {
        let mut state = self.clone();
        if !state.follows_ends() || state.is_called {
            state.moved.get_or_insert_default().put = true;
        }
        state
    }

    /// Whether it has made all the runs that it makes.
    pub(super) fn is_spent(&self, trigger: &Trigger) -> bool {
        trigger.count.is_some_and(|count| self.fired >= u64::from(count.get()))
    }

    /// The moment that stands for an end, or for who fires beside ends: the wished one, or just after the latest. Clocks go
    /// back: then one that is free.
    pub(super) fn moment_for(
        &self,
        wished: Timestamp,
        list: &[End],
        by_hand: Option<Timestamp>,
    ) -> Timestamp {
        let step = Duration::from_micros(1);
        let latest = list.last().map_or(self.cursor, |end| end.planned);
        let latest = by_hand.map_or(latest, |by_hand| latest.max(by_hand));
        if latest <= wished + CLOSE {
            return wished.max(latest + step);
        }
        let is_taken = |at: &Timestamp| by_hand == Some(*at) || list.iter().any(|end| end.planned == *at);
        let mut moments = (0..).map(|steps| wished - step * steps);
        moments.find(|at| !is_taken(at)).unwrap_or(wished)
    }

    /// The moment that a delay fires for next, as whoever fires it counts it.
    pub(super) fn due_delay(&self) -> Option<Timestamp> {
        // Clocks go back: only the very moment that it fired for last is taken.
        self.next.map(|next| if next == self.cursor { next + Duration::from_micros(1) } else { next })
    }

    /// Whether what it had to follow is still of interest to what it is now.
    pub(super) fn follows_the_same(&self, other: &Self) -> bool {
        let job = |state: &Self| state.after().map(|after| after.job.clone());
        job(self) == job(other) && (self.delay_us > 0) == (other.delay_us > 0)
    }

    /// The other, with the needs of this one.
    pub(super) fn needs_of(&self, mut other: Self) -> Self {
        if self.needs() != other.needs() {
            other.follows.get_or_insert_default().needs = self.needs().to_vec();
        }
        other
    }

    /// The ends that make it fire.
    pub fn after(&self) -> Option<&After> {
        self.follows.as_ref()?.after.as_ref()
    }

    /// The job that the next moment waits for.
    pub fn waits_for(&self) -> Option<&Name> {
        self.follows.as_ref()?.waits_for.as_ref()
    }

    pub(super) fn wait_for(&mut self, job: Option<Name>) {
        if job.is_some() || self.waits_for().is_some() {
            self.follows.get_or_insert_default().waits_for = job;
        }
    }

    /// The jobs that have to succeed before a moment.
    pub(super) fn needs(&self) -> &[Name] {
        self.follows.as_ref().map_or(&[], |follows| &follows.needs)
    }

    /// Whether it follows the ends of runs, or calls, and not the clock.
    pub(super) fn follows_ends(&self) -> bool {
        self.after().is_some() || self.delay_us > 0 || self.is_called
    }
}

/// The jobs that a trigger follows or waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Follows {
    /// These ends make it fire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
    /// These jobs have to succeed before a moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Name>,
    /// The one that the next moment waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Name>,
}

impl TriggerKey {
    /// The run of a planned moment: whoever fires it makes the same.
    pub fn run_at(&self, planned: Timestamp) -> RunId {
        self.derived(planned, &planned.as_micros().to_be_bytes())
    }

    /// The run that follows the end of another.
    pub(super) fn run_after(&self, run: RunId) -> RunId {
        self.derived(run.made_at(), run.as_bytes())
    }

    /// One more run of a planned moment, after this one.
    pub(super) fn run_again(&self, planned: Timestamp, before: RunId) -> RunId {
        self.derived(planned, &[before.as_bytes().as_slice(), b"again"].concat())
    }

    fn derived(&self, at: Timestamp, cause: &[u8]) -> RunId {
        let bytes = [self.job.as_bytes().as_slice(), self.name.as_bytes(), &[0], cause].concat();
        let (one, other) = (hash::bytes(&bytes), hash::bytes(&[&bytes[..], b"/"].concat()));
        RunId::new(at, u128::from(one) << 64 | u128::from(other))
    }

    pub(super) fn place(&self, cell: CellId) -> RecordKey {
        [&cell.0.to_be_bytes()[..], self.job.as_bytes(), self.name.as_bytes()].concat().into()
    }

    /// Which trigger has this place.
    pub(super) fn placed(place: &[u8]) -> Option<Self> {
        let (_, rest) = place.split_at_checked(size_of::<CellId>())?;
        let (job, name) = rest.split_first_chunk::<16>()?;
        let name = std::str::from_utf8(name).ok()?.into();
        Some(Self { job: JobId::from_bytes(*job), name })
    }
}

impl TriggerRow {
    /// The kind of its records.
    pub const KIND: RecordKind = TRIGGERS;

    /// Where the triggers of a cell stand.
    pub(crate) fn of_cell(cell: CellId) -> RecordQuery {
        let prefix = Box::from(cell.0.to_be_bytes());
        RecordQuery { kind: TRIGGERS, prefix, after: None, reverse: false, limit: PAGE_ROWS }
    }

    /// Where the triggers of a job stand.
    pub fn of_job(cell: CellId, job: JobId) -> RecordQuery {
        let prefix = [&cell.0.to_be_bytes()[..], job.as_bytes()].concat().into();
        RecordQuery { kind: TRIGGERS, prefix, after: None, reverse: false, limit: PAGE_ROWS }
    }

    /// Reads a record; none when it is not one of a trigger.
    pub fn read(record: &Record) -> Option<Self> {
        let key = TriggerKey::placed(record.key.as_bytes()).filter(|_| record.kind == TRIGGERS)?;
        let state = serde_json::from_slice(&record.value).ok()?;
        Some(Self { key, revision: record.revision, state })
    }

    /// The record of a trigger that is removed. It counts the revisions on: an owner that has not heard of the removal cannot take
    /// a later trigger of the same name for the one that it knows, and write over it.
    pub(super) fn tombstone(&self, cell: CellId, now: Timestamp) -> Record {
        Record {
            revision: self.revision + 1,
            expires_at: Some(now + GONE_KEPT),
            value: GONE.into(),
            ..self.record(cell)
        }
    }

    /// The trigger that a record says is removed, and the revision of the record.
    pub fn read_gone(record: &Record) -> Option<(TriggerKey, u64)> {
        let key = TriggerKey::placed(record.key.as_bytes()).filter(|_| record.kind == TRIGGERS)?;
        (*record.value == GONE).then_some((key, record.revision))
    }

    /// The record that keeps it.
    pub fn record(&self, cell: CellId) -> Record {
        Record {
            kind: TRIGGERS,
            key: self.key.place(cell),
            revision: self.revision,
            expires_at: None,
            // Plain data can always be written.
            value: serde_json::to_vec(&self.state).unwrap_or_default().into(),
        }
    }
}

fn is_nothing(number: &u64) -> bool {
    *number == 0
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
