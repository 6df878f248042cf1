//! Reading the lines that a task appends to its progress file. Only whole lines count while it runs; the last one
//! may lack its end when the task is over. What one task says at once, and how long a line is, is limited: a flood
//! costs the task its own lines.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::attempt_dir::open_plain;

/// Bytes that are read at once; a longer line is cut, and of what is more than that the last is told.
const READ_BYTES: usize = 16 * 1024;

/// Bytes before the place that was read to, by which a file that was begun anew is known.
const MEMORY_BYTES: usize = 64;

/// How far the progress file was read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    offset: u64,
    /// The last bytes before the offset.
    memory: Vec<u8>,
    /// When the file had been written last, seconds and nanoseconds.
    written_at: (i64, i64),
}

impl Progress {
    /// The lines that were added. With `over`, also an unfinished last one.
    pub(crate) fn lines(&mut self, path: &Path, over: bool) -> Vec<String> {
        // No file, or none that can be read: no progress.
        let Ok(read) = self.read(path) else { return Vec::new() };
        let whole = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None if over || read.len() == READ_BYTES => read.len(),
            None => 0,
        };
        self.offset += whole as u64;
        self.memory.extend_from_slice(&read[..whole]);
        self.memory.drain(..self.memory.len().saturating_sub(MEMORY_BYTES));
        let lines = read[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    /// What is new. A task may append, or write each report over the one before: then what we remember is not there any
    /// more, or the same was written again.
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        // Most tasks report nothing, and are asked once more when they end.
        if fs::symlink_metadata(path)?.len() == 0 {
            *self = Self::default();
            return Ok(Vec::new());
        }
        let file = open_plain(path)?;
        let metadata = file.metadata()?;
        let written_at = (metadata.mtime(), metadata.mtime_nsec());
        let written_again = std::mem::replace(&mut self.written_at, written_at) != written_at;
        let mut bytes = self.read_on(&file, metadata.len())?;
        let gone = !bytes.starts_with(&self.memory);
        if gone || metadata.len() == self.offset && written_again {
            (self.offset, self.memory) = (0, Vec::new());
            bytes = self.read_on(&file, metadata.len())?;
        }
        if metadata.len() > self.offset + READ_BYTES as u64 {
            return self.jump(&file, metadata.len());
        }
        bytes.drain(..self.memory.len());
        Ok(bytes)
    }

    /// The last of what is new, from the beginning of a line: many writes may have one event, and no other may follow, so
    /// the latest line is not left for later.
    fn jump(&mut self, file: &File, length: u64) -> io::Result<Vec<u8>> {
        let from = length.saturating_sub((MEMORY_BYTES + READ_BYTES) as u64);
        let mut bytes = vec![0; (length - from) as usize];
        file.read_exact_at(&mut bytes, from)?;
        let tail = bytes.len() - READ_BYTES;
        let end = bytes[tail..bytes.len() - 1].iter().position(|byte| *byte == b'\n');
        let rest = bytes.split_off(end.map_or(tail, |end| tail + end + 1));
        self.offset = from + bytes.len() as u64;
        bytes.drain(..bytes.len().saturating_sub(MEMORY_BYTES));
        self.memory = bytes;
        Ok(rest)
    }

    /// What we remember, if it is there, and what follows up to `length`: what is added meanwhile has its own event.
    fn read_on(&self, file: &File, length: u64) -> io::Result<Vec<u8>> {
        let from = self.offset - self.memory.len() as u64;
        let room = length.saturating_sub(from).min((self.memory.len() + READ_BYTES) as u64);
        let mut bytes = vec![0; room as usize];
        let read = file.read_at(&mut bytes, from)?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_once_and_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let mut progress = Progress::default();
        assert!(progress.lines(&path, false).is_empty());
        fs::write(&path, "0.1\n0.2\n0.").unwrap();
        assert_eq!(progress.lines(&path, false), ["0.1", "0.2"]);
        assert!(progress.lines(&path, false).is_empty());
        fs::write(&path, "0.1\n0.2\n0.3\n0.4").unwrap();
        assert_eq!(progress.lines(&path, false), ["0.3"]);
        assert_eq!(progress.lines(&path, true), ["0.4"]);
        fs::write(&path, "1\n").unwrap();
        assert_eq!(progress.lines(&path, true), ["1"]);
    }

    #[test]
    fn of_many_lines_at_once_the_last_are_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let mut progress = Progress::default();
        let mut text = "0\n".to_owned();
        fs::write(&path, &text).unwrap();
        assert_eq!(progress.lines(&path, false), ["0"]);
        for last in [20_000, 40_000] {
            text.extend((last - 10_000..=last).map(|number| format!("{number}\n")));
            fs::write(&path, format!("{text}4")).unwrap();
            let lines = progress.lines(&path, false);
            assert_eq!(lines.last(), Some(&last.to_string()));
            assert!(lines.iter().all(|line| line.len() == 5), "all are whole");
            assert!(progress.lines(&path, false).is_empty());
            fs::write(&path, format!("{text}42\n")).unwrap();
            assert_eq!(progress.lines(&path, false), ["42"]);
            text.push_str("42\n");
        }
        // A line that is longer than all that is read, unfinished and finished.
        for (end, over) in [("", false), ("", true), ("\n", false)] {
            let mut progress = Progress::default();
            fs::write(&path, "x".repeat(3 * READ_BYTES) + end).unwrap();
            let lines = progress.lines(&path, over);
            assert_eq!(lines.len(), 1);
            assert!(lines[0].len() + end.len() == READ_BYTES);
            assert!(progress.lines(&path, over).is_empty());
        }
    }

    #[test]
    fn a_report_over_the_one_before_is_new() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let mut progress = Progress::default();
        let mut at = std::time::SystemTime::UNIX_EPOCH;
        // As long, longer, shorter, the same again; and longer than what is remembered.
        let long = "x".repeat(200);
        for line in ["10%", "20%", "100%", "5%", "5%", "0.5 a", &long, "0.6", &long, &long] {
            fs::write(&path, format!("{line}\n")).unwrap();
            at += std::time::Duration::from_millis(1);
            File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
            assert_eq!(progress.lines(&path, false), [line]);
            // Another event of the same write says nothing new.
            assert!(progress.lines(&path, false).is_empty(), "{line}");
        }
    }
}
