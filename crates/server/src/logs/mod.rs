//! The captured output of attempts, on its way from a node to where it is kept.
//!
//! While an attempt runs, its node sends what it captured; here it is held for followers ([`hot`]). When the log is whole it
//! is compressed and kept ([`vault`]), and only then does the node drop its copy: until then a crash of this process costs
//! nothing, because the node sends everything again. So nothing here has to be durable before the vault says so.

mod hot;
mod owner;
mod vault;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use mainspring_app::ports::{LogError, LogPart, Logs as LogsPort};
use mainspring_model::{AttemptToken, NodeId, RunId};
use mainspring_wire::agent::{LogChunk, LogHave};
use rustc_hash::FxHashMap;
use tracing::{debug, warn};

use self::hot::{Hot, Taken};
pub(crate) use self::owner::Ownership;
pub(crate) use self::vault::Vault;

/// How long a follower waits before it looks again by itself.
const FOLLOW_WAIT: Duration = Duration::from_secs(15);

/// All logs of this process.
pub(crate) struct Logs {
    hot: Mutex<FxHashMap<AttemptToken, Arc<Hot>>>,
    vault: Vault,
    ownership: Ownership,
}

impl Logs {
    pub(crate) fn new(vault: Vault, ownership: Ownership) -> Self {
        Self { hot: Mutex::default(), vault, ownership }
    }

    /// A node sent a part of a log. Tells the node how much is here now; nothing when the log is none of its business.
    pub(crate) async fn take(&self, node: NodeId, token: AttemptToken, chunk: LogChunk) -> Option<LogHave> {
        let hot = match self.find(token) {
            Some(hot) => hot,
            None => {
                if !self.ownership.is_of(node, token).await {
                    debug!(%node, attempt = %token, "a log of somebody else's attempt is refused");
                    return None;
                }
                if self.vault.has(token).await {
                    return Some(have(token, chunk.end.unwrap_or_default(), true));
                }
                self.open(token)
            }
        };
        let taken = match hot.take(chunk).await {
            Ok(taken) => taken,
            Err(error) => {
                warn!(attempt = %token, %error, "a log cannot be held; the node keeps it");
                return None;
            }
        };
        match taken {
            Taken::Have { offset } => Some(have(token, offset, false)),
            Taken::Whole { offset, frames } => match self.vault.keep(token, frames).await {
                Ok(()) => {
                    hot.kept();
                    self.close(token);
                    Some(have(token, offset, true))
                }
                Err(error) => {
                    warn!(attempt = %token, %error, "a log cannot be kept; the node keeps it");
                    Some(have(token, offset, false))
                }
            },
        }
    }

    fn find(&self, token: AttemptToken) -> Option<Arc<Hot>> {
        self.hot.lock().unwrap_or_else(PoisonError::into_inner).get(&token).cloned()
    }

    fn open(&self, token: AttemptToken) -> Arc<Hot> {
        let mut hot = self.hot.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(hot.entry(token).or_default())
    }

    fn close(&self, token: AttemptToken) {
        self.hot.lock().unwrap_or_else(PoisonError::into_inner).remove(&token);
    }
}

fn have(token: AttemptToken, offset: u64, stored: bool) -> LogHave {
    LogHave { token: Some(token.into()), offset, stored }
}

#[async_trait]
impl LogsPort for Logs {
    async fn read(&self, attempt: AttemptToken, offset: u64, limit: usize) -> Result<LogPart, LogError> {
        if let Some(hot) = self.find(attempt) {
            let (data, length) = hot.read(offset, limit).await.map_err(LogError::Io)?;
            return Ok(LogPart { data, length, ended: false });
        }
        let Some(frames) = self.vault.read(attempt).await.map_err(LogError::Io)? else {
            return Ok(LogPart::default());
        };
        Ok(LogPart { data: slice(&frames, offset, limit), length: frames.len() as u64, ended: true })
    }

    async fn grown(&self, attempt: AttemptToken, length: u64) {
        let wait = async {
            match self.find(attempt) {
                Some(hot) => hot.grown(length).await,
                None => self.opened(attempt).await,
            }
        };
        drop(tokio::time::timeout(FOLLOW_WAIT, wait).await);
    }

    async fn remove(&self, runs: &[RunId]) -> Result<(), LogError> {
        self.vault.remove(runs).await.map_err(LogError::Io)
    }
}

impl Logs {
    /// Nobody sent a part of this log yet: it may begin any moment.
    async fn opened(&self, attempt: AttemptToken) {
        const LOOK_EVERY: Duration = Duration::from_millis(100);
        while self.find(attempt).is_none() && !self.vault.has(attempt).await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

fn slice(frames: &Bytes, offset: u64, limit: usize) -> Bytes {
    let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(frames.len());
    frames.slice(begin..frames.len().min(begin.saturating_add(limit)))
}

/// What a poisoned or vanished thing becomes.
fn lost(what: &'static str) -> io::Error {
    io::Error::other(what)
}
