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
    /// What it is.
    pub kind: TokenKind,
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
    /// When it was last used, to ten minutes; absent when it was not, or not since this is written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Time>,
    /// The address from which that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A token of a person or a program.
    Api,
    /// A session of the console.
    Session,
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
    /// Whom to ask for a role.
    #[serde(default)]
    pub admins: Admins,
    /// The server that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerNow>,
}

/// Admins who can give a role to whoever asks: those of everywhere, and those of the namespaces above and below the
/// places where they have one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Admins {
    /// At most 20, the innermost namespaces first.
    #[schema(max_items = 20)]
    pub items: Vec<RoleGiver>,
    /// Whether there may be more.
    pub partial: bool,
}

/// Somebody who can give roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoleGiver {
    /// Who.
    pub subject: String,
    /// Where and in all below; absent is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<mainspring_model::Namespace>,
}

/// A server at the moment of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerNow {
    /// Its version.
    pub software: String,
    /// The time that schedules and rows go by: the store's.
    pub now: Time,
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
