//! API tokens: who speaks with them, what they are limited to, until when.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Role, Time};

/// A token, without its secret. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// The token, by the first characters of the hash of its secret.
    pub id: String,
    /// Who speaks with it.
    pub subject: String,
    /// What it is for, in the words of whoever made it.
    pub name: String,
    /// `api` or `session`.
    pub kind: String,
    /// What it is limited to; the subject's own roles limit it too. Empty is no further limit.
    pub scopes: Vec<TokenScope>,
    /// Good until then; absent is without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// When it was made.
    pub created_at: Time,
    /// By whom.
    pub created_by: String,
    /// Grows by one with every change.
    pub revision: u64,
}

/// What a token is limited to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenScope {
    /// Only here and below; absent is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<mainspring_model::Namespace>,
    /// At most this role.
    pub role: Role,
}

/// A token to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CreateToken {
    /// Who shall speak with it; without one, whoever asks. Others' tokens need the role admin everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    pub subject: Option<String>,
    /// What it is for.
    #[schema(max_length = 255)]
    pub name: String,
    /// What it is limited to.
    #[serde(deserialize_with = "super::object::list")]
    #[schema(max_items = 64)]
    pub scopes: Vec<TokenScope>,
    /// How long it is good for, such as `30d`; the default is 90 days, the most ten years.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

/// A token that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedToken {
    /// What it is.
    pub token: Token,
    /// The secret; it is not shown again.
    pub secret: String,
}

/// Who asks, and what they may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Identity {
    /// Who.
    pub subject: String,
    /// With which token.
    pub token: String,
    /// Good until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// What they may do, with the token's limits applied.
    pub grants: Vec<Grant>,
}

/// A role in a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    /// Where and in all below; absent is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<mainspring_model::Namespace>,
    /// What.
    pub role: Role,
}
