//! Members: who has which role in which namespace. A role holds in the namespace and in all below it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// What somebody may do, each role more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look at jobs, runs and logs.
    Viewer,
    /// Also submit, cancel, retry, pause and drain.
    Operator,
    /// Also change jobs and artifacts.
    Editor,
    /// Also members, tokens, namespaces, nodes and the audit.
    Admin,
}

/// A role that somebody has. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Member {
    /// Who: the name of a person or of a program.
    pub subject: String,
    /// Where; absent is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<mainspring_model::Namespace>,
    /// What.
    pub role: Role,
    /// Grows by one with every change.
    pub revision: u64,
    /// When it was given.
    pub granted_at: Time,
    /// By whom.
    pub granted_by: String,
}

/// The role that somebody shall have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutMember {
    /// What.
    pub role: Role,
}

impl Role {
    /// Every role, the least first.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Editor, Self::Admin];

    /// The role's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }
}
