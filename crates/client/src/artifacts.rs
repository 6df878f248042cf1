//! Artifacts: files kept by the digest of their content. Nothing is held in memory whole.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use futures_util::stream;
use mainspring_wire::api::Artifact;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

/// Bytes that are read from a file at once.
const PIECE_BYTES: usize = 256 * 1024;

/// An artifact that is being downloaded.
#[derive(Debug)]
pub struct Download {
    answer: reqwest::Response,
}

impl Client {
    /// Artifacts of a namespace and all below it, or all that the caller may see.
    pub fn artifacts(&self, namespace: Option<&str>) -> Pages<Artifact> {
        Pages::new(self, Call::get(&["v1", "artifacts"]).maybe("namespace", namespace))
    }

    /// What is known of an artifact.
    pub async fn artifact(&self, namespace: Option<&str>, digest: &str) -> Result<Artifact, Error> {
        self.ask(Call::get(&["v1", "artifacts", digest]).maybe("namespace", namespace)).await
    }

    /// Uploads a file, to be kept for so long (`30d`) or for ever; `sent` is told how many bytes went since it was last told. The
    /// answer carries the digest.
    pub async fn push_artifact(
        &self,
        namespace: Option<&str>,
        name: &str,
        path: &Path,
        ttl: Option<&str>,
        sent: impl Fn(u64) + Send + Sync + 'static,
    ) -> Result<Artifact, Error> {
        let file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        // Reading a local file blocks for less than a network write does.
        let pieces = stream::try_unfold((file, sent), |(mut file, sent)| async move {
            let mut piece = vec![0; PIECE_BYTES];
            let read = file.read(&mut piece)?;
            piece.truncate(read);
            sent(read as u64);
            Ok::<_, std::io::Error>((read > 0).then(|| (Bytes::from(piece), (file, sent))))
        });
        let call = Call::post(&["v1", "artifacts"])
            .maybe("namespace", namespace)
            .query("name", name)
            .maybe("ttl", ttl)
            .header("content-type", "application/octet-stream")
            .header("content-length", length);
        let answer = self.send_stream(&call, reqwest::Body::wrap_stream(pieces)).await?;
        let body = answer.bytes().await.map_err(Error::Broken)?;
        serde_json::from_slice(&body).map_err(|error| Error::Unreadable(error.to_string()))
    }

    /// Begins to download an artifact.
    pub async fn fetch_artifact(&self, namespace: Option<&str>, digest: &str) -> Result<Download, Error> {
        let call = Call::get(&["v1", "artifacts", digest, "content"]).maybe("namespace", namespace);
        Ok(Download { answer: self.open(call).await? })
    }

    /// Removes an artifact.
    pub async fn delete_artifact(&self, namespace: Option<&str>, digest: &str) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "artifacts", digest]).maybe("namespace", namespace)).await
    }
}

impl Download {
    /// How long it is, if the server said so.
    pub fn length(&self) -> Option<u64> {
        self.answer.content_length()
    }

    /// The next bytes; none at the end. Whoever cares compares the digest of all of them.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        self.answer.chunk().await.map_err(Error::Broken)
    }
}
