//! The captured output of attempts, on its way from a node to where it is kept.
//!
//! While an attempt runs, its node sends what it captured; here it is held for followers ([`hot`]). When the log is whole it
//! is compressed and kept ([`vault`]), and only then does the node drop its copy: until then a crash of this process costs
//! nothing, because the node sends everything again. So nothing here has to be durable before the vault says so.

mod awaited;
mod captured;
mod hot;
mod owner;
mod recent;
mod silence;
mod spool;
mod vault;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use mainspring_app::ports::{LogError, LogPart, Logs as LogsPort};
use mainspring_model::{AttemptToken, NodeId, RunId};
use mainspring_wire::agent::{LogChunk, LogHave, OwnerWord, ToNode, owner_word};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tracing::{debug, warn};

use self::awaited::Awaited;
use self::captured::Captured;
use self::hot::{Hot, Taken};
pub(crate) use self::owner::Ownership;
use self::owner::Stage;
use self::recent::Recent;
pub(crate) use self::vault::Vault;

/// How long a follower waits before it looks again by itself.
const FOLLOW_WAIT: Duration = Duration::from_secs(15);

/// Logs that the vault is asked about at once.
const ASKED_AT_ONCE: usize = 32;
/// Whole logs of one connection on their way to the vault, and bytes of them after which no further one is read.
const KEEPING_MAX: usize = 1_024;
const KEEPING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A part of a log that may be stored.
#[derive(Debug)]
pub(crate) struct Part {
    token: AttemptToken,
    /// Where it goes; none when the log is kept already.
    hot: Option<Arc<Hot>>,
    chunk: LogChunk,
    /// The room that it takes while it waits.
    room: Option<OwnedSemaphorePermit>,
}

impl Part {
    /// How much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.chunk.data.len()
    }

    /// It may wait.
    pub(crate) fn with_room(self, room: OwnedSemaphorePermit) -> Self {
        Self { room: Some(room), ..self }
    }
}

/// All logs of this process.
pub(crate) struct Logs {
    hot: Mutex<FxHashMap<AttemptToken, Arc<Hot>>>,
    vault: Vault,
    ownership: Ownership,
    /// Where logs that grow are, if they are not small.
    spool: Arc<Path>,
    awaited: Awaited,
    recent: Recent,
}

impl Logs {
    pub(crate) fn new(vault: Vault, ownership: Ownership, spool: Arc<Path>) -> Self {
        Self {
            hot: Mutex::default(),
            vault,
            ownership,
            spool,
            awaited: Awaited::default(),
            recent: Recent::default(),
        }
    }

    /// Which of the parts of logs that a node sent are to be stored, and where; those of attempts that are not the node's are
    /// left out (I34). All are looked up together: what else the node says waits for it.
    pub(crate) async fn admit(&self, node: NodeId, sent: Vec<(AttemptToken, LogChunk)>) -> Vec<Part> {
        let strange: Vec<AttemptToken> =
            sent.iter().map(|(token, _)| *token).filter(|token| self.find(*token).is_none()).collect();
        let known = if strange.is_empty() { <_>::default() } else { self.ownership.of(node, &strange).await };
        let may_be_kept = |(token, chunk): &(AttemptToken, LogChunk)| {
            let stage = known.get(token)?;
            (!begins(chunk, *stage)).then_some(*token)
        };
        let asked: Vec<AttemptToken> = sent.iter().filter_map(may_be_kept).collect();
        let kept = self.kept(&asked).await;
        let mut parts = Vec::with_capacity(sent.len());
        for (token, chunk) in sent {
            let hot = match (self.find(token), known.contains_key(&token)) {
                (Some(hot), _) if hot.node == node => Some(hot),
                (None, true) if kept.contains(&token) => None,
                (None, true) => Some(self.open(node, token)),
                (Some(_), _) | (None, false) => {
                    debug!(%node, attempt = %token, "a log of somebody else's attempt is refused");
                    continue;
                }
            };
            parts.push(Part { token, hot, chunk, room: None });
        }
        parts
    }

    /// Those of the logs that are in the vault.
    async fn kept(&self, tokens: &[AttemptToken]) -> FxHashSet<AttemptToken> {
        let mut kept = FxHashSet::default();
        for some in tokens.chunks(ASKED_AT_ONCE) {
            let answers = join_all(some.iter().map(|token| self.vault.has(*token))).await;
            kept.extend(some.iter().zip(answers).filter(|(_, has)| *has).map(|(token, _)| *token));
        }
        kept
    }

    /// Stores the parts that come, for as long as they come, and tells the node how much is here. Whole logs become durable
    /// together, so nobody waits for the one before.
    pub(crate) async fn store(&self, mut parts: mpsc::Receiver<Part>, outward: &mpsc::Sender<ToNode>) {
        let mut keeping = FuturesUnordered::new();
        let mut keeping_bytes = 0;
        loop {
            let have = tokio::select! {
                Some((have, bytes)) = keeping.next() => {
                    keeping_bytes -= bytes;
                    have
                }
                part = parts.recv(), if keeping.len() < KEEPING_MAX && keeping_bytes < KEEPING_BYTES_MAX => {
                    let Some(Part { token, hot, chunk, room: _room }) = part else { return };
                    match self.take(token, hot.as_deref(), chunk).await {
                        None => continue,
                        Some(Taken::Have { offset }) => have(token, offset, hot.is_none()),
                        Some(Taken::Whole { offset, log }) => {
                            let bytes = log.frames.len();
                            keeping_bytes += bytes;
                            keeping.push(async move { (self.keep(token, hot, offset, log).await, bytes) });
                            continue;
                        }
                    }
                }
            };
            let mut words = vec![word(have)];
            // Those that became durable together are told together.
            while let Some(Some((have, bytes))) = keeping.next().now_or_never() {
                keeping_bytes -= bytes;
                words.push(word(have));
            }
            if outward.send(ToNode { words }).await.is_err() {
                return;
            }
        }
    }

    async fn take(&self, token: AttemptToken, hot: Option<&Hot>, chunk: LogChunk) -> Option<Taken> {
        let Some(hot) = hot else { return Some(Taken::Have { offset: chunk.end.unwrap_or_default() }) };
        match hot.take(chunk).await {
            Ok(taken) => Some(taken),
            Err(error) => {
                warn!(attempt = %token, %error, "a log cannot be held; the node keeps it");
                None
            }
        }
    }

    async fn keep(&self, token: AttemptToken, hot: Option<Arc<Hot>>, offset: u64, log: Captured) -> LogHave {
        match self.vault.keep(token, log).await {
            Ok(()) => {
                self.close(token);
                if let Some(hot) = hot {
                    hot.kept();
                }
                self.awaited.tell(token);
                have(token, offset, true)
            }
            Err(error) => {
                warn!(attempt = %token, %error, "a log cannot be kept; the node keeps it");
                have(token, offset, false)
            }
        }
    }

    fn find(&self, token: AttemptToken) -> Option<Arc<Hot>> {
        self.hot.lock().unwrap_or_else(PoisonError::into_inner).get(&token).cloned()
    }

    fn open(&self, node: NodeId, token: AttemptToken) -> Arc<Hot> {
        let hot = {
            let mut hot = self.hot.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Hot::new(node, Arc::clone(&self.spool)));
            Arc::clone(hot.entry(token).or_insert_with(new))
        };
        self.awaited.tell(token);
        hot
    }

    fn close(&self, token: AttemptToken) {
        self.hot.lock().unwrap_or_else(PoisonError::into_inner).remove(&token);
    }
}

/// Whether nothing of the log can be kept already: it begins, and its attempt goes on. Should it be kept after all, it is kept
/// again.
fn begins(chunk: &LogChunk, stage: Stage) -> bool {
    stage == Stage::Running && chunk.offset == 0 && !chunk.data.is_empty()
}

fn word(have: LogHave) -> OwnerWord {
    OwnerWord { word: Some(owner_word::Word::LogHave(have)) }
}

fn have(token: AttemptToken, offset: u64, stored: bool) -> LogHave {
    LogHave { token: Some(token.into()), offset, stored }
}

#[async_trait]
impl LogsPort for Logs {
    async fn read(&self, attempt: AttemptToken, offset: u64, limit: usize) -> Result<LogPart, LogError> {
        if let Some(hot) = self.find(attempt) {
            let (begin, data, extent) = hot.read(offset, limit).await.map_err(LogError::Io)?;
            return Ok(LogPart { begin, data, length: extent.length, ended: extent.whole });
        }
        let kept = match self.recent.get(attempt) {
            Some(kept) => Some(kept),
            None => self.vault.read(attempt).await.map_err(LogError::Io)?,
        };
        if let Some(kept) = kept {
            self.recent.put(attempt, &kept);
            let (begin, data) = kept.log.read(offset, limit);
            return Ok(LogPart { begin, data, length: kept.log.length(), ended: kept.whole });
        }
        match self.ownership.elsewhere(attempt).await {
            Some(url) => Err(LogError::Elsewhere { url }),
            None => Ok(LogPart { begin: offset, ..LogPart::default() }),
        }
    }

    async fn grown(&self, attempt: AttemptToken, length: u64) {
        let wait = async {
            match self.find(attempt) {
                Some(hot) => hot.grown(length).await,
                None => self.begun(attempt).await,
            }
        };
        drop(tokio::time::timeout(FOLLOW_WAIT, wait).await);
    }

    async fn remove(&self, runs: &[RunId]) -> Result<(), LogError> {
        self.recent.forget(runs);
        self.vault.remove(runs).await.map_err(LogError::Io)
    }
}

impl Logs {
    /// Nothing of this log was here a moment ago: it may begin any moment, and may have become whole since.
    async fn begun(&self, attempt: AttemptToken) {
        let follower = self.awaited.follow(attempt);
        let told = follower.told();
        if self.find(attempt).is_none() && !self.vault.has(attempt).await {
            told.await;
        }
    }
}

/// What a poisoned or vanished thing becomes.
fn lost(what: &'static str) -> io::Error {
    io::Error::other(what)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn only_the_beginning_of_a_log_whose_attempt_goes_on_is_taken_unseen() {
        let chunk = |offset, data: &'static [u8]| LogChunk {
            offset,
            data: Bytes::from_static(data),
            ..LogChunk::default()
        };
        assert!(begins(&chunk(0, b"abc"), Stage::Running));
        assert!(!begins(&chunk(0, b"abc"), Stage::Over), "it may be kept: it is over");
        assert!(!begins(&chunk(3, b"abc"), Stage::Running), "it goes on where another owner had it");
        assert!(!begins(&chunk(0, b""), Stage::Running), "only its end, which may be known");
    }
}
