//! From a URL to a path.

use std::io;
use std::path::Path;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt};
use reqwest::Url;
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

use super::{Limits, Transfers, guarded};
use crate::digest::{Content, Digester};
use crate::error::{Error, bare};
use crate::location;

impl Transfers {
    /// Copies what is at `url` to `to`, whose directory must be there. On any error there is nothing at `to`.
    pub async fn fetch(&self, url: &str, to: &Path, limits: Limits) -> Result<Content, Error> {
        let parsed = location::parse(url)?;
        match parsed.scheme() {
            "file" => {
                let path = location::path_of(&parsed)?;
                let file = File::from_std(self.places.open(&path)?);
                let metadata = file.metadata().await.map_err(Error::file("read", &path))?;
                if !metadata.is_file() {
                    return Err(Error::url(url, "it is not a plain file"));
                }
                save(ReaderStream::with_capacity(file, 256 * 1024), to, limits).await
            }
            "http" | "https" => self.fetch_http(&parsed, to, limits).await,
            "s3" => {
                let (operator, key) = self.bucket(&parsed).await?;
                let stat = operator.stat(&key).await.map_err(Error::storage(&bare(url)))?;
                let reader = operator.reader(&key).await.map_err(Error::storage(&bare(url)))?;
                let stream = reader.into_bytes_stream(0..stat.content_length()).await;
                save(stream.map_err(Error::storage(&bare(url)))?, to, limits).await
            }
            other => Err(Error::url(url, format!("`{other}` cannot be copied from"))),
        }
    }

    async fn fetch_http(&self, url: &Url, to: &Path, limits: Limits) -> Result<Content, Error> {
        guarded::check(&self.networks, url)?;
        let sent = self.client().await?.get(url.clone()).send().await;
        let answer = sent.map_err(|error| Error::network(url.as_str(), &error))?;
        if !answer.status().is_success() {
            return Err(Error::Status { url: bare(url.as_str()), status: answer.status().as_u16() });
        }
        if answer.content_length().is_some_and(|length| length > limits.bytes_max) {
            return Err(Error::TooLarge { limit: limits.bytes_max });
        }
        save(answer.bytes_stream().map_err(io::Error::other), to, limits).await
    }
}

/// Saves content as the file `to`, whose directory must be there. On any error there is nothing at `to`.
pub async fn save(
    content: impl Stream<Item = io::Result<Bytes>>,
    to: &Path,
    limits: Limits,
) -> Result<Content, Error> {
    let written = write_all(content, to, limits).await;
    if written.is_err() {
        let _ = fs::remove_file(to).await;
    }
    written
}

async fn write_all(
    content: impl Stream<Item = io::Result<Bytes>>,
    to: &Path,
    limits: Limits,
) -> Result<Content, Error> {
    let mut content = std::pin::pin!(content);
    let mut digester = Digester::new(limits.bytes_max);
    let mut file = File::create(to).await.map_err(Error::file("write", to))?;
    while let Some(bytes) = content.next().await {
        let bytes = bytes.map_err(Error::Source)?;
        digester.add(&bytes)?;
        file.write_all(&bytes).await.map_err(Error::file("write", to))?;
    }
    file.flush().await.map_err(Error::file("write", to))?;
    digester.finish_as(limits.digest.as_ref())
}
