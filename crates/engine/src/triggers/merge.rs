//! A new version of a job: what it makes of the rows of its triggers, and how the owner hears of it.

use std::time::Duration;

use mainspring_model::spec::{Trigger, When};
use mainspring_model::{Calendars, CellId, JobId, JobSpec, Namespace, Timestamp, hash};
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery, Write};

use super::news;
use super::row::{Follows, PAGE_ROWS, TriggerKey, TriggerRow, TriggerState};

/// Jobs whose triggers somebody else changed: by cell and job.
const NEWS: RecordKind = RecordKind(1_003);
/// How long an owner may take to hear of news.
const NEWS_KEPT: Duration = Duration::from_secs(3_600);

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
    /// The revision of the news that stands, if any does.
    pub news: Option<u64>,
    /// Triggers that were removed not long ago ([`TriggerRow::read_gone`]).
    pub gone: &'a [(TriggerKey, u64)],
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
            None => {
                let gone = of.gone.iter().find(|(gone, _)| *gone == key);
                TriggerRow { revision: gone.map_or(1, |(_, revision)| revision + 1), key, state: fresh }
            }
            Some(row) => TriggerRow {
                key,
                revision: row.revision + 1,
                state: match row.state.definition == fresh.definition {
                    true => fresh.needs_of(TriggerState { version, heeds: fresh.heeds, ..row.state.put() }),
                    false => carried(&row.state, fresh, of.now),
                },
            },
        };
        writes.push(Write::PutRecord(Box::new(row.record(cell))));
    }
    let is_gone = |row: &&TriggerRow| !triggers.iter().any(|trigger| *trigger.name.as_str() == *row.key.name);
    for row in old.iter().filter(is_gone) {
        writes.push(Write::PutRecord(Box::new(row.tombstone(cell, of.now))));
    }
    if !writes.is_empty() {
        // For the owner.
        writes.push(news::tell(news_key(cell, job), of.news, of.now, NEWS_KEPT));
    }
    writes
}

/// What a trigger that says something else keeps of what it was: its pause, and what it has under way.
pub(super) fn carried(old: &TriggerState, new: TriggerState, now: Timestamp) -> TriggerState {
    let (pause, backfills) = (old.pause.clone(), old.backfills.clone());
    let mut state = TriggerState { pause, backfills, last: old.last, ..new };
    if state.is_called && old.is_called {
        // Calls of before are not counted, wherever the clock is.
        state.cursor = state.cursor.max(old.reached());
    }
    // Their moments would be others.
    for backfill in state.backfills.iter_mut().flat_map(|backfills| backfills.iter_mut()) {
        backfill.stop("a change of the trigger", now);
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
        let needs = trigger.needs.iter().map(|need| need.job.clone()).collect();
        state.follows = Some(Box::new(Follows { needs, ..Follows::default() }));
    }
    if let Some(schedule) = trigger.schedule(seed, calendars) {
        state.next = schedule.next(state.cursor.as_micros()).map(Timestamp::from_micros);
        state.fires_at = state.next.map(|next| trigger.fires_at(seed, next));
    }
    state
}

/// A hash of what decides when a trigger fires. What it gives to its runs, what it needs and does about missed moments, and how
/// callers prove themselves, may change under way.
fn definition(trigger: &Trigger) -> u64 {
    let when = match &trigger.when {
        When::Webhook { .. } => When::Webhook { webhook: Default::default() },
        other => other.clone(),
    };
    let trigger = Trigger {
        when,
        parameters: Default::default(),
        misfire: Default::default(),
        needs: Vec::new(),
        pause_after: None,
        ..trigger.clone()
    };
    hash::bytes(&serde_json::to_vec(&trigger).unwrap_or_default())
}
