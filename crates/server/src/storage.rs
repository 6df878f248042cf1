//! The places in which a server keeps things, for a program that puts something there before the server starts.

use std::io;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use mainspring_model::AttemptToken;
use mainspring_store::Store;

use crate::error::Error;
use crate::identity::StoreFile;
use crate::logs::Vault;
use crate::options::Options;
use crate::{server, waiting};

/// Logs on their way to the disk at once: a folder makes so many durable together.
const LOGS_AT_ONCE: usize = 1_024;

/// The store, up to date, and the place of logs. No server uses the store as long as this lives, where it is a file.
pub struct Storage {
    /// Released with it.
    _file: Option<StoreFile>,
    store: Arc<dyn Store>,
    vault: Vault,
}

impl Storage {
    /// Opens what a server with these options would use.
    pub async fn open(options: &Options) -> Result<Self, Error> {
        options.check().map_err(Error::Options)?;
        let file = StoreFile::lock(&options.store)?;
        let store = waiting::open_now(&options.store).await.map_err(Error::Store)?;
        Ok(Self { _file: file, store, vault: server::open_vault(options)? })
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Keeps whole logs of attempts, each as frames of `mainspring_model::log`. They are durable when this returns.
    pub async fn keep_logs(&self, logs: Vec<(AttemptToken, Vec<u8>)>) -> io::Result<()> {
        let keep = |(token, frames)| self.vault.keep_whole(token, frames);
        stream::iter(logs).map(keep).buffer_unordered(LOGS_AT_ONCE).try_collect().await
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Epoch, RunId, Timestamp};

    use super::*;

    #[tokio::test]
    async fn one_program_at_a_time_has_a_store_that_is_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!("sqlite:{}", folder.path().join("store.db").display());
        let options = Options::new(url, folder.path());
        let first = Storage::open(&options).await.expect("nobody has it");
        assert!(matches!(Storage::open(&options).await, Err(Error::StoreTaken { .. })));
        let run = RunId::new(Timestamp::from_micros(5_000_000), 1);
        let token = AttemptToken { run, number: 1, epoch: Epoch(1) };
        first.keep_logs(vec![(token, vec![7; 100])]).await.expect("room for a log");
        assert!(first.vault.has(token).await);
        drop(first);
        Storage::open(&options).await.expect("nobody has it any more");
    }
}
