//! Sessions of the console: a cookie in exchange for a one-time code or a token.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Identity, Time};

/// What a session is asked with: exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionRequest {
    /// A one-time login code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// An API token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A session. Its secret is in the cookie only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Who.
    pub identity: Identity,
    /// Good until then.
    pub expires_at: Time,
}

/// A login code to be made, for oneself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoginCodeRequest {
    /// How long it is good for, such as `10m`, which is also the default; the most is an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

/// A code that opens one session once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoginCode {
    /// The code; it is not shown again.
    pub code: String,
    /// The path of the console that takes it.
    pub path: String,
    /// Good until then.
    pub expires_at: Time,
}
