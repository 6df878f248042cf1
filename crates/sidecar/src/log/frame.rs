//! One frame of a log: kind (1 byte), time (8), length (4), content; numbers are little-endian.
//!
//! A frame is what one read of a pipe gave: part of a line, a line, or many. Readers join frames of one stream before
//! they look for lines.

/// The bytes before a frame's content.
pub(crate) const HEADER_BYTES: usize = 13;
/// The bytes of a mark: two numbers.
pub(crate) const MARK_BYTES: usize = HEADER_BYTES + 16;

/// A piece of log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it comes from.
    pub kind: FrameKind,
    /// When it arrived, in microseconds of the wall clock.
    pub at_us: i64,
    /// What was written; for a mark, two numbers.
    pub content: &'a [u8],
}

/// Where a frame comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A mark: something is missing here.
    Dropped,
}

impl FrameKind {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
            Self::Dropped => 3,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::Stdout, Self::Stderr, Self::Dropped].into_iter().find(|kind| kind.code() == code)
    }
}

impl Frame<'_> {
    /// The bytes of output that a mark says are missing.
    pub fn dropped_bytes(&self) -> Option<u64> {
        let number = self.content.first_chunk::<8>()?;
        (self.kind == FrameKind::Dropped).then_some(u64::from_le_bytes(*number))
    }

    /// The bytes of frames that a mark stands for: offsets go on after it by so much. Zero for output that never
    /// became frames.
    pub fn gap(&self) -> u64 {
        match (self.kind, self.content.last_chunk::<8>()) {
            (FrameKind::Dropped, Some(number)) => u64::from_le_bytes(*number),
            _ => 0,
        }
    }
}

/// The frames in `bytes`, up to the first that is cut short or is none.
pub fn frames(bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (header, after) = rest.split_first_chunk::<HEADER_BYTES>()?;
        let kind = FrameKind::from_code(header[0])?;
        let at_us = i64::from_le_bytes(*header[1..].first_chunk()?);
        let length = u32::from_le_bytes(*header.last_chunk()?) as usize;
        let content = after.get(..length)?;
        rest = &after[length..];
        Some(Frame { kind, at_us, content })
    })
}

/// The header of a frame.
pub(crate) fn header(kind: FrameKind, at_us: i64, length: usize) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[0] = kind.code();
    header[1..9].copy_from_slice(&at_us.to_le_bytes());
    header[9..].copy_from_slice(&(length as u32).to_le_bytes());
    header
}

/// A whole mark.
pub(crate) fn mark(at_us: i64, dropped_bytes: u64, gap: u64) -> [u8; MARK_BYTES] {
    let mut mark = [0; MARK_BYTES];
    mark[..HEADER_BYTES].copy_from_slice(&header(FrameKind::Dropped, at_us, 16));
    mark[HEADER_BYTES..HEADER_BYTES + 8].copy_from_slice(&dropped_bytes.to_le_bytes());
    mark[HEADER_BYTES + 8..].copy_from_slice(&gap.to_le_bytes());
    mark
}

/// The length of the whole frames at the start of `bytes` that fit into `limit`, and the output in them.
pub(crate) fn whole_frames(bytes: &[u8], limit: usize) -> usize {
    let mut length = 0;
    for frame in frames(bytes) {
        let with_it = length + HEADER_BYTES + frame.content.len();
        // One frame is always given, so that a reader with a small limit gets on.
        if with_it > limit && length > 0 {
            break;
        }
        length = with_it;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back_up_to_a_cut() {
        let mut bytes = Vec::new();
        for (kind, content) in [(FrameKind::Stdout, "one\n"), (FrameKind::Stderr, "two\n")] {
            bytes.extend_from_slice(&header(kind, 7, content.len()));
            bytes.extend_from_slice(content.as_bytes());
        }
        bytes.extend_from_slice(&mark(9, 100, 126));
        let read: Vec<_> = frames(&bytes).collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[1], Frame { kind: FrameKind::Stderr, at_us: 7, content: b"two\n" });
        assert_eq!((read[2].dropped_bytes(), read[2].gap()), (Some(100), 126));
        assert_eq!(frames(&bytes[..bytes.len() - 1]).count(), 2);
        assert_eq!(whole_frames(&bytes, 20), 17);
        assert_eq!(whole_frames(&bytes, 1), 17);
        assert_eq!(whole_frames(&bytes, 34), 34);
    }

    #[test]
    fn foreign_bytes_are_no_frames() {
        assert_eq!(frames(b"plain text that is no log at all").count(), 0);
        assert_eq!(frames(&[1; 200]).count(), 0);
    }
}
