//! The bytes of a log that grows: its beginning and its end, however much comes between. Small ones are in memory, others in
//! files without a name.
//!
//! Offsets count as if nothing were ever dropped. Whoever reads where nothing is any more gets a mark that says how much is
//! missing, and goes on behind it.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::log::{self, FrameKind, MARK_BYTES};
use tempfile::SpooledTempFile;

use super::captured::{Captured, Gap};

/// Parts up to this size need no file.
const IN_MEMORY_MAX: usize = 128 * 1024;

/// How much is held of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Of its beginning.
    pub(super) head_bytes: u64,
    /// The end is held in two parts of this size; when both are full, the older one goes.
    pub(super) part_bytes: u64,
}

impl Bounds {
    /// As much as a node holds of a log itself.
    pub(super) const DEFAULT: Self = Self { head_bytes: 8 * 1024 * 1024, part_bytes: 4 * 1024 * 1024 };
}

#[derive(Debug)]
pub(super) struct Spool {
    folder: Arc<Path>,
    bounds: Bounds,
    head: Segment,
    tail: VecDeque<Segment>,
    /// Output that is gone between the two, in bytes.
    dropped: u64,
}

#[derive(Debug)]
struct Segment {
    file: SpooledTempFile,
    begin: u64,
    length: u64,
    /// Bytes of output in it.
    output: u64,
    first_at_us: i64,
}

impl Spool {
    /// An empty one, with its files in a folder.
    pub(super) fn new(folder: Arc<Path>, bounds: Bounds) -> Self {
        let head = Segment::new(&folder, 0);
        Self { folder, bounds, head, tail: VecDeque::new(), dropped: 0 }
    }

    /// Where it ends.
    pub(super) fn end(&self) -> u64 {
        self.tail.back().map_or(self.head.length, Segment::end)
    }

    /// Whether a file has to be touched.
    fn is_on_disk(&self) -> bool {
        self.head.file.is_rolled() || self.tail.iter().any(|segment| segment.file.is_rolled())
    }

    /// Appends whole frames.
    pub(super) fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        let length = frames.len() as u64;
        if self.tail.is_empty() && self.head.length + length <= self.bounds.head_bytes {
            return self.head.append(frames);
        }
        let end = self.end();
        if self.tail.back().is_none_or(|last| last.length + length > self.bounds.part_bytes) {
            self.tail.push_back(Segment::new(&self.folder, end));
        }
        if let Some(last) = self.tail.back_mut() {
            last.append(frames)?;
        }
        while self.tail.len() > 2 {
            self.dropped += self.tail.pop_front().map_or(0, |oldest| oldest.output);
        }
        Ok(())
    }

    /// Bytes from `offset` on, at most about `limit`, and where they begin: later than asked where something was dropped.
    pub(super) fn read(&mut self, offset: u64, limit: usize) -> io::Result<(u64, Bytes)> {
        let mark = self.mark();
        if offset < self.head.end() {
            return Ok((offset, self.head.read(offset, limit)?.into()));
        }
        for segment in &mut self.tail {
            if let Some((begin, mark)) = mark.filter(|_| offset < segment.begin) {
                let mut bytes = mark.to_vec();
                bytes.append(&mut segment.read(segment.begin, limit)?);
                return Ok((begin, bytes.into()));
            }
            if offset < segment.end() {
                return Ok((offset, segment.read(offset, limit)?.into()));
            }
        }
        Ok((offset, Bytes::new()))
    }

    /// Whether so many bytes more can be appended without touching a file.
    pub(super) fn stays_in_memory(&self, bytes: usize) -> bool {
        let last = self.tail.back().unwrap_or(&self.head);
        !self.is_on_disk() && last.length + bytes as u64 <= IN_MEMORY_MAX as u64
    }

    /// Everything that is here, with a mark for what is not.
    pub(super) fn whole(&mut self) -> io::Result<Captured> {
        let mut bytes = self.head.read(0, usize::MAX)?;
        if let Some((_, mark)) = self.mark() {
            bytes.extend_from_slice(&mark);
        }
        for segment in &mut self.tail {
            bytes.append(&mut segment.read(segment.begin, usize::MAX)?);
        }
        Ok(Captured { frames: bytes.into(), gap: self.gap() })
    }

    fn gap(&self) -> Option<Gap> {
        let gap = Gap { begin: self.head.end(), end: self.tail.front()?.begin };
        (gap.end > gap.begin).then_some(gap)
    }

    /// The mark for what was dropped, and where it stands: right before what follows.
    fn mark(&self) -> Option<(u64, [u8; MARK_BYTES])> {
        let (Gap { begin, end }, next) = (self.gap()?, self.tail.front()?);
        Some((end - MARK_BYTES as u64, log::mark(next.first_at_us, self.dropped, end - begin)))
    }
}

impl Segment {
    fn new(folder: &Path, begin: u64) -> Self {
        let file = SpooledTempFile::new_in(IN_MEMORY_MAX, folder);
        Self { file, begin, length: 0, output: 0, first_at_us: 0 }
    }

    fn end(&self) -> u64 {
        self.begin + self.length
    }

    fn append(&mut self, frames: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(frames)?;
        for frame in log::frames(frames) {
            if self.output == 0 {
                self.first_at_us = frame.at_us;
            }
            self.output += match frame.kind {
                FrameKind::Dropped => frame.dropped_bytes().unwrap_or(0),
                FrameKind::Stdout | FrameKind::Stderr => frame.content.len() as u64,
            };
        }
        self.length += frames.len() as u64;
        Ok(())
    }

    fn read(&mut self, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
        let length = (self.end() - offset).min(limit as u64);
        let mut bytes = vec![0; length as usize];
        self.file.seek(SeekFrom::Start(offset - self.begin))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { head_bytes: 100, part_bytes: 64 };
    /// A header and three letters.
    const FRAME: u64 = 16;

    fn frame(n: u32) -> Vec<u8> {
        let mut frame = log::header(FrameKind::Stdout, i64::from(n), 3).to_vec();
        frame.extend_from_slice(format!("{n:03}").as_bytes());
        frame
    }

    fn spool(count: u32) -> Spool {
        let mut spool = Spool::new(std::env::temp_dir().into(), BOUNDS);
        for n in 0..count {
            spool.append(&frame(n)).expect("memory takes it");
        }
        spool
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        let text = |frame: log::Frame<'_>| match frame.dropped_bytes() {
            Some(dropped) => format!("-{dropped}"),
            None => String::from_utf8_lossy(frame.content).into_owned(),
        };
        log::frames(bytes).map(text).collect()
    }

    #[test]
    fn a_short_log_is_all_there() {
        let mut short = spool(9);
        assert_eq!(short.end(), 9 * FRAME);
        assert_eq!(texts(&short.whole().expect("memory is read").frames).len(), 9);
        let (begin, bytes) = short.read(FRAME, usize::MAX).expect("memory is read");
        assert_eq!(
            (begin, texts(&bytes)),
            (FRAME, ["001", "002", "003", "004", "005"].map(Into::into).into())
        );
        let (begin, bytes) = short.read(6 * FRAME, usize::MAX).expect("memory is read");
        assert_eq!((begin, texts(&bytes).len()), (6 * FRAME, 3), "the end begins where the beginning ends");
    }

    #[test]
    fn of_a_long_log_the_beginning_and_the_end_are_there_and_the_rest_is_counted() {
        let mut long = spool(1_000);
        assert_eq!(long.end(), 1_000 * FRAME);
        let whole = texts(&long.whole().expect("memory is read").frames);
        assert_eq!(
            whole[..7],
            ["000", "001", "002", "003", "004", "005", "-2964"],
            "988 frames of three letters"
        );
        assert_eq!((whole[7].as_str(), whole.len()), ("994", 13));
        // A follower that is behind goes on after the mark.
        let (begin, bytes) = long.read(500 * FRAME, usize::MAX).expect("memory is read");
        assert_eq!(texts(&bytes)[..2], ["-2964", "994"]);
        assert_eq!(begin + MARK_BYTES as u64, 994 * FRAME);
        let (begin, bytes) = long.read(998 * FRAME, usize::MAX).expect("memory is read");
        assert_eq!((begin, texts(&bytes)), (998 * FRAME, ["998", "999"].map(Into::into).into()));
        let (_, nothing) = long.read(1_000 * FRAME, usize::MAX).expect("memory is read");
        assert!(nothing.is_empty());
    }

    #[test]
    fn a_log_that_is_put_away_is_read_by_the_same_offsets() {
        for count in [3, 9, 1_000] {
            let mut spool = spool(count);
            let kept = spool.whole().expect("memory is read");
            assert_eq!(kept.length(), spool.end());
            for offset in (0..=spool.end()).step_by(FRAME as usize) {
                let (begin, bytes) = kept.read(offset, usize::MAX - MARK_BYTES);
                let (same, first) = spool.read(offset, usize::MAX).expect("memory is read");
                assert_eq!(begin, same, "{count} {offset}");
                assert!(bytes.starts_with(&first), "{count} {offset}: {:?}", texts(&bytes));
            }
        }
    }
}
