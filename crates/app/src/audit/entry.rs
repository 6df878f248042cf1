//! One mutating call, as it is written down.

use std::net::IpAddr;
use std::sync::Arc;

use mainspring_model::{ErrorCode, Namespace, Timestamp};
use mainspring_wire::api::{AuditEntry, AuditOutcome};

use crate::operation::Operation;

/// Characters of a target that are written down.
const TARGET_CHARS_MAX: usize = 512;
/// Characters of a detail that are written down.
const DETAIL_CHARS_MAX: usize = 4_096;

/// Whether a call was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The caller's role allowed it.
    Allowed,
    /// The caller's role allowed it, but it did not happen.
    Refused(ErrorCode),
    /// The caller's role did not allow it.
    Denied,
}

/// One mutating call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Arc<str>,
    /// With which token.
    pub token: Option<Arc<str>>,
    /// What.
    pub operation: Operation,
    /// Where; none is the whole cluster.
    pub namespace: Option<Namespace>,
    /// To what.
    pub target: Option<Box<str>>,
    /// Whether it was allowed.
    pub outcome: Outcome,
    /// What else there is to say.
    pub detail: Option<Box<str>>,
    /// The request.
    pub request_id: Option<Arc<str>>,
    /// From where.
    pub from: Option<IpAddr>,
}

impl From<Entry> for AuditEntry {
    fn from(entry: Entry) -> Self {
        let (outcome, code) = match entry.outcome {
            Outcome::Allowed => (AuditOutcome::Allowed, None),
            Outcome::Refused(code) => (AuditOutcome::Allowed, Some(code.name().to_owned())),
            Outcome::Denied => (AuditOutcome::Denied, None),
        };
        Self {
            at: entry.at.into(),
            actor: entry.actor.as_ref().into(),
            token: entry.token.as_deref().map(Into::into),
            operation: entry.operation.name().into(),
            namespace: entry.namespace.map(|namespace| namespace.as_str().into()),
            target: entry.target.as_deref().map(|target| short(target, TARGET_CHARS_MAX)),
            outcome,
            code,
            detail: entry.detail.as_deref().map(|detail| short(detail, DETAIL_CHARS_MAX)),
            request_id: entry.request_id.as_deref().map(|id| short(id, TARGET_CHARS_MAX)),
            from: entry.from.map(|address| address.to_string()),
        }
    }
}

/// The beginning of what a caller chose: they may name things at any length.
fn short(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}
