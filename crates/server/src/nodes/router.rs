//! The routes of the gRPC service, each with the largest message that it reads.

use std::sync::Arc;

use axum::Router;
use mainspring_wire::agent::agent_service_server::{AgentServiceServer, SERVICE_NAME};

use super::service::NodeService;

/// The largest batch of a node's messages. Nothing is read of the stream before the node is known.
const NODE_MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest request of a call that is read before the credential in it, or beside it, is looked at.
const CALL_BYTES_MAX: usize = 64 * 1024;

/// The service, without a fallback.
pub(crate) fn router(service: NodeService) -> Router {
    let service = Arc::new(service);
    let calls = AgentServiceServer::from_arc(Arc::clone(&service)).max_decoding_message_size(CALL_BYTES_MAX);
    let streams = AgentServiceServer::from_arc(service).max_decoding_message_size(NODE_MESSAGE_BYTES_MAX);
    Router::new()
        .route_service(&format!("/{SERVICE_NAME}/Connect"), streams)
        .route_service(&format!("/{SERVICE_NAME}/{{*call}}"), calls)
}
