//! The kinds of records and how they are written: JSON, so that a person with the database can read them.
//!
//! Numbers are given out once. What a record says is a type beside the use case that writes it.

use mainspring_model::ErrorCode;
use mainspring_store::{Record, RecordKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// API tokens and sessions, by the hash of the secret.
pub(crate) const TOKEN: RecordKind = RecordKind(1);
/// Roles, by (subject, namespace).
pub(crate) const GRANT: RecordKind = RecordKind(2);
/// Namespaces, by path.
pub(crate) const NAMESPACE: RecordKind = RecordKind(3);
/// The audit, by time.
pub(crate) const AUDIT: RecordKind = RecordKind(4);
/// Tokens with which a node joins, by the hash of the secret.
pub(crate) const JOIN_TOKEN: RecordKind = RecordKind(5);
/// Credentials of nodes, by the hash of the secret.
pub(crate) const NODE_CREDENTIAL: RecordKind = RecordKind(6);
/// One-time login codes, by the hash of the secret.
pub(crate) const LOGIN_CODE: RecordKind = RecordKind(7);
/// What is known about artifacts, by (digest, namespace).
pub(crate) const ARTIFACT: RecordKind = RecordKind(8);
/// Labels laid over those of a node, by node.
pub(crate) const NODE_LABELS: RecordKind = RecordKind(9);
/// Which nodes have a credential, by node: there is one for each.
pub(crate) const NODE_CLAIM: RecordKind = RecordKind(10);
/// Files that no namespace has any more, by digest.
pub(crate) const FILE_MARK: RecordKind = RecordKind(11);
/// One record, which changes whenever somebody stops being admin of everywhere.
pub(crate) const ADMIN_GUARD: RecordKind = RecordKind(12);
/// Tokens of webhooks, by the hash of the secret.
pub(crate) const HOOK: RecordKind = RecordKind(13);
/// Which triggers have a token, by (job, trigger): there is one for each.
pub(crate) const HOOK_CLAIM: RecordKind = RecordKind(14);
/// Calendars, by (namespace, name).
pub(crate) const CALENDAR: RecordKind = RecordKind(15);

/// Nodes that live in the process of their server, by node.
pub(crate) const RESIDENT: RecordKind = RecordKind(16);
/// What is kept of a version of a job beside its specification, by (job, version).
pub(crate) const JOB_NOTE: RecordKind = RecordKind(22);
/// The text of a version of a job as it was put, by (job, version, part).
pub(crate) const JOB_SOURCE: RecordKind = RecordKind(23);
/// The number of cells of this store: one record.
pub(crate) const CELL_COUNT: RecordKind = RecordKind(17);

/// Bulk operations, by id.
pub(crate) const BULK: RecordKind = RecordKind(18);
/// How far bulk operations are, by (operation, cell).
pub(crate) const BULK_PART: RecordKind = RecordKind(19);
/// Bulk operations that are not over, by id.
pub(crate) const BULK_OPEN: RecordKind = RecordKind(20);
/// When tokens were last used and from where, by the hash of the secret.
pub(crate) const TOKEN_USE: RecordKind = RecordKind(21);

/// What a record says, as bytes.
pub(crate) fn encode<T: Serialize>(document: &T) -> Vec<u8> {
    // Documents are our own types with text keys: they always serialize.
    serde_json::to_vec(document).unwrap_or_default()
}

/// What a record says.
pub(crate) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    serde_json::from_slice(&record.value).map_err(|error| {
        tracing::error!(kind = record.kind.0, key = ?record.key, %error, "a record cannot be read");
        Error::new(ErrorCode::Internal, "a stored record cannot be read")
    })
}
