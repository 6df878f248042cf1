//! The captured output of an attempt, line by line.
//!
//! `offset` counts bytes of the stored log. Lines that were captured at once share it; a follower that was cut off goes on from
//! the last position it saw.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Mainspring itself: what was dropped, why a task was stopped.
    System,
}

/// A line of output, or what there is of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogLine {
    /// Where the piece that it came with begins in the stored log.
    pub offset: u64,
    /// When it was written.
    pub at: Time,
    /// Where it came from.
    pub stream: LogStream,
    /// What was written, with its line end. Without one, the next of the same stream goes on with the line. Bytes that are not
    /// UTF-8 are replaced; `base64` has them then.
    pub text: String,
    /// The bytes that were written, in Base64; only where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// The bytes of output that are missing here; only in a line of `system` that stands for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_bytes: Option<u64>,
}

impl LogLine {
    /// A line of these bytes.
    pub fn new(offset: u64, at: Time, stream: LogStream, content: &[u8]) -> Self {
        match std::str::from_utf8(content) {
            Ok(text) => Self { offset, at, stream, text: text.to_owned(), base64: None, gap_bytes: None },
            Err(_) => {
                let text = String::from_utf8_lossy(content).into_owned();
                let base64 = Some(STANDARD.encode(content));
                Self { offset, at, stream, text, base64, gap_bytes: None }
            }
        }
    }

    /// The bytes that were written.
    pub fn content(&self) -> Cow<'_, [u8]> {
        let bytes = self.base64.as_ref().and_then(|base64| STANDARD.decode(base64).ok());
        bytes.map_or(Cow::Borrowed(self.text.as_bytes()), Cow::Owned)
    }

    /// Goes on with the next piece of the line.
    pub fn append(&mut self, piece: &Self) {
        let content = [self.content(), piece.content()].concat();
        *self = Self::new(self.offset, self.at, self.stream, &content);
    }
}

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogPage {
    /// Of which attempt.
    pub attempt: u32,
    /// The lines, in order.
    pub lines: Vec<LogLine>,
    /// Where to go on.
    pub next_offset: u64,
    /// How long the stored log is.
    pub length: u64,
    /// Whether it is whole: nothing follows `length`.
    pub ended: bool,
}

/// Lines of a log that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogMatches {
    /// Of which attempt.
    pub attempt: u32,
    /// The first lines that match, in order.
    pub matches: Vec<LogMatch>,
    /// How many lines match in what was searched, listed or not.
    pub count: u64,
    /// Where to go on, when not all of the log was searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// Stored bytes that were searched.
    pub searched_bytes: u64,
    /// Bytes of output that are missing there, and so were not searched.
    pub gaps_bytes: u64,
    /// How long the stored log is.
    pub length: u64,
    /// Whether it is whole: nothing follows `length`.
    pub ended: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogMatch {
    /// Where the piece that it begins in begins in the stored log.
    pub offset: u64,
    /// Which line of that piece it is, from 0.
    pub index: u64,
    /// Which line of the attempt's output it is, from 1.
    pub line: u64,
    /// When it was written.
    pub at: Time,
    /// Where it came from.
    pub stream: LogStream,
    /// Its first 4 KiB, without its line end and without escape sequences of terminals. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Places in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogIndex {
    /// Of which attempt.
    pub attempt: u32,
    /// How long the stored log is.
    pub length: u64,
    /// How many lines there are, as far as it was read.
    pub lines: u64,
    /// Whether it is whole: nothing follows `length`.
    pub ended: bool,
    /// Whether less than `length` was read: ask again for the rest.
    pub partial: bool,
    /// Places from where it can be read, in order; the first is its beginning.
    pub marks: Vec<LogMark>,
    /// Where output is missing.
    pub gaps: Vec<LogGap>,
}

/// A place from where a log can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogMark {
    /// The offset.
    pub offset: u64,
    /// Which line of the output is the next to begin there, from 1.
    pub line: u64,
    /// When what follows was written.
    pub at: Time,
    /// Streams whose line before goes on there: what comes of them up to its end is no line of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<LogStream>,
}

/// Output that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogGap {
    /// Where in the stored log.
    pub offset: u64,
    /// How many bytes of output.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use mainspring_model::Timestamp;

    use super::*;

    fn line(content: &[u8]) -> LogLine {
        LogLine::new(1, Timestamp::ZERO.into(), LogStream::Stdout, content)
    }

    #[test]
    fn bytes_are_kept_whatever_they_are() {
        let every: Vec<u8> = (0..=255).collect();
        for content in [&b"plain\n"[..], "\u{20ac}".as_bytes(), b"\xff\xfe\n", &every, b""] {
            let written = serde_json::to_string(&line(content)).expect("JSON");
            let read: LogLine = serde_json::from_str(&written).expect("a line");
            assert_eq!(read.content(), content);
            assert_eq!(read.base64.is_none(), std::str::from_utf8(content).is_ok(), "{written}");
        }
        let mut euro = line(b"\xe2\x82");
        euro.append(&line(b"\xac"));
        assert_eq!((euro.text.as_str(), euro.base64.as_deref()), ("\u{20ac}", None));
    }
}
