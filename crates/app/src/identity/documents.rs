//! What the records of this folder say.

use mainspring_model::{Namespace, NodeId, Timestamp};
use mainspring_wire::api::{Role, TokenScope};
use serde::{Deserialize, Serialize};

use crate::secret::SecretHash;

/// A token or a session, by the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenDocument {
    pub(crate) subject: String,
    pub(crate) name: String,
    pub(crate) session: bool,
    pub(crate) scopes: Vec<TokenScope>,
    pub(crate) created_at: Timestamp,
    pub(crate) created_by: String,
    /// What a session came from, the oldest first: it is good as long as each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) origins: Vec<SecretHash>,
}

/// When a token was last used, by the hash of its secret. Coarse: it is written every ten minutes at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenUseDocument {
    pub(crate) at: Timestamp,
    /// From which address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<std::net::IpAddr>,
}

/// A role, by (subject, namespace).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrantDocument {
    pub(crate) role: Role,
    pub(crate) granted_at: Timestamp,
    pub(crate) granted_by: String,
}

/// A login code, by the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoginCodeDocument {
    pub(crate) subject: String,
    pub(crate) scopes: Vec<TokenScope>,
    pub(crate) created_by: String,
    /// What it came from, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) origins: Vec<SecretHash>,
    /// When the first of those ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ends: Option<Timestamp>,
}

/// A join token, by the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JoinDocument {
    pub(crate) pool: Option<String>,
    pub(crate) created_by: String,
}

/// A node's credential, by the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CredentialDocument {
    pub(crate) node: NodeId,
    pub(crate) name: String,
    pub(crate) pool: Option<String>,
    pub(crate) joined_at: Timestamp,
}

/// Where a role is, as a key has it: nothing is everywhere.
pub(crate) fn place_of(text: &str) -> Option<Option<Namespace>> {
    if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) }
}
