//! Reading the lines that a task appends to its progress file. Only whole lines count while it runs; the last one
//! may lack its end when the task is over. What one task says at once, and how long a line is, is limited: a flood
//! costs the task its own lines.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::attempt_dir::open_plain;

/// Bytes that are read at once; a longer line is cut.
const READ_BYTES: usize = 16 * 1024;

/// How far the progress file was read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    offset: u64,
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
        let lines = read[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    fn read(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        let mut file = open_plain(path)?;
        if file.metadata()?.len() < self.offset {
            // The task began the file anew.
            self.offset = 0;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(READ_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
}
