//! From the stored frames of a log to pieces of text for readers. Pure; the frames are `model::log`'s.
//!
//! A frame is what one read of a pipe gave: it may end in the middle of a character. The rest of a character is given with
//! the piece before when it is there, and replaced when it is not.

use mainspring_model::Timestamp;
use mainspring_model::log::{FrameKind, HEADER_BYTES, frames};
use mainspring_wire::api::{LogLine, LogStream};

/// The pieces in `bytes`, which begin at `offset` of the log, and the offset after the last whole one.
pub(super) fn lines(bytes: &[u8], offset: u64, only: Option<LogStream>) -> (Vec<LogLine>, u64) {
    let mut lines = Vec::new();
    let mut at = offset;
    for frame in frames(bytes) {
        let (stream, text) = match frame.kind {
            FrameKind::Stdout => (LogStream::Stdout, String::from_utf8_lossy(frame.content).into_owned()),
            FrameKind::Stderr => (LogStream::Stderr, String::from_utf8_lossy(frame.content).into_owned()),
            FrameKind::Dropped => {
                let bytes = frame.dropped_bytes().unwrap_or(0);
                (LogStream::System, format!("[{bytes} bytes of output were dropped here]\n"))
            }
        };
        if only.is_none_or(|only| only == stream) {
            let when = Timestamp::from_micros(frame.at_us).into();
            lines.push(LogLine { offset: at, at: when, stream, text });
        }
        at += (HEADER_BYTES + frame.content.len()) as u64 + frame.gap();
    }
    (lines, at)
}

#[cfg(test)]
mod tests {
    use mainspring_model::log::{header, mark};

    use super::*;

    fn log() -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, content) in [(FrameKind::Stdout, "one\n"), (FrameKind::Stderr, "two\n")] {
            bytes.extend_from_slice(&header(kind, 7, content.len()));
            bytes.extend_from_slice(content.as_bytes());
        }
        bytes.extend_from_slice(&mark(9, 100, 126));
        bytes
    }

    fn check(bytes: &[u8], only: Option<LogStream>, texts: &[&str], end: u64) {
        let (lines, next) = lines(bytes, 1000, only);
        let found: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((found.as_slice(), next), (texts, end));
    }

    #[test]
    fn frames_become_text_and_offsets_go_on_after_gaps() {
        let dropped = "[100 bytes of output were dropped here]\n";
        check(&log(), None, &["one\n", "two\n", dropped], 1000 + 17 + 17 + 29 + 126);
        check(&log(), Some(LogStream::Stderr), &["two\n"], 1000 + 17 + 17 + 29 + 126);
        check(&log()[..20], None, &["one\n"], 1017);
        check(b"", None, &[], 1000);
    }
}
