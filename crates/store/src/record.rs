//! Records: small documents of the management side (tokens, grants, audit…) and of the engine (what it remembers about
//! jobs), which the store keeps under a kind and a key and never looks into.
//!
//! A record has a revision, so that every change is a compare-and-set. One that is past its `expires_at` is read like
//! any other until [`crate::Store::retain_records`] removes it: a store does not compare times, its caller does.

use std::borrow::Borrow;

use mainspring_model::{Payload, Timestamp};

/// What a record is about. Numbers below 1,000 are given out by `app`, those from there on by `engine`; none is ever used
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKind(pub u16);

/// What tells records of a kind apart: 1 to [`mainspring_model::limits::RECORD_KEY_BYTES_MAX`] bytes, ordered byte by
/// byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey(Box<[u8]>);

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is about.
    pub kind: RecordKind,
    /// Unique within the kind.
    pub key: RecordKey,
    /// Grows by one with every write, from 1.
    pub revision: u64,
    /// When it may be removed, if ever.
    pub expires_at: Option<Timestamp>,
    /// What it says.
    pub value: Payload,
}

/// Records of a kind, ordered by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordQuery {
    /// The kind.
    pub kind: RecordKind,
    /// Only keys that begin with this; nothing is any.
    pub prefix: Box<[u8]>,
    /// Only what comes after this in the order; it need not exist.
    pub after: Option<RecordKey>,
    /// From the greatest key down, instead of from the smallest up.
    pub reverse: bool,
    /// At most so many rows.
    pub limit: usize,
}

/// Which records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordRetention {
    /// Those of every kind whose `expires_at` is this moment or before, the earliest first; then by kind and key.
    Expired {
        /// The moment.
        at: Timestamp,
    },
    /// Those of a kind with a key in a range, the smallest first.
    Keys {
        /// The kind.
        kind: RecordKind,
        /// At or above this; nothing is any.
        from: Box<[u8]>,
        /// Below this.
        until: RecordKey,
    },
}

impl RecordKey {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl RecordQuery {
    /// All records of a kind, the smallest key first.
    pub fn all(kind: RecordKind, limit: usize) -> Self {
        Self { kind, prefix: Box::default(), after: None, reverse: false, limit }
    }

    /// The keys that begin with the prefix: at or above the first, below the second, if it has an end.
    pub fn range(&self) -> (&[u8], Option<Box<[u8]>>) {
        (&self.prefix, end_of_prefix(&self.prefix))
    }
}

/// The smallest key above all that begin with `prefix`; none when nothing is.
fn end_of_prefix(prefix: &[u8]) -> Option<Box<[u8]>> {
    let kept = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end: Box<[u8]> = prefix[..=kept].into();
    end[kept] += 1;
    Some(end)
}

impl From<&[u8]> for RecordKey {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for RecordKey {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<Vec<u8>> for RecordKey {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

/// So that a map of keys can be asked with plain bytes.
impl Borrow<[u8]> for RecordKey {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range_of_keys() {
        for (prefix, end) in [
            (&b""[..], None),
            (b"a", Some(&b"b"[..])),
            (b"a/", Some(b"a0")),
            (b"a\xff", Some(b"b")),
            (b"\xff\xff", None),
            (b"a\xff\xff\xfe\xff", Some(b"a\xff\xff\xff")),
        ] {
            assert_eq!(end_of_prefix(prefix).as_deref(), end, "{prefix:?}");
            let within = |key: &[u8]| key >= prefix && end.is_none_or(|end| key < end);
            for key in [&b"a"[..], b"a/x", b"a0", b"a\xff", b"a\xff\xff", b"b", b"\xff", b"\xff\xff\xff"] {
                assert_eq!(within(key), key.starts_with(prefix), "{prefix:?} {key:?}");
            }
        }
    }
}
