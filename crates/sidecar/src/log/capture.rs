//! Writing the log of a live attempt within its caps.
//!
//! The head goes straight to the log file. What comes after it goes to segments of the tail's size, of which the last
//! two are kept; when the attempt ends, a mark and the last frames of them are appended to the log file. The name
//! of a segment says where in the stream it begins and how much output was dropped by then, so a later sidecar goes on.
//!
//! A write that fails is never waited for: the output is counted, and marked as soon as writing works again.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::stored::{self, Extent};
use crate::protocol::LogCaps;
use mainspring_model::log::{self as frame, FrameKind, HEADER_BYTES};

/// Room for a header that a read buffer leaves before the content.
pub(crate) const CONTENT_AT: usize = HEADER_BYTES;
/// Segments of the tail that are kept: the last is being written, the one before may be half needed.
const SEGMENTS_KEPT: usize = 2;

/// Frames of which a tail has at least so many, unless they would be tiny.
const PIECES_IN_TAIL: u64 = 16;
const PIECE_BYTES_MIN: u64 = 512;

/// The log of one attempt while it is written.
pub(crate) struct Capture {
    directory: PathBuf,
    caps: LogCaps,
    head: Option<File>,
    head_bytes: u64,
    tail: VecDeque<Segment>,
    /// The length of the stream, dropped frames included.
    end: u64,
    dropped_bytes: u64,
    /// Output that could not be written and is not marked yet.
    unmarked_bytes: u64,
}

struct Segment {
    path: PathBuf,
    file: File,
    start: u64,
    bytes: u64,
    content_bytes: u64,
}

impl Capture {
    /// A log that has nothing yet; files are made when there is something.
    pub(crate) fn new(directory: PathBuf, caps: LogCaps) -> Self {
        Self {
            directory,
            caps,
            head: None,
            head_bytes: 0,
            tail: VecDeque::new(),
            end: 0,
            dropped_bytes: 0,
            unmarked_bytes: 0,
        }
    }

    /// Goes on with the files that an earlier sidecar left.
    pub(crate) fn resume(directory: PathBuf, caps: LogCaps) -> io::Result<Self> {
        let mut capture = Self::new(directory, caps);
        let path = capture.directory.join("log");
        if path.exists() {
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            capture.head_bytes = stored::frames_end(&file, 0)?;
            file.set_len(capture.head_bytes)?;
            capture.head = Some(file);
        }
        capture.end = capture.head_bytes;
        let mut segments = Vec::new();
        for entry in fs::read_dir(&capture.directory)? {
            let path = entry?.path();
            segments.extend(segment_name(&path).map(|(start, dropped)| (start, dropped, path)));
        }
        segments.sort();
        for (start, dropped, path) in segments {
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            let bytes = stored::frames_end(&file, 0)?;
            file.set_len(bytes)?;
            capture.dropped_bytes = capture.dropped_bytes.max(dropped);
            capture.end = start + bytes;
            capture.tail.push_back(Segment { path, file, start, bytes, content_bytes: bytes });
        }
        Ok(capture)
    }

    /// The length of the stream.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of output that are not in the log.
    pub(crate) fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes + self.unmarked_bytes
    }

    /// Adds output: `buffer` is room for a header, then the content, and is used up. It becomes one frame, or some
    /// where it fills the head or is large for the tail. `told` hears of each frame that was written, and where in
    /// the stream it is.
    pub(crate) fn add(
        &mut self,
        kind: FrameKind,
        at_us: i64,
        buffer: &mut [u8],
        mut told: impl FnMut(u64, &[u8]),
    ) {
        let mut from = 0;
        while from + CONTENT_AT < buffer.len() {
            let piece = self.piece_bytes(buffer.len() - CONTENT_AT - from);
            // The header is put over the end of the piece before, which is written.
            let frame = &mut buffer[from..from + CONTENT_AT + piece];
            frame[..CONTENT_AT].copy_from_slice(&frame::header(kind, at_us, piece));
            let offset = self.add_frame(at_us, frame, piece as u64);
            offset.into_iter().for_each(|offset| told(offset, frame));
            from += piece;
        }
    }

    fn add_frame(&mut self, at_us: i64, frame: &[u8], content_bytes: u64) -> Option<u64> {
        self.mark_unwritten(at_us);
        let offset = self.end;
        if self.unmarked_bytes > 0 || self.append(frame, content_bytes).is_err() {
            self.unmarked_bytes += content_bytes;
            return None;
        }
        Some(offset)
    }

    /// Says how much could not be written, if that can be written.
    fn mark_unwritten(&mut self, at_us: i64) {
        if self.unmarked_bytes > 0 && self.append(&frame::mark(at_us, self.unmarked_bytes, 0), 0).is_ok() {
            self.dropped_bytes += self.unmarked_bytes;
            self.unmarked_bytes = 0;
        }
    }

    /// How much of `content` bytes the next frame takes: what the head has room for, or a small part of the tail,
    /// so that little more than needed is dropped with its oldest frame.
    fn piece_bytes(&self, content: usize) -> usize {
        let room = if self.is_in_head() { self.caps.head_bytes.saturating_sub(self.head_bytes) } else { 0 };
        let room = room.saturating_sub(HEADER_BYTES as u64) as usize;
        let part = (self.caps.tail_bytes / PIECES_IN_TAIL).max(PIECE_BYTES_MIN) as usize;
        content.min(if room > 0 { room } else { part })
    }

    fn is_in_head(&self) -> bool {
        self.tail.is_empty() && self.head_bytes == self.end
    }

    /// Whole frames from `offset` on, at most `limit` bytes; and where they really begin.
    pub(crate) fn read(&self, offset: u64, limit: usize) -> io::Result<(u64, Vec<u8>)> {
        if let Some(head) = self.head.as_ref().filter(|_| offset < self.head_bytes) {
            return Ok((offset, stored::read(head, offset, self.head_bytes, limit)?));
        }
        for segment in &self.tail {
            let offset = offset.max(segment.start);
            if offset < segment.start + segment.bytes {
                let frames = stored::read(&segment.file, offset - segment.start, segment.bytes, limit)?;
                return Ok((offset, frames));
            }
        }
        Ok((self.end, Vec::new()))
    }

    /// Puts head and tail together in one file.
    pub(crate) fn finish(&mut self, at_us: i64) -> Extent {
        self.mark_unwritten(at_us);
        if self.tail.is_empty() {
            return Extent { head: self.head_bytes, gap: self.end - self.head_bytes, end: self.end };
        }
        let tail_start = self.join(at_us).unwrap_or_else(|_| {
            // No room for the tail: the head is still good.
            let kept: u64 = self.tail.iter().map(|segment| segment.content_bytes).sum();
            self.dropped_bytes += kept;
            if let Some(head) = &self.head {
                let _ = head.set_len(self.head_bytes);
            }
            self.end
        });
        for segment in self.tail.drain(..) {
            let _ = fs::remove_file(&segment.path);
        }
        Extent { head: self.head_bytes, gap: tail_start - self.head_bytes, end: self.end }
    }

    /// Appends the mark and the tail; answers where in the stream the tail begins.
    fn join(&mut self, at_us: i64) -> io::Result<u64> {
        let mut start = self.tail.front().map_or(self.end, |segment| segment.start);
        // Frames that fit are kept even if they are more than the tail's size: nothing is dropped needlessly.
        if start > self.head_bytes
            && let Some(oldest) = self.tail.front()
        {
            let surplus = (self.end - start).saturating_sub(self.caps.tail_bytes);
            let (cut, content) = stored::frames_covering(&oldest.file, surplus.min(oldest.bytes))?;
            start += cut;
            self.dropped_bytes += content;
        }
        if self.head.is_none() {
            self.head = Some(create(&self.directory.join("log"))?);
        }
        let Some(mut head) = self.head.as_ref() else { return Ok(self.end) };
        head.seek(SeekFrom::Start(self.head_bytes))?;
        if start > self.head_bytes {
            io::copy(
                &mut frame::mark(at_us, self.dropped_bytes, start - self.head_bytes).as_slice(),
                &mut head,
            )?;
        }
        for segment in &self.tail {
            let from = start.max(segment.start) - segment.start;
            if from < segment.bytes {
                let mut file = &segment.file;
                file.seek(SeekFrom::Start(from))?;
                io::copy(&mut file, &mut head)?;
            }
        }
        Ok(start)
    }

    fn append(&mut self, bytes: &[u8], content_bytes: u64) -> io::Result<()> {
        let length = bytes.len() as u64;
        if self.is_in_head() && self.end + length <= self.caps.head_bytes {
            if self.head.is_none() {
                self.head = Some(create(&self.directory.join("log"))?);
            }
            if let Some(head) = &self.head {
                write_or_cut(head, bytes, self.head_bytes)?;
            }
            self.head_bytes += length;
        } else if self.caps.tail_bytes == 0 {
            self.dropped_bytes += content_bytes;
        } else {
            self.append_to_tail(bytes, content_bytes)?;
        }
        self.end += length;
        Ok(())
    }

    fn append_to_tail(&mut self, bytes: &[u8], content_bytes: u64) -> io::Result<()> {
        let length = bytes.len() as u64;
        if self.tail.back().is_none_or(|last| last.bytes > 0 && last.bytes + length > self.caps.tail_bytes) {
            self.open_segment()?;
        }
        if let Some(last) = self.tail.back_mut() {
            write_or_cut(&last.file, bytes, last.bytes)?;
            last.bytes += length;
            last.content_bytes += content_bytes;
        }
        Ok(())
    }

    fn open_segment(&mut self) -> io::Result<()> {
        if self.tail.len() == SEGMENTS_KEPT
            && let Some(oldest) = self.tail.pop_front()
        {
            self.dropped_bytes += oldest.content_bytes;
            fs::remove_file(&oldest.path)?;
        }
        let path = self.directory.join(format!("tail-{:020}-{:020}", self.end, self.dropped_bytes));
        let file = create(&path)?;
        self.tail.push_back(Segment { path, file, start: self.end, bytes: 0, content_bytes: 0 });
        Ok(())
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn write_or_cut(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at).inspect_err(|_| {
        let _ = file.set_len(at);
    })
}

/// Where a segment begins and what was dropped before it.
fn segment_name(path: &Path) -> Option<(u64, u64)> {
    let (start, dropped) = path.file_name()?.to_str()?.strip_prefix("tail-")?.split_once('-')?;
    Some((start.parse().ok()?, dropped.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::frames;
    use super::*;

    fn add(capture: &mut Capture, text: &str) {
        let mut buffer = vec![0; CONTENT_AT];
        buffer.extend_from_slice(text.as_bytes());
        let mut told = 0;
        capture.add(FrameKind::Stdout, 1, &mut buffer, |_, _| told += 1);
        assert_eq!(told, 1);
    }

    /// Writes `count` frames of 10 bytes of output, 23 bytes each, and checks how many of the first and the last are kept.
    fn check(count: u64, head: u64, tail: u64, kept: (u64, u64), resume_at: Option<u64>) {
        let directory = tempfile::tempdir().unwrap();
        let caps = LogCaps { head_bytes: head * 23, tail_bytes: tail * 23 };
        let mut capture = Capture::new(directory.path().to_owned(), caps);
        for number in 0..count {
            if resume_at == Some(number) {
                capture = Capture::resume(directory.path().to_owned(), caps).unwrap();
            }
            add(&mut capture, &format!("{number:010}"));
        }
        let extent = capture.finish(2);
        let expected: Vec<u64> = (0..kept.0).chain(count - kept.1..count).collect();
        let bytes = fs::read(directory.path().join("log")).unwrap_or_default();
        let mut found = Vec::new();
        let mut dropped = 0;
        for frame in frames(&bytes) {
            match frame.dropped_bytes() {
                Some(bytes) => dropped += bytes,
                None => found.push(std::str::from_utf8(frame.content).unwrap().parse::<u64>().unwrap()),
            }
        }
        assert_eq!(found, expected, "{count} frames, head {head}, tail {tail}");
        assert_eq!(extent.end, count * 23);
        if resume_at.is_none() {
            assert_eq!(capture.dropped_bytes(), (count - expected.len() as u64) * 10);
            if tail > 0 {
                assert_eq!(dropped, capture.dropped_bytes());
            }
        }
        // What is read by offsets is the same.
        let mut offset = 0;
        let mut read = Vec::new();
        while offset < extent.end {
            let (at, frames) = extent.read(&directory.path().join("log"), offset, 50).unwrap();
            if frames.is_empty() {
                break;
            }
            offset = at + frames.len() as u64;
            read.extend(super::super::frames(&frames).map(|frame| frame.content.to_vec()));
        }
        assert_eq!(read.len(), expected.len());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), usize::from(!bytes.is_empty()));
    }

    #[test]
    fn head_and_tail_are_kept() {
        check(0, 2, 2, (0, 0), None);
        check(2, 2, 2, (2, 0), None);
        check(4, 2, 2, (4, 0), None);
        check(6, 2, 2, (6, 0), None);
        check(7, 2, 2, (2, 2), None);
        check(100, 2, 3, (2, 3), None);
        check(100, 0, 3, (0, 3), None);
        check(100, 2, 0, (2, 0), None);
    }

    #[test]
    fn a_later_sidecar_goes_on() {
        check(100, 2, 3, (2, 3), Some(50));
        check(4, 4, 3, (4, 0), Some(2));
        check(5, 2, 3, (5, 0), Some(3));
    }
}
