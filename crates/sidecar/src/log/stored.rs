//! Reading log files by offsets of the stream, and finding the ends of frames without reading their content.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use mainspring_model::log::{HEADER_BYTES, MARK_BYTES, frames, whole_frames};

/// The largest frame: a header and what one read of a pipe gives.
pub(crate) const FRAME_BYTES_MAX: usize = HEADER_BYTES + 64 * 1024;

/// Which part of the stream a finished log file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes from the beginning.
    pub(crate) head: u64,
    /// Bytes that are missing after them; if any are, a mark stands in their place.
    pub(crate) gap: u64,
    /// The length of the stream.
    pub(crate) end: u64,
}

impl Extent {
    /// Whole frames from `offset` on, at most `limit` bytes; and where they really begin.
    pub(crate) fn read(&self, path: &Path, offset: u64, limit: usize) -> io::Result<(u64, Vec<u8>)> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((self.end, Vec::new())),
            Err(error) => return Err(error),
        };
        if offset < self.head {
            return Ok((offset, read(&file, offset, self.head, limit)?));
        }
        let offset = offset.max(self.head + self.gap);
        let moved = |offset: u64| if self.gap == 0 { offset } else { offset - self.gap + MARK_BYTES as u64 };
        Ok((offset, read(&file, moved(offset), moved(self.end), limit)?))
    }
}

/// Whole frames of a file from `at` on, not beyond `end`.
pub(crate) fn read(file: &File, at: u64, end: u64, limit: usize) -> io::Result<Vec<u8>> {
    let length = (end.saturating_sub(at)).min(limit.max(FRAME_BYTES_MAX) as u64) as usize;
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], at + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    bytes.truncate(whole_frames(&bytes, limit));
    Ok(bytes)
}

/// Where the last whole frame after `at` ends: what follows was cut short by a crash.
pub(crate) fn frames_end(file: &File, at: u64) -> io::Result<u64> {
    walk(file, at, u64::MAX).map(|(end, _)| end)
}

/// The whole frames at the start of a file that cover at least `bytes`: their length and their output.
pub(crate) fn frames_covering(file: &File, bytes: u64) -> io::Result<(u64, u64)> {
    walk(file, 0, bytes)
}

fn walk(file: &File, mut at: u64, until: u64) -> io::Result<(u64, u64)> {
    let size = file.metadata()?.len();
    let mut content_bytes = 0;
    let mut header = [0; HEADER_BYTES];
    while at < until && at + HEADER_BYTES as u64 <= size {
        file.read_exact_at(&mut header, at)?;
        let length = header.last_chunk().map_or(0, |length| u32::from_le_bytes(*length));
        let next = at + HEADER_BYTES as u64 + u64::from(length);
        // A header alone is a frame only if its kind is known: zero the length and ask.
        header[9..].fill(0);
        if next > size || frames(&header).next().is_none() {
            break;
        }
        content_bytes += u64::from(length);
        at = next;
    }
    Ok((at, content_bytes))
}
