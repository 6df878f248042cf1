//! What is kept about triggers: where each one stands, and the ledger of planned moments. Both are records.
//!
//! Who puts a job writes the rows of its triggers with it ([`merge`]) and a piece of news for the owner; from then on the
//! owner moves them, always by compare-and-set.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::{After, Trigger, When};
use mainspring_model::{
    BackfillId, Calendars, CellId, JobId, JobSpec, Name, Namespace, Pause, RunId, Timestamp, hash,
};
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery, Write};
use serde::{Deserialize, Serialize};

use super::backfill::Backfill;
use super::cursor::Moved;
use super::needs::{Needed, Success};
use super::pending::End;

/// Where triggers stand: by cell, job and name.
const TRIGGERS: RecordKind = RecordKind(1_001);
/// Planned moments: by job, name and moment.
const OCCURRENCES: RecordKind = RecordKind(1_002);
/// Jobs whose triggers somebody else changed: by cell and job.
const NEWS: RecordKind = RecordKind(1_003);
/// How long an owner may take to hear of news.
const NEWS_KEPT: Duration = Duration::from_secs(3_600);
/// Ends that come so soon after each other have moments in their order.
const CLOSE: Duration = Duration::from_secs(1);
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
    /// The jobs whose ends it follows or waits for.
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

    /// As somebody writes it who does not know how far the owner is.
    fn put(&self) -> Self {
        let mut state = self.clone();
        if !state.follows_ends() {
            state.moved.get_or_insert_default().put = true;
        }
        state
    }

    /// Whether it has made all the runs that it makes.
    pub(super) fn is_spent(&self, trigger: &Trigger) -> bool {
        trigger.count.is_some_and(|count| self.fired >= u64::from(count.get()))
    }

    /// The moment that stands for an end: the wished one, or just after the latest. Clocks go back: then one that is free.
    pub(super) fn moment_for(&self, wished: Timestamp, list: &[End]) -> Timestamp {
        let step = Duration::from_micros(1);
        let latest = list.last().map_or(self.cursor, |end| end.planned);
        if latest <= wished + CLOSE {
            return wished.max(latest + step);
        }
        let is_taken = |at: &Timestamp| list.iter().any(|end| end.planned == *at);
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
        job(self) == job(other)
            && (self.delay_us > 0) == (other.delay_us > 0)
            && self.needs().is_empty() == other.needs().is_empty()
    }

    /// The ends that make it fire.
    pub fn after(&self) -> Option<&After> {
        self.follows.as_ref()?.after.as_ref()
    }

    /// The job that the next moment waits for.
    pub fn waits_for(&self) -> Option<&Name> {
        self.follows.as_ref()?.waits_for.as_ref()
    }

    /// The jobs that have to succeed before a moment.
    pub(super) fn needs(&self) -> &[Needed] {
        self.follows.as_ref().map_or(&[], |follows| &follows.needs)
    }

    /// Whether it follows the ends of runs, or calls, and not the clock.
    pub(super) fn follows_ends(&self) -> bool {
        self.after().is_some() || self.delay_us > 0 || self.is_called
    }
}

/// The jobs whose ends a trigger follows or waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Follows {
    /// These ends make it fire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
    /// These jobs have to succeed before a moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Needed>,
    /// The one that the next moment waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Name>,
}

impl Follows {
    /// All jobs whose ends it hears of.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Name> {
        self.after.iter().map(|after| &after.job).chain(self.needs.iter().map(|need| &need.job))
    }
}

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

impl TriggerRow {
    /// The kind of its records.
    pub const KIND: RecordKind = TRIGGERS;

    /// Where triggers of a cell stand, after one of them.
    pub(crate) fn of_cell(cell: CellId, after: Option<RecordKey>) -> RecordQuery {
        let prefix = Box::from(cell.0.to_be_bytes());
        RecordQuery { kind: TRIGGERS, prefix, after, reverse: false, limit: PAGE_ROWS }
    }

    /// Where the triggers of a job stand.
    pub fn of_job(cell: CellId, job: JobId) -> RecordQuery {
        let prefix = [&cell.0.to_be_bytes()[..], job.as_bytes()].concat().into();
        RecordQuery { kind: TRIGGERS, prefix, after: None, reverse: false, limit: PAGE_ROWS }
    }

    /// Reads a record; none when it is not one of a trigger.
    pub fn read(record: &Record) -> Option<Self> {
        let key = TriggerKey::placed(record.key.as_bytes())?;
        let state = serde_json::from_slice(&record.value).ok()?;
        (record.kind == TRIGGERS).then_some(Self { key, revision: record.revision, state })
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

pub(super) fn is_nothing(number: &u64) -> bool {
    *number == 0
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What hears of changes that others made: by cell.
pub(crate) fn news_of(cell: CellId) -> RecordQuery {
    RecordQuery {
        kind: NEWS,
        prefix: Box::from(cell.0.to_be_bytes()),
        after: None,
        reverse: false,
        limit: PAGE_ROWS,
    }
}

/// Whether a query asks for news.
pub(super) fn is_news(query: &RecordQuery) -> bool {
    query.kind == NEWS
}

/// The job that a piece of news is about.
pub(super) fn news_about(record: &Record) -> Option<JobId> {
    let (_, job) = record.key.as_bytes().split_at_checked(size_of::<CellId>())?;
    job.try_into().ok().map(JobId::from_bytes)
}

/// The key under which news of a job stands, to find its revision by.
pub fn news_key(cell: CellId, job: JobId) -> (RecordKind, RecordKey) {
    (NEWS, [&cell.0.to_be_bytes()[..], job.as_bytes()].concat().into())
}

/// Whose triggers, and of which version.
#[derive(Debug, Clone, Copy)]
pub struct Merged<'a> {
    /// The cell of the namespace.
    pub cell: CellId,
    /// The namespace.
    pub namespace: &'a Namespace,
    /// The job.
    pub job: JobId,
    /// Its new version; 0 when it goes.
    pub version: u32,
    /// What that says; none when it goes.
    pub spec: Option<&'a JobSpec>,
    /// Now.
    pub now: Timestamp,
    /// The calendars that its triggers name.
    pub calendars: &'a Calendars,
    /// When jobs that its triggers need last succeeded, where one has.
    pub successes: &'a [Success],
    /// The revision of the news that stands, if any does.
    pub news: Option<u64>,
}

/// The writes that bring the rows of a job's triggers to a new version: a trigger that says the same stays where it is, one
/// that says something else begins now. They go into the transaction that puts the job.
pub fn merge(old: &[TriggerRow], of: Merged<'_>) -> Vec<Write> {
    let Merged { cell, namespace, job, version, spec, .. } = of;
    let triggers = spec.map_or(&[][..], |spec| &spec.triggers);
    let mut writes = Vec::new();
    for trigger in triggers {
        let Some(spec) = spec else { continue };
        let seed = Trigger::seed(namespace, spec.name.as_str());
        let key = TriggerKey { job, name: trigger.name.as_str().into() };
        let fresh = begin(trigger, seed, &of);
        let row = match old.iter().find(|row| row.key == key) {
            None => TriggerRow { key, revision: 1, state: fresh },
            Some(row) => TriggerRow {
                key,
                revision: row.revision + 1,
                state: match row.state.definition == fresh.definition {
                    true => TriggerState { version, heeds: fresh.heeds, ..row.state.put() },
                    false => carried(&row.state, fresh),
                },
            },
        };
        writes.push(Write::PutRecord(Box::new(row.record(cell))));
    }
    let is_gone = |row: &&TriggerRow| !triggers.iter().any(|trigger| *trigger.name.as_str() == *row.key.name);
    for row in old.iter().filter(is_gone) {
        let key = row.key.place(cell);
        writes.push(Write::RemoveRecord { kind: TRIGGERS, key, expected: row.revision });
    }
    if !writes.is_empty() {
        // A piece of news for the owner.
        let (kind, key) = news_key(cell, job);
        let revision = of.news.map_or(1, |revision| revision + 1);
        let expires_at = Some(of.now + NEWS_KEPT);
        writes.push(Write::PutRecord(Box::new(Record {
            kind,
            key,
            revision,
            expires_at,
            value: [0].into(),
        })));
    }
    writes
}

/// What a trigger that says something else keeps of what it was: its pause, and what it has under way.
pub(super) fn carried(old: &TriggerState, new: TriggerState) -> TriggerState {
    let (pause, backfills) = (old.pause.clone(), old.backfills.clone());
    let mut state = TriggerState { pause, backfills, last: old.last, ..new };
    // Their moments would be others.
    for backfill in state.backfills.iter_mut().flat_map(|backfills| backfills.iter_mut()) {
        backfill.stop("a change of the trigger", state.cursor);
    }
    if state.delay_us > 0 && old.awaits_end {
        (state.next, state.fires_at, state.awaits_end) = (None, None, true);
    }
    state
}

/// A trigger that nobody knew before.
fn begin(trigger: &Trigger, seed: u64, of: &Merged<'_>) -> TriggerState {
    let Merged { namespace, version, now, calendars, .. } = *of;
    let mut state = TriggerState {
        namespace: namespace.clone(),
        version,
        definition: definition(trigger),
        cursor: now,
        next: None,
        fires_at: None,
        fired: 0,
        failures: 0,
        pause: None,
        last: None,
        awaits_end: false,
        delay_us: 0,
        follows: None,
        is_called: matches!(trigger.when, When::Webhook { .. }),
        heeds: !trigger.calendar.is_empty(),
        backfills: None,
        moved: None,
    };
    match &trigger.when {
        // A moment that has passed is late, not forgotten.
        When::At { at } => state.cursor = now.min(*at - Duration::from_micros(1)),
        When::Delay { delay } => {
            (state.next, state.fires_at) = (Some(now), Some(now));
            state.delay_us = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        }
        When::After { after } => {
            state.follows = Some(Box::new(Follows { after: Some(after.clone()), ..Follows::default() }));
        }
        When::Cron { .. } | When::Every { .. } | When::Webhook { .. } => {}
    }
    if !trigger.needs.is_empty() {
        let needs = Needed::begin(trigger, of.successes);
        state.follows = Some(Box::new(Follows { needs, ..Follows::default() }));
    }
    if let Some(schedule) = trigger.schedule(seed, calendars) {
        state.next = schedule.next(state.cursor.as_micros()).map(Timestamp::from_micros);
        state.fires_at = state.next.map(|next| trigger.fires_at(seed, next));
    }
    state
}

/// A hash of what decides when a trigger fires. What it gives to its runs, what it does about missed moments, and how callers
/// prove themselves, may change under way.
fn definition(trigger: &Trigger) -> u64 {
    let when = match &trigger.when {
        When::Webhook { .. } => When::Webhook { webhook: Default::default() },
        other => other.clone(),
    };
    let trigger = Trigger {
        when,
        parameters: Default::default(),
        misfire: Default::default(),
        pause_after: None,
        ..trigger.clone()
    };
    hash::bytes(&serde_json::to_vec(&trigger).unwrap_or_default())
}
