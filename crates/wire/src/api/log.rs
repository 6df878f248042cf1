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
}

impl LogLine {
    /// A line of these bytes.
    pub fn new(offset: u64, at: Time, stream: LogStream, content: &[u8]) -> Self {
        match std::str::from_utf8(content) {
            Ok(text) => Self { offset, at, stream, text: text.to_owned(), base64: None },
            Err(_) => {
                let text = String::from_utf8_lossy(content).into_owned();
                Self { offset, at, stream, text, base64: Some(STANDARD.encode(content)) }
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
