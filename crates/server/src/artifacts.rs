//! The repository of artifacts: content by its digest, in a directory or in a bucket.

use std::io;
use std::ops::Range;

use async_trait::async_trait;
use mainspring_app::ports::{ArtifactError, Artifacts, Content, StoredArtifact};
use mainspring_blob::{Blobs, content_key};
use mainspring_model::spec::Digest;

/// Artifacts in blobs.
pub(crate) struct Repository(pub(crate) Blobs);

#[async_trait]
impl Artifacts for Repository {
    async fn put(&self, content: Content, bytes_max: u64) -> Result<StoredArtifact, ArtifactError> {
        let stored = self.0.put_content(content, bytes_max).await.map_err(refused)?;
        Ok(StoredArtifact { digest: stored.digest, bytes: stored.size })
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
}

fn refused(error: mainspring_blob::Error) -> ArtifactError {
    match error {
        mainspring_blob::Error::TooLarge { limit } => ArtifactError::TooLarge(limit),
        mainspring_blob::Error::Source(source) => ArtifactError::Upload(source),
        other => ArtifactError::Io(io::Error::other(other.to_string())),
    }
}
