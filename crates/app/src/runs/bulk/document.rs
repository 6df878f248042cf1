//! What is kept about an operation: what was asked, and how far each cell is.

use mainspring_model::{BulkId, CellId, Namespace, RunId, Timestamp};
use mainspring_store::{Record, RecordKey, RecordKind, Write};
use mainspring_wire::api::{BulkAction, BulkFailure, Role};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::Result;
use crate::limits::BULK_KEPT;
use crate::record;

/// What was asked, and by whom.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) action: BulkAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) priority: Option<u16>,
    pub(super) q: String,
    pub(super) all: bool,
    /// The newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) runs: Vec<RunId>,
    pub(super) namespace: Option<Namespace>,
    pub(super) by: String,
    /// The name of the token that it was asked with, and what that is limited to.
    pub(super) token: String,
    pub(super) scopes: Vec<(Option<Namespace>, Role)>,
    pub(super) created_at: Timestamp,
    pub(super) matched: u64,
    pub(super) exact: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped_by: Option<String>,
}

/// How far the owner of a cell is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Part {
    /// The last run that was looked at.
    pub(super) after: Option<RunId>,
    pub(super) done: u64,
    pub(super) failed: u64,
    pub(super) failures: Vec<BulkFailure>,
    pub(super) finished_at: Option<Timestamp>,
}

/// A document and the revision of its record; 0 before the first.
#[derive(Debug, Clone)]
pub(super) struct Kept<T> {
    pub(super) value: T,
    pub(super) revision: u64,
}

pub(super) fn key(id: BulkId) -> RecordKey {
    RecordKey::from(&id.as_bytes()[..])
}

pub(super) fn part_key(id: BulkId, cell: CellId) -> RecordKey {
    RecordKey::from([&id.as_bytes()[..], &cell.0.to_be_bytes()].concat())
}

/// The next revision of a document.
pub(super) fn write<T: Serialize>(kind: RecordKind, key: RecordKey, kept: &Kept<T>, now: Timestamp) -> Write {
    Write::PutRecord(Box::new(Record {
        kind,
        key,
        revision: kept.revision + 1,
        expires_at: Some(now + BULK_KEPT),
        value: record::encode(&kept.value).into(),
    }))
}

impl App {
    pub(super) async fn read_kept<T: DeserializeOwned>(
        &self,
        kind: RecordKind,
        key: &RecordKey,
    ) -> Result<Option<Kept<T>>> {
        let found = self.store.record(kind, key).await?;
        found.map(|row| Ok(Kept { value: record::decode(&row)?, revision: row.revision })).transpose()
    }
}
