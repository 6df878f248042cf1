//! Files for attempts: a node gets those that an attempt of its own names, and no others (I34).

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt;
use mainspring_app::ports::Artifacts;
use mainspring_model::spec::Digest;
use mainspring_model::{AttemptToken, NodeId};
use mainspring_store::Store;
use mainspring_wire::agent::FileChunk;
use tokio_stream::Stream;
use tonic::Status;
use tracing::warn;

use crate::logs::Ownership;
use crate::seat::read;

/// What is sent.
pub(super) type Chunks = Pin<Box<dyn Stream<Item = Result<FileChunk, Status>> + Send>>;

/// Finds files for nodes.
pub(crate) struct Files {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ownership: Ownership,
    pub(crate) artifacts: Arc<dyn Artifacts>,
}

impl Files {
    pub(super) async fn fetch(
        &self,
        node: NodeId,
        token: AttemptToken,
        digest: Digest,
    ) -> Result<Chunks, Status> {
        if !self.ownership.is_of(node, token).await || !self.names(token, digest).await? {
            return Err(Status::permission_denied("no attempt of this node names the artifact"));
        }
        let content = self.artifacts.get(digest, None).await.map_err(|error| {
            warn!(error = &error as &dyn std::error::Error, "an artifact cannot be read");
            Status::unavailable("the artifact cannot be read at the moment")
        })?;
        let content = content.ok_or_else(|| {
            Status::not_found(format!(
                "{digest} is not in the repository; `mainspring artifact push` puts it there"
            ))
        })?;
        Ok(Box::pin(content.map(|data| match data {
            Ok(data) => Ok(FileChunk { data }),
            Err(error) => Err(Status::unavailable(error.to_string())),
        })))
    }

    /// Whether the specification of the run names the artifact.
    async fn names(&self, token: AttemptToken, digest: Digest) -> Result<bool, Status> {
        let unavailable = |error: mainspring_store::Error| {
            warn!(%error, "a run cannot be read");
            Status::unavailable("the store does not answer; try again")
        };
        let rows = self.store.runs_by_id(&[token.run]).await.map_err(unavailable)?;
        let loaded = read::load(&*self.store, rows).await.map_err(unavailable)?;
        let specs = loaded.iter().filter_map(|row| row.spec.as_ref());
        Ok(specs.flat_map(|spec| &spec.artifacts).any(|artifact| artifact.digest == digest))
    }
}
