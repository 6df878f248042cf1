//! The repository of artifacts: content by its digest, in a directory or in a bucket.

use std::io;
use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use mainspring_app::ports::{ArtifactError, Artifacts, Content, Incoming, StoredArtifact};
use mainspring_blob::{Blobs, content_key};
use mainspring_model::Timestamp;
use mainspring_model::spec::Digest;

/// How long a file may take to come.
const RECEIVING_MAX: Duration = Duration::from_secs(86_400);

/// Artifacts in blobs.
pub(crate) struct Repository(pub(crate) Blobs);

#[async_trait]
impl Artifacts for Repository {
    async fn receive(&self, content: Content, bytes_max: u64) -> Result<Box<dyn Incoming>, ArtifactError> {
        Ok(Box::new(Received(self.0.receive(content, bytes_max).await.map_err(refused)?)))
    }

    async fn get(&self, digest: Digest, range: Option<Range<u64>>) -> Result<Option<Content>, ArtifactError> {
        match self.0.get(&content_key(&digest), range).await {
            Ok(content) => Ok(Some(Box::pin(content))),
            Err(mainspring_blob::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    async fn remove(&self, digest: Digest) -> Result<(), ArtifactError> {
        self.0.remove(&content_key(&digest)).await.map_err(refused)
    }

    async fn tidy(&self, now: Timestamp) -> Result<(), ArtifactError> {
        let micros = (now - RECEIVING_MAX).as_micros();
        self.0.remove_incoming(Duration::from_micros(micros.max(0) as u64)).await.map_err(refused)
    }
}

/// A file on its way.
struct Received(mainspring_blob::Incoming);

#[async_trait]
impl Incoming for Received {
    fn stored(&self) -> StoredArtifact {
        let content = self.0.content();
        StoredArtifact { digest: content.digest, bytes: content.size }
    }

    async fn keep(self: Box<Self>) -> Result<(), ArtifactError> {
        self.0.keep().await.map_err(refused)
    }
}

fn refused(error: mainspring_blob::Error) -> ArtifactError {
    match error {
        mainspring_blob::Error::TooLarge { limit } => ArtifactError::TooLarge(limit),
        mainspring_blob::Error::Source(source) => ArtifactError::Upload(source),
        other => ArtifactError::Io(io::Error::other(other.to_string())),
    }
}
