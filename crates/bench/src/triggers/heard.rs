//! When runs were first told of: news of a run leave when it is durable.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use mainspring_client::api::WatchWhat;
use mainspring_client::{Client, WatchQuery};
use mainspring_model::{RunId, Timestamp};
use tokio::task::JoinHandle;

use super::jobs;

/// Listens until it is dropped.
#[derive(Debug)]
pub(super) struct Heard {
    runs: Arc<Mutex<HashMap<RunId, Timestamp>>>,
    listener: JoinHandle<()>,
}

impl Heard {
    /// Returns when the server listens.
    pub(super) async fn listen(client: &Client) -> Result<Self> {
        let mut news = client.watch(&WatchQuery::default());
        news.connect().await?;
        let runs: Arc<Mutex<HashMap<_, _>>> = Arc::default();
        let heard = Arc::clone(&runs);
        let listener = tokio::spawn(async move {
            while let Ok(news) = news.next().await {
                if let WatchWhat::Run { id, .. } = news.0.what {
                    let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                    heard.entry(id).or_insert_with(jobs::now);
                }
            }
        });
        Ok(Self { runs, listener })
    }

    /// When it was first told of a run.
    pub(super) fn at(&self, run: RunId) -> Option<Timestamp> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).get(&run).copied()
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.listener.abort();
    }
}
