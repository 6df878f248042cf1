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
