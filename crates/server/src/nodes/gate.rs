//! Who may connect as a node.

use async_trait::async_trait;
use mainspring_model::{Labels, NodeId};

/// Decides about nodes at the door. Implemented over `app`.
#[async_trait]
pub(crate) trait Gate: Send + Sync {
    /// Exchanges a single-use join token for the node's own credential.
    async fn join(&self, token: &str, node: NodeId, name: &str, nonce: &[u8]) -> Result<String, GateError>;

    /// Whose credential this is.
    async fn identify(&self, credential: &str) -> Result<NodeId, GateError>;

    /// Whether whoever shows this credential may be this node, and as what.
    async fn admit(&self, credential: &str, node: NodeId) -> Result<Admission, GateError>;
}

/// What is known about a node beside what it says itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Admission {
    /// The pool it was invited to; any if absent.
    pub(crate) pool: Option<String>,
    /// Labels that people laid over its own.
    pub(crate) labels: Labels,
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
