//! Webhooks: the token with which a trigger is called, and what a call is answered.

use mainspring_model::RunId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A wish for a new token of a webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookTokenRequest {
    /// The secret that callers sign with, if theirs is given already; without it, one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 8, max_length = 256)]
    pub secret: Option<String>,
}

/// A new token of a webhook. It is shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HookToken {
    /// The token, by the first characters of its hash, as the audit has it.
    pub id: String,
    /// The token.
    pub token: String,
    /// Where to call: a path of this server.
    pub path: String,
    /// What callers sign with, where the trigger asks for a signature.
    pub secret: String,
    /// When it was made.
    pub created_at: Time,
}

/// What a call of a webhook made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Delivered {
    /// The run.
    pub id: RunId,
    /// Whether an earlier call of the same delivery made it.
    pub duplicate: bool,
}
