//! A bucket of logs: one compressed object for each attempt, for all servers that share the bucket.

use std::io;

use bytes::Bytes;
use futures_util::TryStreamExt;
use mainspring_blob::{Blobs, Error};
use mainspring_model::{AttemptToken, RunId};
use tokio::task::spawn_blocking;

use super::super::captured::Captured;
use super::super::lost;
use super::{COMPRESSION_LEVEL, Extent, open, place, place_of_run, seal};

/// Below which all logs are.
const PREFIX: &str = "logs";

/// The bucket.
#[derive(Debug, Clone)]
pub(crate) struct Bucket(pub(super) Blobs);

impl Bucket {
    pub(super) async fn put(&self, token: AttemptToken, log: Captured, extent: Extent) -> io::Result<()> {
        let compressed = spawn_blocking(move || {
            Ok::<_, io::Error>(seal(zstd::encode_all(&log.frames[..], COMPRESSION_LEVEL)?, log.gap))
        });
        let compressed = compressed.await.map_err(|_| lost("the thread that compresses a log is gone"))??;
        self.0.put(&key(token, extent), compressed.into()).await.map_err(io::Error::other)
    }

    pub(super) async fn has(&self, token: AttemptToken) -> bool {
        self.0.exists(&key(token, Extent::Whole)).await.unwrap_or(false)
    }

    pub(super) async fn read(&self, token: AttemptToken, extent: Extent) -> io::Result<Option<Captured>> {
        let compressed = match self.0.get(&key(token, extent), None).await {
            Ok(compressed) => compressed,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        };
        let compressed: Vec<Bytes> = compressed.try_collect().await?;
        let decoded = spawn_blocking(move || open(&compressed.concat()));
        decoded.await.map_err(|_| lost("the thread that reads a log is gone"))?.map(Some)
    }

    pub(super) async fn runs(&self) -> io::Result<Vec<RunId>> {
        let listed = self.0.list(PREFIX).await.map_err(io::Error::other)?;
        let run = |key: &str| key.split('/').nth(2)?.parse().ok();
        let mut runs: Vec<RunId> = listed.iter().filter_map(|listed| run(&listed.key)).collect();
        runs.sort_unstable();
        runs.dedup();
        Ok(runs)
    }

    pub(super) async fn remove(&self, runs: &[RunId]) -> io::Result<()> {
        for run in runs {
            let prefix = format!("{PREFIX}/{}", place_of_run(*run));
            for listed in self.0.list(&prefix).await.map_err(io::Error::other)? {
                self.0.remove(&listed.key).await.map_err(io::Error::other)?;
            }
        }
        Ok(())
    }
}

fn key(token: AttemptToken, extent: Extent) -> String {
    format!("{PREFIX}/{}", place(token, extent))
}
