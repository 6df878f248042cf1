//! What a cell remembers about jobs beyond their runs: the last starts under a rate limit, the losses that make a suspect,
//! the node of the last success. It is kept as records, written with the runs that it follows from, so that the next owner
//! knows it too.

use std::time::Duration;

use mainspring_model::{CellId, JobId, NodeId, Timestamp};
use mainspring_store::{Conflict, Record, RecordKey, RecordKind, RecordQuery, Write};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Tenure};
use crate::rate::Window;

/// The kind of the records.
const MEMORY: RecordKind = RecordKind(1_000);
/// Records read at once.
const PAGE_ROWS: usize = 1_000;
/// What says nothing any more may be removed after this: nobody's clock is so far off.
const EXPIRES_AFTER: Duration = Duration::from_secs(3_600);

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
    /// The revisions of the records that are known.
    revisions: FxHashMap<About, u64>,
}

impl Memory {
    fn record(
        &mut self,
        cell: CellId,
        about: &About,
        value: Vec<u8>,
        expires_at: Option<Timestamp>,
    ) -> Write {
        let revision = self.revisions.entry(about.clone()).or_insert(0);
        *revision += 1;
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
            self.memory.revisions.insert(about, record.revision);
        }
    }

    /// Changes how a job fares, and writes it down if it did.
    pub(crate) fn change_health(&mut self, job: usize, change: impl FnOnce(&mut Health)) {
        let job = &mut self.shapes.jobs[job];
        let was = job.health;
        change(&mut job.health);
        if job.health != was {
            self.outbox.memories.insert(About::Health(job.id));
        }
    }

    /// Up to so many records that changed.
    pub(crate) fn cut_memories(&mut self, max: usize) -> Vec<(About, Write)> {
        let mut cut = Vec::new();
        while cut.len() < max
            && let Some(about) = self.outbox.memories.pop_first()
        {
            let (value, expires_at) = match &about {
                About::Health(job) => {
                    let health = self.shapes.health(*job);
                    (serde_json::to_vec(&health), (health == Health::default()).then_some(self.last_now))
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
        self.memory.revisions.insert(about.clone(), revision);
        self.outbox.memories.insert(about);
    }
}
