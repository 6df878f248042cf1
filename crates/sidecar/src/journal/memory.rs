//! What the records of a journal add up to.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::record::{FinishedRecord, JOURNAL_VERSION, Record, StartedRecord, StartingRecord};
use crate::key::AttemptKey;

/// Keys that are over and still known.
const OVER_MAX: usize = 4096;

/// What is known of an attempt.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// It may have been executed.
    Starting(Box<StartingRecord>),
    /// It may have been, or was, as this process.
    Started(Box<StartingRecord>, Box<StartedRecord>),
    /// It ended and is not acknowledged.
    Finished(Box<FinishedRecord>),
}

/// The sum of all records.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) node: Option<[u8; 16]>,
    pub(super) entries: FxHashMap<AttemptKey, Entry>,
    pub(super) over: FxHashMap<AttemptKey, bool>,
    over_order: VecDeque<AttemptKey>,
}

impl Memory {
    /// Follows a record, written now or read back.
    pub(super) fn apply(&mut self, record: Record) {
        match record {
            Record::Header { .. } => {}
            Record::Node(node) => self.node = Some(node),
            Record::Starting(starting) => {
                self.over.remove(&starting.key);
                self.entries.insert(starting.key, Entry::Starting(starting));
            }
            Record::Started(started) => {
                let before = self.entries.remove(&started.key);
                if let Some(Entry::Starting(starting) | Entry::Started(starting, _)) = before {
                    self.entries.insert(started.key, Entry::Started(starting, started));
                }
            }
            Record::Finished(finished) => {
                self.entries.insert(finished.key, Entry::Finished(finished));
            }
            Record::Extended { key, deadline_us } => self.extend(key, deadline_us),
            Record::Over { key, refused } => {
                self.entries.remove(&key);
                if self.over.insert(key, refused).is_none() {
                    self.over_order.push_back(key);
                }
                if self.over_order.len() > OVER_MAX
                    && let Some(oldest) = self.over_order.pop_front()
                {
                    self.over.remove(&oldest);
                }
            }
        }
    }

    fn extend(&mut self, key: Option<AttemptKey>, deadline_us: Option<u64>) {
        for (candidate, entry) in &mut self.entries {
            if let Entry::Starting(starting) | Entry::Started(starting, _) = entry {
                let chosen = key.map_or(starting.deadline_us.is_some(), |key| key == *candidate);
                if chosen {
                    starting.deadline_us = deadline_us;
                }
            }
        }
    }

    /// The shortest journal that says the same.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        let header = [Record::Header { version: JOURNAL_VERSION }].into_iter();
        let over = self.over_order.iter().filter_map(|key| {
            let refused = *self.over.get(key)?;
            Some(Record::Over { key: *key, refused })
        });
        let entries = self.entries.values().flat_map(|entry| match entry {
            Entry::Starting(starting) => vec![Record::Starting(starting.clone())],
            Entry::Started(starting, started) => {
                vec![Record::Starting(starting.clone()), Record::Started(started.clone())]
            }
            Entry::Finished(finished) => vec![Record::Finished(finished.clone())],
        });
        header.chain(self.node.map(Record::Node)).chain(over).chain(entries)
    }
}
