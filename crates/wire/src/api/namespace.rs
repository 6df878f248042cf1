//! Namespaces. One exists as soon as something is in it; a record of its own carries a description.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A namespace. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = NamespaceInfo)]
pub struct Namespace {
    /// The path, such as `acme/data/etl`.
    pub path: mainspring_model::Namespace,
    /// What it is for.
    pub description: String,
    /// Grows by one with every change.
    pub revision: u64,
    /// When it was made.
    pub created_at: Time,
    /// By whom.
    pub created_by: String,
    /// When it last changed.
    pub updated_at: Time,
}

/// What a namespace shall be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PutNamespace {
    /// What it is for.
    #[schema(max_length = 4096)]
    pub description: String,
}
