//! The logs of nodes that went silent for good: what came of them is put away, so that it outlives this process.

use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use mainspring_model::{AttemptToken, NodeId};
use tracing::warn;

use super::Logs;
use super::hot::Hot;

/// The log of an attempt that is over is not waited for any longer.
const SILENT_MAX: Duration = Duration::from_secs(60);
/// Logs that are put away together when the process ends; each may take some megabytes of memory.
const AT_ONCE: usize = 4;

impl Logs {
    /// Puts away the logs of attempts that are over and whose nodes have gone silent: as far as they came, readable, and
    /// replaced if the node returns with all of it.
    pub(crate) async fn put_away(&self) {
        self.put_away_over(self.those(|hot| hot.is_silent_for(SILENT_MAX))).await;
    }

    /// The same at once for a node that was given up: the process may end before it is silent for long.
    pub(crate) async fn put_away_of(&self, node: NodeId) {
        self.put_away_over(self.those(|hot| hot.node == node)).await;
    }

    /// Keeps what there is of every log, of attempts that go on too: the process ends, and a node that is lost before it
    /// tells the next one has left no more than this.
    pub(crate) async fn put_all_away(&self) {
        let all = stream::iter(self.those(|_| true));
        all.for_each_concurrent(AT_ONCE, |(token, hot)| async move {
            if let Err(error) = self.put(token, &hot).await {
                warn!(attempt = %token, %error, "what there is of a log cannot be kept");
            }
        })
        .await;
    }

    async fn put_away_over(&self, logs: Vec<(AttemptToken, Arc<Hot>)>) {
        for (token, hot) in logs {
            if self.ownership.is_running(hot.node, token).await {
                continue;
            }
            if let Err(error) = self.put(token, &hot).await {
                warn!(attempt = %token, %error, "a log of a silent node cannot be kept");
                continue;
            }
            self.close(token);
            hot.kept();
        }
    }

    async fn put(&self, token: AttemptToken, hot: &Hot) -> io::Result<()> {
        match hot.whole().await? {
            (log, _) if log.frames.is_empty() => Ok(()),
            // All of it came, and could not be stored at that time.
            (log, extent) if extent.whole => self.vault.keep(token, log).await,
            (log, _) => self.vault.keep_part(token, log).await,
        }
    }

    fn those(&self, wanted: impl Fn(&Hot) -> bool) -> Vec<(AttemptToken, Arc<Hot>)> {
        let hot = self.hot.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = hot.iter().filter(|(_, hot)| wanted(hot));
        wanted.map(|(token, hot)| (*token, Arc::clone(hot))).collect()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mainspring_app::audit::Chain;
    use mainspring_app::ports::Logs as _;
    use mainspring_model::{Epoch, MemberId, RunId, Timestamp, log};
    use mainspring_store::Store;
    use mainspring_store_mem::MemStore;
    use mainspring_wire::agent::LogChunk;
    use tokio::time::advance;

    use super::super::hot::Taken;
    use super::super::{Ownership, Vault};
    use super::*;
    use crate::cells::LocalCells;
    use crate::clock::Clock;
    use crate::health::StoreHealth;
    use crate::news::Newsroom;

    const TOKEN: AttemptToken = AttemptToken { run: RunId::MIN, number: 1, epoch: Epoch(1) };
    const SECOND: Duration = Duration::from_secs(1);

    /// The logs of a server that owns nothing: no attempt goes on.
    fn logs(folder: &std::path::Path) -> Logs {
        let store: Arc<dyn Store> = Arc::new(MemStore::new(Arc::new(|| Timestamp::ZERO)));
        let cells = Arc::new(LocalCells {
            seats: Vec::new(),
            count: 1,
            member: MemberId::MIN,
            store: Arc::clone(&store),
            clock: Clock::of_host(),
            news: Newsroom::new(),
            chain: Arc::new(Chain::new(MemberId::MIN, SECOND)),
            hints: Arc::new([]),
            others: Default::default(),
            health: Arc::new(StoreHealth::new()),
            unowned: Default::default(),
        });
        let vault = Vault::folder(folder).expect("a folder for logs");
        Logs::new(vault, Ownership { cells, store }, std::env::temp_dir().into())
    }

    fn frame(text: &str) -> Bytes {
        [&log::header(log::FrameKind::Stdout, 1, text.len())[..], text.as_bytes()].concat().into()
    }

    async fn says(logs: &Logs, offset: u64, text: &str, end: Option<u64>) -> Taken {
        let data = frame(text);
        let chunk = LogChunk { token: None, offset, data, end, gap: 0, dropped_bytes: 0 };
        logs.open(NodeId::MIN, TOKEN).take(chunk).await.expect("memory takes it")
    }

    async fn check(logs: &Logs, text: &[Bytes], ended: bool) {
        let part = logs.read(TOKEN, 0, 1_000).await.expect("it is readable");
        assert_eq!((part.data, part.ended), (text.concat().into(), ended));
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_from_a_lost_node_stays_and_all_of_it_replaces_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = logs(folder.path());
        let length = frame("one").len() as u64;
        says(&first, 0, "one", None).await;
        advance(SILENT_MAX - SECOND).await;
        first.put_away().await;
        assert!(first.find(TOKEN).is_some(), "the node may only be slow");
        advance(SECOND).await;
        first.put_away().await;
        assert!(first.find(TOKEN).is_none(), "nothing waits in memory for ever");
        // Whoever comes after this process finds it too.
        let next = logs(folder.path());
        check(&next, &[frame("one")], false).await;
        says(&next, 0, "one", None).await;
        let Taken::Whole { offset, log } = says(&next, length, "two", Some(2 * length)).await else {
            panic!("it is whole")
        };
        assert!(next.keep(TOKEN, next.find(TOKEN), offset, log).await.stored);
        check(&next, &[frame("one"), frame("two")], true).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_stays_when_the_process_ends_or_the_node_is_given_up() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = logs(folder.path());
        says(&first, 0, "one", None).await;
        first.put_all_away().await;
        check(&logs(folder.path()), &[frame("one")], false).await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = logs(folder.path());
        says(&first, 0, "one", None).await;
        first.put_away_of(NodeId::new(Timestamp::ZERO, 9)).await;
        assert!(first.find(TOKEN).is_some(), "it is another node's");
        first.put_away_of(NodeId::MIN).await;
        assert!(first.find(TOKEN).is_none());
        check(&logs(folder.path()), &[frame("one")], false).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_log_that_found_no_room_is_whole_when_there_is_some() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let logs = logs(folder.path());
        let length = frame("one").len() as u64;
        let taken = says(&logs, 0, "one", Some(length)).await;
        assert!(matches!(taken, Taken::Whole { .. }), "but nobody kept it");
        advance(SILENT_MAX).await;
        logs.put_away().await;
        assert!(logs.find(TOKEN).is_none());
        check(&logs, &[frame("one")], true).await;
    }
}
