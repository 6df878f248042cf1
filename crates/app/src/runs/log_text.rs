//! From the stored frames of a log to lines for readers, of text where it is UTF-8. Pure; the frames are `model::log`'s.
//!
//! A frame is what one read of a pipe gave: part of a line, a line, or many. Lines of one frame share its offset and its time.
//! What has no end of line stays as it is: the next frame of the stream may go on with it. A frame may end in the middle of a
//! character: the rest of it is given with the piece before. Bytes that are not UTF-8 are given as they are, each once. Offsets are places
//! in what is stored: a mark stands for what is missing and takes no more than its own room.

use mainspring_model::Timestamp;
use mainspring_model::log::{Frame, FrameKind, HEADER_BYTES, frames};
use mainspring_wire::api::{LogLine, LogStream};

use crate::limits::LOG_PART_LINES_MAX;

/// Bytes of a character after its first.
const CONTINUATION_BYTES_MAX: usize = 3;

/// A piece; the rest of its last character may follow.
struct Piece {
    offset: u64,
    at_us: i64,
    stream: LogStream,
    content: Vec<u8>,
    gap_bytes: Option<u64>,
}

/// The lines of the pieces that begin in the first `limit` of `bytes`, which begin at `offset` of the log, and the offset after
/// the last piece. What comes later is looked at for the rest of a character only. What is no frame is passed over.
pub(super) fn lines(bytes: &[u8], offset: u64, limit: usize, only: Option<LogStream>) -> (Vec<LogLine>, u64) {
    let mut pieces: Vec<Piece> = Vec::new();
    // Streams whose first piece behind the limit was seen: the rest of a character is not further away.
    let mut closed: Vec<LogStream> = Vec::new();
    let (mut at, mut next, mut count) = (0, 0, 0);
    for frame in frames(bytes) {
        let (stream, mut content) = content_of(&frame);
        let rest = continuation(&content);
        match pieces.iter_mut().rev().find(|piece| piece.stream == stream) {
            Some(before) if !closed.contains(&stream) => before.content.extend(content.drain(..rest)),
            Some(_) => {}
            // Told with the piece before, in the part before this.
            None if offset > 0 => drop(content.drain(..rest)),
            None => {}
        }
        if at >= limit {
            closed.push(stream);
        }
        let end = at + HEADER_BYTES + frame.content.len();
        if at < limit && count < LOG_PART_LINES_MAX {
            count += content.split_inclusive(is_end).count();
            pieces.push(Piece {
                offset: offset + at as u64,
                at_us: frame.at_us,
                stream,
                content,
                gap_bytes: frame.dropped_bytes(),
            });
            next = end;
        }
        at = end;
    }
    if next == 0 && !bytes.is_empty() {
        let content = format!("[{} bytes of the log cannot be read]\n", bytes.len()).into();
        pieces.push(Piece { offset, at_us: 0, stream: LogStream::System, content, gap_bytes: None });
        next = bytes.len();
    }
    let shown = pieces.into_iter().filter(|piece| only.is_none_or(|only| only == piece.stream));
    (shown.flat_map(Piece::lines).collect(), offset + next as u64)
}

impl Piece {
    fn lines(self) -> Vec<LogLine> {
        let at = Timestamp::from_micros(self.at_us).into();
        let line = |content: &[u8]| LogLine {
            gap_bytes: self.gap_bytes,
            ..LogLine::new(self.offset, at, self.stream, content)
        };
        self.content.split_inclusive(is_end).map(line).collect()
    }
}

/// Whether a line ends with this byte.
fn is_end(byte: &u8) -> bool {
    *byte == b'\n'
}

fn content_of(frame: &Frame<'_>) -> (LogStream, Vec<u8>) {
    match frame.kind {
        FrameKind::Stdout => (LogStream::Stdout, frame.content.to_vec()),
        FrameKind::Stderr => (LogStream::Stderr, frame.content.to_vec()),
        FrameKind::Dropped => {
            let bytes = frame.dropped_bytes().unwrap_or(0);
            (LogStream::System, format!("[{bytes} bytes of output were dropped here]\n").into())
        }
    }
}

/// How many of the first bytes go on with a character, or look like it: where output is not UTF-8, they are told with the piece
/// before all the same, so that each byte is told once however the log is cut into parts.
fn continuation(content: &[u8]) -> usize {
    content.iter().take(CONTINUATION_BYTES_MAX).take_while(|byte| matches!(byte, 0x80..=0xbf)).count()
}

#[cfg(test)]
mod tests {
    use mainspring_model::log::{header, mark};

    use super::*;

    fn log(frames: &[(FrameKind, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, content) in frames {
            bytes.extend_from_slice(&header(*kind, 7, content.len()));
            bytes.extend_from_slice(content);
        }
        bytes
    }

    fn two() -> Vec<u8> {
        log(&[(FrameKind::Stdout, b"one\n"), (FrameKind::Stderr, b"two\n")])
    }

    fn check(bytes: &[u8], limit: usize, only: Option<LogStream>, texts: &[&str], end: u64) {
        let (lines, next) = lines(bytes, 1000, limit, only);
        let found: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((found.as_slice(), next), (texts, end));
    }

    #[test]
    fn frames_become_text_and_what_follows_a_mark_is_found_behind_it() {
        let mut bytes = two();
        bytes.extend_from_slice(&mark(9, 100, 126));
        let dropped = "[100 bytes of output were dropped here]\n";
        check(&bytes, 1000, None, &["one\n", "two\n", dropped], 1000 + 17 + 17 + 29);
        check(&bytes, 1000, Some(LogStream::Stderr), &["two\n"], 1000 + 17 + 17 + 29);
        check(&bytes[..20], 1000, None, &["one\n"], 1017);
        check(b"", 1000, None, &[], 1000);
        let (told, _) = lines(&bytes, 1000, 1000, None);
        assert_eq!(told.iter().map(|line| line.gap_bytes).collect::<Vec<_>>(), [None, None, Some(100)]);
    }

    #[test]
    fn a_part_has_a_whole_piece_however_small_it_is() {
        check(&two(), 1, None, &["one\n"], 1017);
        check(&two(), 18, None, &["one\n", "two\n"], 1034);
        check(b"no frame", 1000, None, &["[8 bytes of the log cannot be read]\n"], 1008);
    }

    #[test]
    fn many_lines_of_one_frame_are_lines_with_one_offset_and_one_time() {
        let bytes = log(&[(FrameKind::Stdout, b"1\n\n2\nha"), (FrameKind::Stdout, b"lf\n3\n")]);
        check(&bytes, 1000, None, &["1\n", "\n", "2\n", "ha", "lf\n", "3\n"], 1000 + 20 + 18);
        let (lines, _) = lines(&bytes, 1000, 1000, None);
        let offsets: Vec<u64> = lines.iter().map(|line| line.offset).collect();
        assert_eq!(offsets, [1000, 1000, 1000, 1000, 1020, 1020]);
        assert!(lines.iter().all(|line| line.at == Timestamp::from_micros(7).into()));
        check(&log(&[(FrameKind::Stdout, b"")]), 1000, None, &[], 1013);
    }

    #[test]
    fn a_part_has_not_many_more_lines_than_its_limit() {
        let full = vec![b'\n'; LOG_PART_LINES_MAX];
        let bytes = log(&[(FrameKind::Stdout, &full), (FrameKind::Stdout, b"next\n")]);
        let (lines, next) = lines(&bytes, 0, bytes.len(), None);
        assert_eq!((lines.len(), next), (LOG_PART_LINES_MAX, (HEADER_BYTES + full.len()) as u64));
    }

    #[test]
    fn a_character_in_two_frames_is_one() {
        let (first, second) = "a\u{20ac}b".as_bytes().split_at(2);
        let bytes =
            log(&[(FrameKind::Stdout, first), (FrameKind::Stderr, b"e"), (FrameKind::Stdout, second)]);
        check(&bytes, 1000, None, &["a\u{20ac}", "e", "b"], 1000 + bytes.len() as u64);
        check(&bytes, 1, None, &["a\u{20ac}"], 1015);
        check(&bytes[15..], 1000, None, &["e", "b"], 1000 + bytes.len() as u64 - 15);
        let odd = log(&[(FrameKind::Stdout, b"a\xff\n\xe2"), (FrameKind::Stdout, b"x\n")]);
        let (given, _) = lines(&odd, 0, 1000, None);
        assert_eq!(
            given.iter().flat_map(|line| line.content().into_owned()).collect::<Vec<_>>(),
            b"a\xff\n\xe2x\n"
        );
        let bytes = log(&[(FrameKind::Stdout, b"a\xff"), (FrameKind::Stdout, b"\x80b")]);
        check(&bytes, 1000, None, &["a\u{fffd}\u{fffd}", "b"], 1030);
    }

    #[test]
    fn every_byte_is_told_once_however_the_log_is_cut() {
        let pieces: Vec<Vec<u8>> =
            (0..40_u32).map(|n| (0..n).map(|i| (n * 37 + i * 91) as u8).collect()).collect();
        let frames: Vec<(FrameKind, &[u8])> =
            pieces.iter().map(|piece| (FrameKind::Stdout, piece.as_slice())).collect();
        let bytes = log(&frames);
        for limit in [1, 20, 64, 500, bytes.len()] {
            let (mut told, mut offset) = (Vec::new(), 0);
            while offset < bytes.len() {
                let (part, next) = lines(&bytes[offset..], offset as u64, limit, None);
                told.extend(part.iter().flat_map(|line| line.content().into_owned()));
                offset = next as usize;
            }
            assert_eq!(told, pieces.concat(), "in parts of {limit}");
        }
    }
}
