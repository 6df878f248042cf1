//! The hash chain of one process: entries become records, each with the hash of the one before.
//!
//! A record that was made is written: with the transaction of its entries or, when that failed, alone. Otherwise the next
//! one names a record that nobody has, and a reader must take it for one that was removed. Records may be written in any
//! order; their numbers tell the order of the chain. What could not be written is left here for whoever commits next.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mainspring_model::{MemberId, Timestamp, limits};
use mainspring_store::{Record, RecordKey, Write};
use mainspring_wire::api::AuditEntry;
use serde::{Deserialize, Serialize};

use super::Entry;
use crate::record;
use crate::secret::sha256;

/// Bytes of entries after which a new record is begun; one entry is far smaller.
const RECORD_BYTES_FULL: usize = limits::RECORD_VALUE_BYTES_MAX / 2;
/// Records that are kept for the next commit when the store was away; more are only logged.
const LEFT_OVER_MAX: usize = 1_000;

/// The chain of one process. Shared by everything in it that commits.
#[derive(Debug)]
pub struct Chain {
    id: MemberId,
    keep: Duration,
    link: Mutex<Link>,
    /// Records that were made and, as far as anybody knows, not written.
    left_over: Mutex<Vec<Write>>,
}

/// Where the chain stands.
#[derive(Debug, Clone, Copy)]
struct Link {
    number: u64,
    hash: [u8; 32],
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// The process.
    pub(crate) chain: MemberId,
    /// From 1.
    pub(crate) number: u64,
    /// The hash of the record before, in hexadecimal digits; zeros for the first.
    pub(crate) before: String,
    /// The calls.
    pub(crate) entries: Vec<AuditEntry>,
}

impl Chain {
    /// A new chain: every process begins one, under an id that no other has. Its records are kept for so long.
    pub fn new(id: MemberId, keep: Duration) -> Self {
        Self { id, keep, link: Mutex::new(Link { number: 0, hash: [0; 32] }), left_over: Mutex::default() }
    }

    /// Leaves records that could not be written for the next commit of entries.
    pub fn leave(&self, records: Vec<Write>) {
        let mut left_over = self.left_over.lock().unwrap_or_else(PoisonError::into_inner);
        let room = LEFT_OVER_MAX.saturating_sub(left_over.len());
        if records.len() > room {
            tracing::error!(lost = records.len() - room, "records of the audit are lost");
        }
        left_over.extend(records.into_iter().take(room));
    }

    /// The records that were left; whoever takes them writes them, or leaves them again.
    pub(super) fn take_left_over(&self) -> Vec<Write> {
        std::mem::take(&mut *self.left_over.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The records of these entries, to be written in one transaction with what the calls wrote. Usually one; nothing for
    /// no entries.
    pub fn record(&self, now: Timestamp, entries: Vec<Entry>) -> Vec<Write> {
        if entries.is_empty() {
            return Vec::new();
        }
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let mut writes = Vec::with_capacity(1);
        let (mut part, mut bytes) = (Vec::with_capacity(entries.len()), 0);
        for entry in entries {
            bytes += size_of(&entry);
            part.push(entry.into());
            if bytes >= RECORD_BYTES_FULL {
                writes.push(self.forge(&mut link, now, std::mem::take(&mut part)));
                bytes = 0;
            }
        }
        if !part.is_empty() {
            writes.push(self.forge(&mut link, now, part));
        }
        writes
    }

    fn forge(&self, link: &mut Link, now: Timestamp, entries: Vec<AuditEntry>) -> Write {
        let number = link.number + 1;
        let document = Document { chain: self.id, number, before: crate::secret::hex(&link.hash), entries };
        let value = record::encode(&document);
        *link = Link { number, hash: sha256(&value) };
        Write::PutRecord(Box::new(Record {
            kind: record::AUDIT,
            key: key(now, self.id, number),
            revision: 1,
            expires_at: Some(now + self.keep),
            value: value.into(),
        }))
    }
}

/// By time, then by process, then by number.
fn key(at: Timestamp, member: MemberId, number: u64) -> RecordKey {
    let mut key = Vec::with_capacity(32);
    key.extend_from_slice(&first_bytes(at));
    key.extend_from_slice(member.as_bytes());
    key.extend_from_slice(&number.to_be_bytes());
    key.into()
}

/// How keys of records made at `at` begin; they are ordered like the moments.
pub(super) fn first_bytes(at: Timestamp) -> [u8; 8] {
    (at.as_micros().max(0) as u64).to_be_bytes()
}

/// How many bytes one byte of text may become by being escaped.
const ESCAPED_BYTES_MAX: usize = 6;

/// At least as many bytes as the entry has in a record.
fn size_of(entry: &Entry) -> usize {
    let text = |text: Option<usize>| text.unwrap_or(0) * ESCAPED_BYTES_MAX;
    256 + entry.actor.len() * ESCAPED_BYTES_MAX
        + text(entry.token.as_ref().map(|token| token.len()))
        + text(entry.namespace.as_ref().map(|namespace| namespace.as_str().len()))
        + text(entry.target.as_ref().map(|target| target.len()))
        + text(entry.detail.as_ref().map(|detail| detail.len()))
        + text(entry.request_id.as_ref().map(|id| id.len()))
}
