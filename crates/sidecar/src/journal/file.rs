//! The file of the journal: appended to, read back at the start, rewritten when it is mostly history.
//!
//! A half-written end is cut off, on a failed write as well as after a crash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::memory::{Entry, Memory};
use super::record::{self, JOURNAL_VERSION, Record};
use crate::crash_point::CrashPoints;
use crate::error::Error;
use crate::key::AttemptKey;

/// The open journal.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    length: u64,
    pending: Vec<u8>,
    sync_pending: bool,
    compact_bytes: u64,
    memory: Memory,
    pub(crate) crash: CrashPoints,
}

impl Journal {
    /// Reads the journal at `path`, or makes one. What a crash left half written at the end is cut off.
    pub(crate) fn open(path: &Path, compact_bytes: u64, crash: CrashPoints) -> Result<Self, Error> {
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
            crash,
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
            self.crash.pass();
            if self.crash.is_next() {
                // A write that a crash interrupts.
                let _ = self.file.write_all_at(&self.pending[..self.pending.len() / 2], self.length);
            }
            self.crash.pass();
            if let Err(error) = self.file.write_all_at(&self.pending, self.length) {
                let _ = self.file.set_len(self.length);
                return Err(error);
            }
            self.length += self.pending.len() as u64;
            self.pending.clear();
            self.crash.pass();
        }
        if self.sync_pending {
            self.file.sync_data()?;
            self.sync_pending = false;
        }
        Ok(())
    }

    /// Whether all that was appended is in the file.
    pub(crate) fn is_written(&self) -> bool {
        self.pending.is_empty() && !self.sync_pending
    }

    /// Takes back records that could not be written: their attempt was not executed.
    pub(crate) fn withdraw(&mut self, key: &AttemptKey) {
        self.memory.entries.remove(key);
        let mut kept = Vec::new();
        let mut rest = self.pending.as_slice();
        while let Some((record, length)) = record::decode(rest) {
            let withdrawn = match &record {
                Record::Starting(starting) => starting.key == *key,
                Record::Started(started) => started.key == *key,
                _ => false,
            };
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
        self.crash.pass();
        fs::rename(&fresh, &self.path)?;
        self.crash.pass();
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
        let mut header = Vec::new();
        record::encode(&Record::Header { version: JOURNAL_VERSION }, &mut header);
        // A part of the header is the first write, which a crash interrupted: nothing was journalled yet.
        if self.length == 0 && !header.starts_with(bytes) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{StartedRecord, StartingRecord};
    use crate::protocol::LogCaps;

    fn key(number: u32) -> AttemptKey {
        AttemptKey { run: [3; 16], attempt: number, epoch: 1 }
    }

    fn start(journal: &mut Journal, key: AttemptKey) {
        journal.append(Record::Starting(Box::new(StartingRecord {
            key,
            boot: [1; 16],
            started_at_us: 5,
            grace_ms: 10,
            stop_signal: 15,
            log: LogCaps::default(),
            timeout_at_us: None,
            deadline_us: Some(9),
            result_bytes_max: 100,
            durable: false,
        })));
        let started = StartedRecord { key, pid: 7, start_ticks: 8, pipes: [1, 2], cgroup: Vec::new() };
        journal.append(Record::Started(Box::new(started)));
    }

    #[test]
    fn history_is_compacted_and_what_counts_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut journal = Journal::open(&path, 100_000, CrashPoints::default()).unwrap();
        journal.append(Record::Node([4; 16]));
        start(&mut journal, key(0));
        let mut longest = 0;
        for number in 1..8_000 {
            start(&mut journal, key(number));
            journal.append(Record::Over { key: key(number), refused: false });
            journal.append(Record::Extended { key: None, deadline_us: Some(u64::from(number)) });
            journal.flush().unwrap();
            journal.compact_if_due().unwrap();
            longest = longest.max(journal.length);
        }
        assert!(longest < 500_000, "{longest} bytes");
        let journal = Journal::open(&path, 10_000, CrashPoints::default()).unwrap();
        assert_eq!(journal.node(), Some([4; 16]));
        assert_eq!(journal.entries().count(), 1);
        let Some(Entry::Started(starting, started)) = journal.entry(&key(0)) else {
            panic!("it is forgotten")
        };
        assert_eq!((starting.deadline_us, started.pid), (Some(7_999), 7));
        assert!(journal.is_over(&key(7_999)) && journal.is_over(&key(5_000)));
    }

    #[test]
    fn every_cut_of_a_journal_can_be_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut journal = Journal::open(&path, 10_000, CrashPoints::default()).unwrap();
        start(&mut journal, key(1));
        start(&mut journal, key(2));
        journal.flush().unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::open(&path, 10_000, CrashPoints::default()).unwrap();
            start(&mut journal, key(3));
            journal.flush().unwrap();
            let journal = Journal::open(&path, 10_000, CrashPoints::default()).unwrap();
            assert!(matches!(journal.entry(&key(3)), Some(Entry::Started(..))), "cut at {cut}");
        }
    }

    #[test]
    fn an_order_that_was_withdrawn_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut journal = Journal::open(&path, 10_000, CrashPoints::default()).unwrap();
        start(&mut journal, key(1));
        start(&mut journal, key(2));
        journal.withdraw(&key(1));
        journal.flush().unwrap();
        let journal = Journal::open(&path, 10_000, CrashPoints::default()).unwrap();
        assert!(journal.entry(&key(1)).is_none() && journal.entry(&key(2)).is_some());
    }
}
