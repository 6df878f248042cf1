//! Who did what, or tried to.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A mutating call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// When.
    pub at: Time,
    /// Who.
    pub actor: String,
    /// With which token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What, as in the permission table: `run.submit`, `job.put`…
    pub operation: String,
    /// Where; absent is the whole cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// To what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether it was allowed.
    pub outcome: AuditOutcome,
    /// The code of what was allowed but did not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What else there is to say: a note, a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// From which address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Whether a call was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// The caller's role allowed it.
    Allowed,
    /// It did not.
    Denied,
}

/// A look at whether the audit is as it was written: each record names the hash of the one before it in its chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditCheck {
    /// Records that were looked at, the newest first.
    pub checked: u64,
    /// Where a chain is broken, at most 100 places.
    #[schema(max_items = 100)]
    pub breaks: Vec<AuditBreak>,
    /// The time of the oldest entry that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// The time of the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Where to go on, when older records were not looked at. The next part begins a little before the end of this one, so
    /// that what links them is looked at, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A place where a chain of the audit is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditBreak {
    /// The chain, by the process that wrote it.
    pub chain: mainspring_model::MemberId,
    /// The record that does not follow from the one before.
    pub number: u64,
    /// What is wrong.
    pub what: String,
}
