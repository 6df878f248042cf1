//! What a cell remembers about jobs beyond their runs: the last starts under a rate limit, the losses that make a suspect,
//! the node of the last success. It is kept as records, written with the runs that it follows from, so that the next owner
//! knows it too.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_model::{CellId, JobId, NodeId, Timestamp};
use mainspring_store::{Conflict, Record, RecordKey, RecordKind, RecordQuery, Write};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Tenure};
use crate::outbox::Written;
use crate::rate::Window;

/// The kind of the records.
const MEMORY: RecordKind = RecordKind(1_000);
/// Records read at once.
const PAGE_ROWS: usize = 1_000;
/// What says nothing any more may be removed after this: nobody's clock is so far off.
const EXPIRES_AFTER: Duration = Duration::from_secs(3_600);
/// Records that expired are removed within this.
const TIDIED_WITHIN: Duration = Duration::from_secs(86_400);
/// How a job fared is remembered for so long after it last ran: it may be gone for good.
const HEALTH_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// What a memory is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum About {
    /// How a job fares.
    Health(JobId),
    /// The last starts of a key of a job.
    Starts(JobId, Box<str>),
}

/// How a job fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Health {
    /// Attempts in a row that ended with the loss of their node, counted once per silence.
    pub(crate) losses: u32,
    pub(crate) lost_at: Option<Timestamp>,
    /// The node of the last success, for sticky jobs.
    pub(crate) sticky: Option<NodeId>,
}

#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The revisions of the records that are known, and when they expire.
    revisions: FxHashMap<About, (u64, Option<Timestamp>)>,
}

impl Memory {
    /// Whether a record that is still true should be written again, so that it does not expire.
    fn ages(&self, about: &About, now: Timestamp) -> bool {
        let expires_at = self.revisions.get(about).and_then(|(_, expires_at)| *expires_at);
        expires_at.is_some_and(|expires_at| now + HEALTH_KEPT / 2 > expires_at && now < expires_at)
    }

    /// Whether nobody need know it any more, and whoever tidies up has most likely removed it.
    fn is_gone(&self, about: &About, now: Timestamp) -> bool {
        let expires_at = self.revisions.get(about).and_then(|(_, expires_at)| *expires_at);
        expires_at.is_some_and(|expires_at| expires_at + TIDIED_WITHIN <= now)
    }

    fn forget(&mut self, gone: impl Fn(&Self, &About) -> bool) {
        let gone: Vec<About> = self.revisions.keys().filter(|about| gone(self, about)).cloned().collect();
        for about in gone {
            self.revisions.remove(&about);
        }
    }

    fn record(
        &mut self,
        cell: CellId,
        about: &About,
        value: Vec<u8>,
        expires_at: Option<Timestamp>,
    ) -> Write {
        let (revision, expires) = self.revisions.entry(about.clone()).or_insert((0, None));
        (*revision, *expires) = (*revision + 1, expires_at);
        let key = about.key(cell);
        Write::PutRecord(Box::new(Record {
            kind: MEMORY,
            key,
            revision: *revision,
            expires_at,
            value: value.into(),
        }))
    }
}

impl About {
    /// The cell, the job, and what about it; so that a cell's memories stand together.
    fn key(&self, cell: CellId) -> RecordKey {
        let mut key = cell.0.to_be_bytes().to_vec();
        match self {
            Self::Health(job) => key.extend_from_slice(job.as_bytes()),
            Self::Starts(job, text) => {
                key.extend_from_slice(job.as_bytes());
                key.push(b'/');
                key.extend_from_slice(text.as_bytes());
            }
        }
        key.into()
    }

    fn of_key(key: &RecordKey) -> Option<Self> {
        let (_, rest) = key.as_bytes().split_at_checked(size_of::<CellId>())?;
        let (job, rest) = rest.split_first_chunk::<16>()?;
        let job = JobId::from_bytes(*job);
        match rest.split_first() {
            None => Some(Self::Health(job)),
            Some((b'/', text)) => Some(Self::Starts(job, std::str::from_utf8(text).ok()?.into())),
            Some(_) => None,
        }
    }
}

impl Tenure {
    /// What earlier owners of a cell wrote down, from the first record or after one.
    pub fn memories_of(cell: CellId, after: Option<RecordKey>) -> RecordQuery {
        let prefix = Box::from(cell.0.to_be_bytes());
        RecordQuery { kind: MEMORY, prefix, after, reverse: false, limit: PAGE_ROWS }
    }
}

impl Cell {
    /// Knows what earlier owners wrote down. What cannot be read is left out.
    pub(crate) fn remember(&mut self, records: &[Record]) {
        for record in records {
            let Some(about) = About::of_key(&record.key) else { continue };
            match &about {
                About::Health(job) => {
                    if let Ok(health) = serde_json::from_slice(&record.value) {
                        self.shapes.remembered.insert(*job, health);
                    }
                }
                About::Starts(job, key) => {
                    if let Ok(window) = serde_json::from_slice::<Window>(&record.value) {
                        self.rates.insert(*job, key, window);
                    }
                }
            }
            self.memory.revisions.insert(about, (record.revision, record.expires_at));
        }
    }

    /// Changes how a job fares, and writes it down if it did.
    pub(crate) fn change_health(&mut self, job_ix: usize, change: impl FnOnce(&mut Health)) {
        let job = &mut self.shapes.jobs[job_ix];
        let was = job.health;
        change(&mut job.health);
        let is = job.health;
        let ages = is != Health::default() && self.memory.ages(&About::Health(job.id), self.last_now);
        if is != was || ages {
            self.outbox.memories.insert(About::Health(job.id));
        }
        if (is.losses > 0) != (was.losses > 0) {
            self.suspicion_changed(job_ix);
        }
    }

    /// Up to so many records that changed: those of the runs that were just written first, because a start is written with the run that it is (I21).
    pub(crate) fn cut_memories(&mut self, written: &[Written], max: usize) -> Vec<(About, Write)> {
        let mut with_runs = BTreeSet::new();
        if self.outbox.memories.len() > max {
            let starts = written.iter().filter_map(Written::run).map(|ix| &self.runs.entries[ix]);
            let starts = starts.map(|entry| About::Starts(entry.head.job, entry.rate_key().into()));
            with_runs.extend(starts.filter(|about| self.outbox.memories.contains(about)));
        }
        let mut cut = Vec::new();
        while cut.len() < max
            && let Some(about) = with_runs.pop_first().or_else(|| self.outbox.memories.first().cloned())
        {
            self.outbox.memories.remove(&about);
            let (value, expires_at) = match &about {
                About::Health(job) => {
                    let health = self.shapes.health(*job);
                    let says_nothing = health == Health::default();
                    let kept = if says_nothing { Duration::ZERO } else { HEALTH_KEPT };
                    (serde_json::to_vec(&health), Some(self.last_now + kept))
                }
                About::Starts(job, key) => match self.rates.window(*job, key) {
                    Some(window) => (serde_json::to_vec(window), window.closes_at()),
                    None => continue,
                },
            };
            // Plain data can always be written; what could not be would only be forgotten by the next owner.
            let Ok(value) = value else { continue };
            let expires_at = expires_at.map(|at| at + EXPIRES_AFTER);
            let write = self.memory.record(self.config.cell, &about, value, expires_at);
            cut.push((about, write));
        }
        cut
    }

    /// The store holds another revision than was thought, because whoever tidies up removed it or it was forgotten here: it
    /// is written again.
    pub(crate) fn memory_conflict(&mut self, about: About, conflict: &Conflict) {
        let revision = match conflict {
            Conflict::Version(actual) => *actual,
            Conflict::Exists => 1,
            Conflict::Missing | Conflict::KeyTaken(_) => 0,
        };
        self.memory.revisions.insert(about.clone(), (revision, None));
        self.outbox.memories.insert(about);
    }

    /// Forgets what expired. A record that is written again later meets what the store has of it, if anything.
    pub(crate) fn sweep_memories(&mut self, now: Timestamp) {
        let Self { memory, shapes, outbox, .. } = self;
        let is_gone =
            |memory: &Memory, about: &About| memory.is_gone(about, now) && !outbox.memories.contains(about);
        shapes.forget_healths(|job| is_gone(memory, &About::Health(job)));
        memory.forget(is_gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_expired_is_forgotten_when_nobody_has_it_any_more() {
        let mut memory = Memory::default();
        let (brief, lasting) = (About::Health(JobId::MIN), About::Starts(JobId::MIN, "k".into()));
        let expires_at = Timestamp::ZERO + HEALTH_KEPT;
        let _ = memory.record(CellId(0), &brief, Vec::new(), Some(expires_at));
        let _ = memory.record(CellId(0), &lasting, Vec::new(), None);
        assert!(!memory.ages(&brief, Timestamp::ZERO), "it was just written");
        assert!(memory.ages(&brief, expires_at - HEALTH_KEPT / 4));
        for (after, left) in [(Duration::ZERO, 2), (TIDIED_WITHIN, 1), (HEALTH_KEPT, 1)] {
            memory.forget(|memory, about| memory.is_gone(about, expires_at + after));
            assert_eq!(memory.revisions.len(), left, "{after:?} after it expired");
        }
    }
}
