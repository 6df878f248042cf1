//! The schedulers' own repository of artifacts, over the connection that the node has anyway.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mainspring_blob::{Content, Limits};
use mainspring_model::spec::Digest;
use mainspring_model::{AttemptToken, NodeId};
use mainspring_wire::agent::agent_service_client::AgentServiceClient;
use mainspring_wire::agent::{FetchRequest, FileChunk, bytes_of};
use tokio_stream::StreamExt;
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;

/// The way to the repository, while there is one. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    node: NodeId,
    way: Arc<Mutex<Option<Way>>>,
}

#[derive(Debug, Clone)]
struct Way {
    client: AgentServiceClient<Channel>,
    credential: MetadataValue<Ascii>,
}

impl Repository {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, way: Arc::default() }
    }

    /// The node is connected here now.
    pub(crate) fn at(&self, client: AgentServiceClient<Channel>, credential: MetadataValue<Ascii>) {
        *self.way.lock().unwrap_or_else(PoisonError::into_inner) = Some(Way { client, credential });
    }

    /// Copies a file that an attempt names to `to`.
    pub(crate) async fn fetch(
        &self,
        token: AttemptToken,
        digest: Digest,
        to: &Path,
        limits: Limits,
    ) -> Result<Content, String> {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Way { mut client, credential } = way.ok_or("no scheduler is connected")?;
        let mut request = Request::new(FetchRequest {
            node: bytes_of(self.node.as_bytes()),
            token: Some(token.into()),
            digest: prost::bytes::Bytes::copy_from_slice(digest.as_bytes()),
        });
        request.metadata_mut().insert("authorization", credential);
        let chunks = client.fetch(request).await.map_err(|status| status.message().to_owned())?.into_inner();
        let content = chunks.map(|chunk| match chunk {
            Ok(FileChunk { data }) => Ok(data),
            Err(status) => Err(io::Error::other(status.message().to_owned())),
        });
        mainspring_blob::save(content, to, limits).await.map_err(|error| error.to_string())
    }
}
