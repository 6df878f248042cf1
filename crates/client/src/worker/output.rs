//! The log of an attempt on its way to the owner: kept until the owner has stored it. An empty one is never spoken of.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mainspring_model::{Timestamp, log};
use mainspring_wire::agent::LogChunk;

/// Bytes of one attempt's log; what comes after is counted and dropped.
const LOG_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes in one chunk.
const CHUNK_BYTES_MAX: usize = 128 * 1024;
/// Bytes of one frame, as nodes make them: readers take no longer ones.
const FRAME_BYTES_MAX: usize = 64 * 1024;

/// Bytes that may be on their way and not answered for.
const WINDOW_BYTES: usize = 2 * CHUNK_BYTES_MAX;
/// How long an answer may take, and then how long it may take to store the log, before all of that is said again.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct LogBuffer {
    frames: BytesMut,
    sent: usize,
    /// How much the owner has.
    taken: usize,
    /// Where the chunks end that were said and not answered for.
    unanswered: VecDeque<usize>,
    dropped_bytes: u64,
    ended: bool,
    /// Whether the end was said since the owner last lacked something.
    end_said: bool,
    stored: bool,
    /// Since when the owner owes something: an answer, or, when it has all, to store it.
    owed_since: Option<Timestamp>,
}

impl LogBuffer {
    /// Adds a line. A long one becomes several frames; one that comes after the end is late.
    pub(super) fn push(&mut self, at: Timestamp, text: &str) {
        if self.ended {
            return;
        }
        // What follows something that was dropped is dropped, too: the hole is at the end, where its mark is.
        if self.dropped_bytes > 0 || self.frames.len() + text.len() > LOG_BYTES_MAX {
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

    /// Nothing follows. Tells whether nothing was ever said.
    pub(super) fn end(&mut self, at: Timestamp) -> bool {
        if !std::mem::replace(&mut self.ended, true) && self.dropped_bytes > 0 {
            self.frames.extend_from_slice(&log::mark(at.as_micros(), self.dropped_bytes, 0));
        }
        self.frames.is_empty()
    }

    /// Whether nobody waits for more of it.
    pub(super) fn is_told(&self) -> bool {
        self.stored || self.frames.is_empty()
    }

    /// What to say next, without its token; none when all was said, or as much as may be on its way.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<LogChunk> {
        if self.is_told() || self.sent.saturating_sub(self.taken) >= WINDOW_BYTES {
            return None;
        }
        let rest = &self.frames[self.sent..];
        let length = log::whole_frames(rest, CHUNK_BYTES_MAX);
        let last = self.ended && length == rest.len();
        if length == 0 && (!last || self.end_said) {
            return None;
        }
        let offset = self.sent as u64;
        let data = Bytes::copy_from_slice(&rest[..length]);
        self.sent += length;
        self.unanswered.push_back(self.sent);
        self.owed_since.get_or_insert(now);
        self.end_said = last;
        let end = last.then_some(self.frames.len() as u64);
        Some(LogChunk { token: None, offset, data, end, gap: 0, dropped_bytes: 0 })
    }

    /// The owner has so much. Usually that is the end of a chunk; where it is not, it goes on from there.
    pub(super) fn have(&mut self, now: Timestamp, offset: u64) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.frames.len());
        let expected = offset == self.taken || self.unanswered.contains(&offset);
        self.taken = offset;
        if !expected {
            return self.again();
        }
        while self.unanswered.front().is_some_and(|end| *end <= offset) {
            self.unanswered.pop_front();
            self.owed_since = None;
        }
        if !self.unanswered.is_empty() || self.end_said {
            self.owed_since.get_or_insert(now);
        }
    }

    /// The owner keeps it for good.
    pub(super) fn store(&mut self) {
        if self.ended {
            self.stored = true;
            self.frames = BytesMut::new();
        }
    }

    /// Whether the owner has owed something for so long that it is to be told again.
    pub(super) fn nudge(&mut self, now: Timestamp) -> bool {
        let quiet = !self.is_told() && self.owed_since.is_some_and(|since| now.since(since) >= PATIENCE);
        if quiet {
            self.again();
        }
        quiet
    }

    /// Another connection: all is offered anew, and its owner says what it has.
    pub(super) fn restart(&mut self) {
        self.taken = 0;
        self.again();
    }

    fn again(&mut self) {
        self.sent = self.taken;
        self.unanswered.clear();
        self.end_said = false;
        self.owed_since = None;
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
        while let Some(chunk) = buffer.next(Timestamp::ZERO) {
            assert!(chunk.data.len() <= CHUNK_BYTES_MAX);
            said.extend_from_slice(&chunk.data);
            buffer.have(Timestamp::ZERO, said.len() as u64);
        }
        let text = |frame: log::Frame<'_>| {
            assert!(frame.content.len() <= FRAME_BYTES_MAX);
            String::from_utf8(frame.content.to_vec()).unwrap()
        };
        assert_eq!(log::frames(&said).map(text).collect::<String>(), line);
    }

    #[test]
    fn a_log_is_said_whole_and_again_where_it_is_missing() {
        let at = Timestamp::ZERO;
        let mut log = LogBuffer::default();
        assert_eq!(log.next(at), None);
        log.push(at, "one\n");
        let first = log.next(at).unwrap();
        assert_eq!((first.offset, first.data.len(), first.end), (0, 17, None));
        log.push(at, "two\n");
        log.end(at);
        log.push(at, "too late\n");
        let last = log.next(at).unwrap();
        assert_eq!((last.offset, last.data.len(), last.end), (17, 17, Some(34)));
        assert_eq!(log.next(at), None);
        log.have(at, 17);
        assert_eq!(log.next(at), None, "the rest is on its way");
        log.have(at, 0);
        assert_eq!(log.next(at).unwrap().offset, 0, "an owner that has less is given the rest");
        log.restart();
        assert_eq!(log.next(at).unwrap().data.len(), 34);
        assert!(!log.is_told());
        log.store();
        assert!(log.is_told() && log.next(at).is_none());
        let mut empty = LogBuffer::default();
        assert!(empty.end(at) && empty.is_told());
        assert_eq!(empty.next(at), None, "an empty log is never spoken of");
    }

    #[test]
    fn no_more_than_a_window_is_on_its_way() {
        let at = Timestamp::ZERO;
        let mut log = LogBuffer::default();
        for _ in 0..100_000 {
            log.push(at, "x\n");
        }
        let mut said = 0;
        while let Some(chunk) = log.next(at) {
            said += chunk.data.len();
        }
        assert!((WINDOW_BYTES..WINDOW_BYTES + CHUNK_BYTES_MAX).contains(&said), "{said}");
        log.have(at, said as u64);
        assert_eq!(log.next(at).unwrap().offset, said as u64);
    }

    #[test]
    fn what_nobody_answers_for_is_said_again() {
        let (at, later) = (Timestamp::ZERO, Timestamp::ZERO + PATIENCE);
        let mut log = LogBuffer::default();
        log.push(at, "one\n");
        log.end(at);
        assert_eq!(log.next(at).unwrap().end, Some(17));
        assert!(!log.nudge(at) && log.nudge(later));
        assert_eq!(log.next(later).unwrap().data.len(), 17);
        log.have(later, 17);
        assert_eq!(log.next(later), None);
        assert!(log.nudge(later + PATIENCE), "it has all of it and has not stored it");
        let end = log.next(later).unwrap();
        assert_eq!((end.offset, end.data.len(), end.end), (17, 0, Some(17)), "the end is enough");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut log = LogBuffer::default();
        let line = "x".repeat(FRAME_BYTES_MAX);
        for _ in 0..100 {
            log.push(Timestamp::ZERO, &line);
        }
        log.end(Timestamp::ZERO);
        assert!(log.frames.len() <= LOG_BYTES_MAX + 200, "{}", log.frames.len());
        let dropped = log::frames(&log.frames).last().unwrap();
        assert_eq!(dropped.dropped_bytes(), Some(37 * FRAME_BYTES_MAX as u64));
    }
}
