//! The log of an attempt on its way to the owner: kept until the owner has stored it. An empty one is never spoken of.

use bytes::{Bytes, BytesMut};
use mainspring_model::{Timestamp, log};
use mainspring_wire::agent::LogChunk;

/// Bytes of one attempt's log; what comes after is counted and dropped.
const LOG_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes in one chunk.
const CHUNK_BYTES_MAX: usize = 128 * 1024;
/// Bytes of one frame, as nodes make them: readers take no longer ones.
const FRAME_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct LogBuffer {
    frames: BytesMut,
    sent: usize,
    dropped_bytes: u64,
    ended: bool,
    /// Whether the end was said since the owner last spoke.
    end_said: bool,
}

impl LogBuffer {
    /// Adds a line. A long one becomes several frames.
    pub(super) fn push(&mut self, at: Timestamp, text: &str) {
        if self.frames.len() + text.len() > LOG_BYTES_MAX {
            self.dropped_bytes += text.len() as u64;
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(FRAME_BYTES_MAX));
            let header = log::header(log::FrameKind::Stdout, at.as_micros(), piece.len());
            self.frames.extend_from_slice(&header);
            self.frames.extend_from_slice(piece.as_bytes());
            rest = after;
        }
    }

    /// Nothing follows.
    pub(super) fn end(&mut self, at: Timestamp) {
        if !std::mem::replace(&mut self.ended, true) && self.dropped_bytes > 0 {
            self.frames.extend_from_slice(&log::mark(at.as_micros(), self.dropped_bytes, 0));
        }
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// What to say next, without its token; none when all was said.
    pub(super) fn next(&mut self) -> Option<LogChunk> {
        let rest = &self.frames[self.sent..];
        let length = log::whole_frames(rest, CHUNK_BYTES_MAX);
        let last = self.ended && length == rest.len();
        if self.is_empty() || length == 0 && (!last || self.end_said) {
            return None;
        }
        let offset = self.sent as u64;
        let data = Bytes::copy_from_slice(&rest[..length]);
        self.sent += length;
        self.end_said = last;
        let end = last.then_some(self.frames.len() as u64);
        Some(LogChunk { token: None, offset, data, end, gap: 0, dropped_bytes: 0 })
    }

    /// The owner has so much: what it lacks is said again.
    pub(super) fn have(&mut self, offset: u64) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.frames.len());
        if offset < self.sent {
            self.sent = offset;
            self.end_said = false;
        }
    }

    /// Another connection: all is offered anew, and its owner says what it has.
    pub(super) fn restart(&mut self) {
        self.sent = 0;
        self.end_said = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_several_frames() {
        let mut buffer = LogBuffer::default();
        let line = format!("x{}\n", "\u{20ac}".repeat(200_000));
        buffer.push(Timestamp::ZERO, &line);
        buffer.end(Timestamp::ZERO);
        let mut said = Vec::new();
        while let Some(chunk) = buffer.next() {
            assert!(chunk.data.len() <= CHUNK_BYTES_MAX);
            said.extend_from_slice(&chunk.data);
        }
        let text = |frame: log::Frame<'_>| {
            assert!(frame.content.len() <= FRAME_BYTES_MAX);
            String::from_utf8(frame.content.to_vec()).unwrap()
        };
        assert_eq!(log::frames(&said).map(text).collect::<String>(), line);
    }

    #[test]
    fn a_log_is_said_whole_and_again_where_it_is_missing() {
        let mut log = LogBuffer::default();
        assert_eq!(log.next(), None);
        log.push(Timestamp::ZERO, "one\n");
        let first = log.next().unwrap();
        assert_eq!((first.offset, first.data.len(), first.end), (0, 17, None));
        log.push(Timestamp::ZERO, "two\n");
        log.end(Timestamp::ZERO);
        let last = log.next().unwrap();
        assert_eq!((last.offset, last.data.len(), last.end), (17, 17, Some(34)));
        assert_eq!(log.next(), None);
        log.have(17);
        assert_eq!(log.next().unwrap().offset, 17);
        log.restart();
        assert_eq!(log.next().unwrap().data.len(), 34);
        let mut empty = LogBuffer::default();
        empty.end(Timestamp::ZERO);
        assert!(empty.is_empty());
        assert_eq!(empty.next(), None, "an empty log is never spoken of");
    }
}
