//! Artifacts: files kept by the digest of their content.

use mainspring_model::Namespace;
use mainspring_model::spec::Digest;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ArtifactInfo)]
pub struct Artifact {
    /// What it contains. Also the `ETag` of its content.
    pub digest: Digest,
    /// Where it belongs.
    pub namespace: Namespace,
    /// What it is called, for people.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
    /// Its content type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// When it came.
    pub created_at: Time,
    /// From whom.
    pub created_by: String,
    /// Counts changes of what is known about it. Also its `ETag`.
    #[serde(default)]
    pub revision: u64,
    /// Kept at least until then; absent is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}
