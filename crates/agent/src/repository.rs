//! The schedulers' own repository of artifacts, over the connection that the node has anyway.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainspring_blob::{Content, Limits};
use mainspring_model::spec::Digest;
use mainspring_model::{AttemptToken, NodeId};
use mainspring_wire::agent::agent_service_client::AgentServiceClient;
use mainspring_wire::agent::{FetchRequest, FileChunk, bytes_of};
use tokio_stream::StreamExt;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

/// The first and the longest wait between two tries.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(2);
/// How often a refusal is not believed.
const DENIALS_MAX: u32 = 5;

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

    /// Copies a file that an attempt names to `to`. A scheduler that goes away meanwhile is waited for: the attempt's own
    /// time to start ends that, or the node's lease.
    pub(crate) async fn fetch(
        &self,
        token: AttemptToken,
        digest: Digest,
        to: &Path,
        limits: Limits,
    ) -> Result<Content, String> {
        let (mut wait, mut denials) = (RETRY_MIN, 0);
        loop {
            let why = match self.fetch_once(token, digest, to, limits).await {
                Ok(content) => return Ok(content),
                Err(Failure::Final(why)) => return Err(why),
                // Whoever has just taken over may not know yet what runs here.
                Err(Failure::Denied(why)) if denials == DENIALS_MAX => return Err(why),
                Err(Failure::Denied(why)) => {
                    denials += 1;
                    why
                }
                Err(Failure::Passing(why)) => why,
            };
            tracing::warn!(%token, %digest, why, "an artifact was not fetched; trying again");
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn fetch_once(
        &self,
        token: AttemptToken,
        digest: Digest,
        to: &Path,
        limits: Limits,
    ) -> Result<Content, Failure> {
        let way = self.way.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let none = || Failure::Passing("no scheduler is connected".to_owned());
        let Way { mut client, credential } = way.ok_or_else(none)?;
        let mut request = Request::new(FetchRequest {
            node: bytes_of(self.node.as_bytes()),
            token: Some(token.into()),
            digest: prost::bytes::Bytes::copy_from_slice(digest.as_bytes()),
        });
        request.metadata_mut().insert("authorization", credential);
        let chunks = client.fetch(request).await?.into_inner();
        let content = chunks.map(|chunk| match chunk {
            Ok(FileChunk { data }) => Ok(data),
            Err(status) => Err(io::Error::other(status.message().to_owned())),
        });
        mainspring_blob::save(content, to, limits).await.map_err(|error| match error {
            mainspring_blob::Error::Source(_) => Failure::Passing(error.to_string()),
            _ => Failure::Final(error.to_string()),
        })
    }
}

/// Why a file was not fetched.
enum Failure {
    /// Trying again does not help.
    Final(String),
    /// This scheduler says that it is not for this node.
    Denied(String),
    /// The scheduler, or the way to it, is away.
    Passing(String),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let why = status.message().to_owned();
        match status.code() {
            Code::NotFound | Code::InvalidArgument | Code::Unimplemented => Self::Final(why),
            Code::PermissionDenied | Code::Unauthenticated => Self::Denied(why),
            _ => Self::Passing(why),
        }
    }
}
