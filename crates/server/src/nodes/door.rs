//! The gate over the use cases: join tokens and node credentials are theirs.

use std::sync::Arc;

use async_trait::async_trait;
use mainspring_app::App;
use mainspring_model::{ErrorCode, NodeId};

use super::gate::{Admission, Gate, GateError};

/// Asks the use cases.
pub(crate) struct Door(pub(crate) Arc<App>);

#[async_trait]
impl Gate for Door {
    async fn join(&self, token: &str, node: NodeId, name: &str, nonce: &[u8]) -> Result<String, GateError> {
        self.0.redeem_join_token(token, node, name, nonce).await.map_err(refused)
    }

    async fn identify(&self, credential: &str) -> Result<NodeId, GateError> {
        self.0.authenticate_node(credential).await.map(|identity| identity.node).map_err(refused)
    }

    async fn admit(&self, credential: &str, node: NodeId) -> Result<Admission, GateError> {
        let identity = self.0.authenticate_node(credential).await.map_err(refused)?;
        if identity.node != node {
            return Err(GateError::Refused("the credential is another node's".to_owned()));
        }
        let labels = self.0.labels_of(node).await.map_err(refused)?;
        Ok(Admission { pool: identity.pool, labels })
    }
}

fn refused(error: mainspring_app::Error) -> GateError {
    match error.code {
        ErrorCode::Unauthenticated | ErrorCode::Forbidden | ErrorCode::InvalidRequest => {
            GateError::Refused(error.to_string())
        }
        _ => GateError::Unavailable,
    }
}
