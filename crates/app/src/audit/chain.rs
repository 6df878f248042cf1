//! The hash chains of one process: entries become records, each with the hash of the one before.
//!
//! A process has several chains, and a chain has one record on its way at a time: the next is made when the one before is
//! known to be written. A record whose fate is not known is the last of its chain; others go on with another. So no chain has
//! a hole, whenever the process is killed. Records that are not known to be written are left here until they are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainspring_model::{MemberId, Timestamp, limits};
use mainspring_store::{Record, RecordKey, Write};
use mainspring_wire::api::AuditEntry;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::Entry;
use crate::record;
use crate::secret::sha256;

/// Bytes of entries after which a new record is begun; one entry is far smaller.
const RECORD_BYTES_FULL: usize = limits::RECORD_VALUE_BYTES_MAX / 2;
/// Records that are kept while the store is away. More are dropped and counted, and the next entry tells the count.
const LEFT_OVER_MAX: usize = 1_000;

/// The chains of one process. Shared by everything in it that commits.
#[derive(Debug)]
pub struct Chain {
    id: MemberId,
    keep: Duration,
    strands: Mutex<Strands>,
    left_over: Mutex<LeftOver>,
    is_left: Notify,
}

#[derive(Debug, Default)]
struct Strands {
    made: u64,
    /// Those without a record on its way.
    free: Vec<Strand>,
}

/// Where one chain stands.
#[derive(Debug, Clone, Copy)]
struct Strand {
    id: MemberId,
    number: u64,
    hash: [u8; 32],
}

#[derive(Debug, Default)]
struct LeftOver {
    /// Records that were made and, as far as is known, not written.
    records: Vec<Write>,
    /// Records that were dropped since the last entry that told of it.
    dropped: u64,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// The chain: of one process, which may have several.
    pub(crate) chain: MemberId,
    /// From 1.
    pub(crate) number: u64,
    /// The hash of the record before, in hexadecimal digits; zeros for the first.
    pub(crate) before: String,
    /// The calls.
    pub(crate) entries: Vec<AuditEntry>,
}

/// Records on their way to the store. One that is dropped without a word of its fate leaves its records to be written.
#[derive(Debug)]
pub struct Draft {
    chain: Arc<Chain>,
    before: Strand,
    after: Strand,
    records: Vec<Write>,
    /// How many dropped records its first entry tells of.
    told: u64,
}

impl Draft {
    /// The records, for the transaction of what the calls wrote.
    pub fn records(&self) -> &[Write] {
        &self.records
    }

    /// They are written.
    pub fn written(mut self) {
        self.records.clear();
        self.chain.strands().free.push(self.after);
    }

    /// The store refused them, and always will.
    pub(super) fn refused(mut self) {
        self.chain.left_over().dropped += self.records.len() as u64 + self.told;
        self.records.clear();
        self.chain.strands().free.push(self.before);
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.chain.leave_telling(std::mem::take(&mut self.records), self.told);
    }
}

impl Chain {
    /// New chains: every process begins its own, under ids that no other has. Their records are kept for so long.
    pub fn new(id: MemberId, keep: Duration) -> Self {
        let (strands, left_over) = Default::default();
        Self { id, keep, strands, left_over, is_left: Notify::new() }
    }

    /// Leaves records to be written later.
    pub(super) fn leave(&self, records: Vec<Write>) {
        self.leave_telling(records, 0);
    }

    fn leave_telling(&self, records: Vec<Write>, told: u64) {
        if records.is_empty() {
            return;
        }
        let mut left_over = self.left_over();
        let room = LEFT_OVER_MAX.saturating_sub(left_over.records.len());
        if records.len() > room {
            let dropped = (records.len() - room) as u64;
            // What tells of others is the first of them.
            left_over.dropped += dropped + if room == 0 { told } else { 0 };
            tracing::error!(
                dropped,
                "records of the audit are dropped: the store has been away for too long"
            );
        }
        left_over.records.extend(records.into_iter().take(room));
        drop(left_over);
        self.is_left.notify_one();
    }

    /// Returns when records may be left over.
    pub(super) async fn until_left_over(&self) {
        self.is_left.notified().await;
    }

    /// The records that were left; whoever takes them writes them, or leaves them again.
    pub(super) fn take_left_over(&self) -> Vec<Write> {
        std::mem::take(&mut self.left_over().records)
    }

    /// The records of these entries, to be written in one transaction with what the calls wrote. Usually one; nothing for
    /// no entries.
    pub fn draft(self: &Arc<Self>, now: Timestamp, mut entries: Vec<Entry>) -> Option<Draft> {
        let first = entries.first_mut()?;
        let dropped = std::mem::take(&mut self.left_over().dropped);
        if dropped > 0 {
            let detail = first.detail.take().map_or(String::new(), |detail| format!("{detail}; "));
            let detail = format!("{detail}{dropped} records of the audit before this one were dropped");
            first.detail = Some(detail.into());
        }
        let before = self.free_strand();
        let (mut strand, mut records) = (before, Vec::with_capacity(1));
        let (mut part, mut bytes) = (Vec::with_capacity(entries.len()), 0);
        for entry in entries {
            bytes += size_of(&entry);
            part.push(entry.into());
            if bytes >= RECORD_BYTES_FULL {
                records.push(self.forge(&mut strand, now, std::mem::take(&mut part)));
                bytes = 0;
            }
        }
        if !part.is_empty() {
            records.push(self.forge(&mut strand, now, part));
        }
        Some(Draft { chain: Arc::clone(self), before, after: strand, records, told: dropped })
    }

    fn forge(&self, strand: &mut Strand, now: Timestamp, entries: Vec<AuditEntry>) -> Write {
        let number = strand.number + 1;
        let document =
            Document { chain: strand.id, number, before: crate::secret::hex(&strand.hash), entries };
        let value = record::encode(&document);
        (strand.number, strand.hash) = (number, sha256(&value));
        Write::PutRecord(Box::new(Record {
            kind: record::AUDIT,
            key: key(now, strand.id, number),
            revision: 1,
            expires_at: Some(now + self.keep),
            value: value.into(),
        }))
    }

    /// A chain without a record on its way: the one that was used last, or a new one.
    fn free_strand(&self) -> Strand {
        let mut strands = self.strands();
        if let Some(strand) = strands.free.pop() {
            return strand;
        }
        // The last bytes of an id are random: the next numbers are as good.
        let id = u128::from_be_bytes(*self.id.as_bytes());
        let rest = u128::from(u64::MAX);
        let id = id & !rest | id.wrapping_add(u128::from(strands.made)) & rest;
        strands.made += 1;
        Strand { id: MemberId::from_bytes(id.to_be_bytes()), number: 0, hash: [0; 32] }
    }

    fn strands(&self) -> MutexGuard<'_, Strands> {
        self.strands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left_over(&self) -> MutexGuard<'_, LeftOver> {
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner)
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
