//! Why somebody may do something, or not: the role that it needs and the grant that gives it.

use mainspring_model::Namespace;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Grant, Role};

/// Whether a subject may do something. Tokens may be limited further than their subject is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Access {
    /// Who.
    pub subject: String,
    /// The operation, as in `x-permission` of the schema.
    pub operation: String,
    /// Where; absent is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// Whether they may.
    pub allowed: bool,
    /// The least role that it needs; absent where none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Role>,
    /// Where the role is needed.
    pub place: AccessPlace,
    /// The grant that decides: the highest of the subject that holds there, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
}

/// Where a role is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessPlace {
    /// In the namespace, or above it.
    Namespace,
    /// Everywhere.
    Everywhere,
    /// Nowhere: it is enough to be signed in.
    SignedIn,
    /// Not even that.
    Anyone,
}
