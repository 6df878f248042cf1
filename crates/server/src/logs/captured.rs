//! What there is of a log, and the offsets in it.
//!
//! Offsets count as if nothing were ever dropped, wherever the log is read: while it grows, and from the vault after that. So
//! whoever was cut off goes on where they were, also when the log was put away meanwhile.

use bytes::Bytes;
use mainspring_model::log::MARK_BYTES;

/// All frames that there are, with a mark where some are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) frames: Bytes,
    pub(super) gap: Option<Gap>,
}

/// What is missing, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// Where the beginning ends; among the frames, the mark stands there.
    pub(super) begin: u64,
    /// Where the end begins; by offset, the mark stands right before.
    pub(super) end: u64,
}

impl Captured {
    /// Where it ends, by offset.
    pub(super) fn length(&self) -> u64 {
        let length = self.frames.len() as u64;
        self.gap.map_or(length, |gap| length + gap.shift())
    }

    /// Bytes from `offset` on, at most about `limit`, and where they begin: later than asked where something is missing.
    pub(super) fn read(&self, offset: u64, limit: usize) -> (u64, Bytes) {
        match self.gap {
            None => (offset, self.slice(offset, limit, self.frames.len() as u64)),
            Some(gap) if offset < gap.begin => (offset, self.slice(offset, limit, gap.begin)),
            Some(gap) => {
                let begin = if offset < gap.end { gap.mark() } else { offset };
                (begin, self.slice(begin - gap.shift(), limit + MARK_BYTES, self.frames.len() as u64))
            }
        }
    }

    fn slice(&self, begin: u64, limit: usize, end: u64) -> Bytes {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.frames.len());
        let (begin, end) = (place(begin), place(end));
        self.frames.slice(begin..end.min(begin.saturating_add(limit)).max(begin))
    }
}

impl Gap {
    /// Where its mark stands, by offset.
    fn mark(&self) -> u64 {
        self.end.saturating_sub(MARK_BYTES as u64).max(self.begin)
    }

    /// How much further on things behind it are by offset than among the frames.
    fn shift(&self) -> u64 {
        self.mark() - self.begin
    }

    /// As it is kept.
    pub(super) fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.begin.to_le_bytes());
        bytes[8..].copy_from_slice(&self.end.to_le_bytes());
        bytes
    }

    /// As it was kept.
    pub(super) fn from_bytes(bytes: [u8; 16]) -> Self {
        let (begin, end) = (u128::from_le_bytes(bytes) as u64, (u128::from_le_bytes(bytes) >> 64) as u64);
        Self { begin, end }
    }
}
