//! Who may connect as a node.

use async_trait::async_trait;
use mainspring_model::NodeId;

/// Decides about nodes at the door. Implemented over `app`.
#[async_trait]
pub(crate) trait Gate: Send + Sync {
    /// Exchanges a single-use join token for the node's own credential.
    async fn join(&self, token: &str, node: NodeId, name: &str) -> Result<String, GateError>;

    /// Whether whoever shows this credential may be this node.
    async fn admit(&self, credential: &str, node: NodeId) -> Result<(), GateError>;
}

/// Why somebody is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GateError {
    /// The token or credential is unknown, used up, expired, revoked or somebody else's.
    #[error("{0}")]
    Refused(String),
    /// It cannot be said at the moment.
    #[error("the store does not answer")]
    Unavailable,
}
