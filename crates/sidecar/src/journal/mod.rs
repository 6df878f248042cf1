//! What was started and how it ended, on disk until it is acknowledged; and the node's id.
//!
//! Append-only, checksummed, one write per turn of the loop. The invariant: a record is in the file before anything
//! follows from it (an exec, an event), and on the disk itself where the order says at most once. The page cache
//! survives a kill of the sidecar; only a crash of the machine tells the two apart, and that ends every task too.
//!
//! The file is rewritten when it is mostly history. What a key's history was is gone then, but the latest keys that
//! are over stay known, so that an order that arrives again is not executed again.

mod record;

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::key::AttemptKey;
pub(crate) use record::{FinishedRecord, JOURNAL_VERSION, Record, StartedRecord, StartingRecord};

/// Keys that are over and still known.
const OVER_MAX: usize = 4096;

/// What is known of an attempt.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// It may have been executed.
    Starting(Box<StartingRecord>),
    /// It was, as this process.
    Started(Box<StartingRecord>, Box<StartedRecord>),
    /// It ended and is not acknowledged.
    Finished(Box<FinishedRecord>),
}

/// The open journal.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    length: u64,
    pending: Vec<u8>,
    sync_pending: bool,
    compact_bytes: u64,
    memory: Memory,
}

#[derive(Default)]
struct Memory {
    node: Option<[u8; 16]>,
    entries: FxHashMap<AttemptKey, Entry>,
    over: FxHashMap<AttemptKey, bool>,
    over_order: VecDeque<AttemptKey>,
}

impl Journal {
    /// Reads the journal at `path`, or makes one. What a crash left half written at the end is cut off.
    pub(crate) fn open(path: &Path, compact_bytes: u64) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(Error::at("open", path))?;
        let bytes = fs::read(path).map_err(Error::at("read", path))?;
        let mut journal = Self {
            path: path.to_owned(),
            file,
            length: 0,
            pending: Vec::new(),
            sync_pending: false,
            compact_bytes,
            memory: Memory::default(),
        };
        journal.replay(&bytes)?;
        if journal.length < bytes.len() as u64 {
            journal.file.set_len(journal.length).map_err(Error::at("cut", path))?;
        }
        if journal.length == 0 {
            journal.append(Record::Header { version: JOURNAL_VERSION });
            journal.flush().map_err(Error::at("write", path))?;
        }
        Ok(journal)
    }

    /// The node's id.
    pub(crate) fn node(&self) -> Option<[u8; 16]> {
        self.memory.node
    }

    /// What is known of an attempt that is not over.
    pub(crate) fn entry(&self, key: &AttemptKey) -> Option<&Entry> {
        self.memory.entries.get(key)
    }

    /// Everything that is not over.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&AttemptKey, &Entry)> {
        self.memory.entries.iter()
    }

    /// Whether the attempt was executed and acknowledged, as far back as is known.
    pub(crate) fn is_over(&self, key: &AttemptKey) -> bool {
        self.memory.over.get(key).is_some_and(|refused| !refused)
    }

    /// Remembers `record` and writes it with the next [`Journal::flush`].
    pub(crate) fn append(&mut self, record: Record) {
        record::encode(&record, &mut self.pending);
        self.memory.apply(record);
    }

    /// The next flush also reaches the disk.
    pub(crate) fn sync_next(&mut self) {
        self.sync_pending = true;
    }

    /// Writes what was appended. On an error it stays pending, and a half-written record is cut off.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            if let Err(error) = self.file.write_all_at(&self.pending, self.length) {
                let _ = self.file.set_len(self.length);
                return Err(error);
            }
            self.length += self.pending.len() as u64;
            self.pending.clear();
        }
        if self.sync_pending {
            self.file.sync_data()?;
            self.sync_pending = false;
        }
        Ok(())
    }

    /// Takes back records that could not be written: their attempt was not executed.
    pub(crate) fn withdraw(&mut self, key: &AttemptKey) {
        self.memory.entries.remove(key);
        let mut kept = Vec::new();
        let mut rest = self.pending.as_slice();
        while let Some((record, length)) = record::decode(rest) {
            let withdrawn = matches!(&record, Record::Starting(starting) if starting.key == *key);
            if !withdrawn {
                kept.extend_from_slice(&rest[..length]);
            }
            rest = &rest[length..];
        }
        self.pending = kept;
    }

    /// Rewrites the file if it is long and mostly history.
    pub(crate) fn compact_if_due(&mut self) -> io::Result<()> {
        let live = (self.memory.entries.len() as u64 + 1) * 512 + self.memory.over.len() as u64 * 40;
        if self.length < self.compact_bytes || self.length < 2 * live || !self.pending.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for record in self.memory.records() {
            record::encode(&record, &mut bytes);
        }
        let fresh = self.path.with_extension("fresh");
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        sync_directory(&self.path)?;
        self.file = file;
        self.length = bytes.len() as u64;
        Ok(())
    }

    fn replay(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut rest = bytes;
        while let Some((record, length)) = record::decode(rest) {
            if let Record::Header { version } = record
                && version > JOURNAL_VERSION
            {
                return Err(Error::Journal(format!("version {version} is later than {JOURNAL_VERSION}")));
            }
            self.memory.apply(record);
            self.length += length as u64;
            rest = &rest[length..];
        }
        if self.length == 0 && !bytes.is_empty() {
            // Never start from nothing over a journal that cannot be read: what it knew would be executed again.
            return Err(Error::Journal(format!("{} is damaged from its first byte", self.path.display())));
        }
        Ok(())
    }
}

/// A new or renamed file is only sure to be found again once its directory is on disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

impl Memory {
    fn apply(&mut self, record: Record) {
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

    fn records(&self) -> impl Iterator<Item = Record> {
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
