//! Removing what is past its time: ended runs as their jobs' retention says, roll-ups, expired records, files that
//! nobody needs, and the logs of runs that are gone. Never anything that is not over (the store sees to that, I30).
//!
//! One server of a cluster tidies the store, the owner of the first cell; each its own folder. A little at a time, so that
//! nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use mainspring_app::App;
use mainspring_app::ports::{Cells as _, Changed};
use mainspring_model::{CellId, JobId, RunId, Timestamp};
use mainspring_store::{Result, Store};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::cells::LocalCells;
use crate::clock::Clock;
use crate::logs::{Logs, Vault};
use crate::retention::{Keeping, Round, Scope};

/// How often jobs are held to their rules, and files to theirs.
const ROUND_EVERY: Duration = Duration::from_secs(600);
/// How often everything is looked through: runs without a job, and logs without a run. It costs as much as there is history.
const SWEEP_EVERY: Duration = Duration::from_secs(86_400);
/// Nothing is removed while the clocks of host and store are further apart: one of them is wrong.
const CLOCKS_APART_MAX: Duration = Duration::from_secs(60);
/// Files whose time is over, and content that nobody has, that a round removes.
const FILES_A_ROUND: usize = 10_000;
/// A new server serves before it tidies.
const FIRST_ROUND: Duration = Duration::from_secs(60);
/// How often logs are put away whose nodes have gone.
const LOGS_EVERY: Duration = Duration::from_secs(60);
/// The pause after each step.
const BREATH: Duration = Duration::from_millis(20);
/// Runs whose logs are looked for at once.
const LOGS_AT_ONCE: usize = 200;

/// Tidies up.
pub(crate) struct Janitor {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cells: Arc<LocalCells>,
    pub(crate) clock: Clock,
    pub(crate) logs: Arc<Logs>,
    pub(crate) vault: Vault,
    pub(crate) keeping: Keeping,
    pub(crate) app: Arc<App>,
}

impl Janitor {
    pub(crate) async fn run(self, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            // Nodes that have gone are not kept waiting by a long history.
            ((), (), ()) = async { tokio::join!(self.put_logs_away(), self.hear_of_the_lost(), self.tidy()) } => {}
        }
    }

    async fn put_logs_away(&self) {
        loop {
            sleep(LOGS_EVERY).await;
            self.logs.put_away().await;
        }
    }

    /// What came from a node that is given up is put away at once.
    async fn hear_of_the_lost(&self) {
        let mut news = self.cells.news();
        loop {
            match news.recv().await {
                Ok(news) => {
                    if let Changed::Node { node } = &news.what
                        && node.is_gone()
                    {
                        self.logs.put_away_of(node.id).await;
                    }
                }
                // What was not heard goes by its silence.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }

    async fn tidy(&self) {
        let (mut next_sweep, mut after) = (Instant::now(), None);
        sleep(FIRST_ROUND).await;
        loop {
            let began = Instant::now();
            let scope = if began < next_sweep { Scope::Jobs } else { Scope::All };
            match self.round(scope, &mut after).await {
                Ok(()) if scope == Scope::All => next_sweep = Instant::now() + SWEEP_EVERY,
                Ok(()) => {}
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "not everything old was removed; tried again later"
                    );
                }
            }
            sleep_until(began + ROUND_EVERY).await;
        }
    }

    /// Jobs are looked at after this one, where the last round broke off.
    async fn round(&self, scope: Scope, after: &mut Option<JobId>) -> Result<()> {
        let is_first = || self.cells.owns(CellId(0));
        let first = is_first();
        if first {
            let Some(now) = agreed_now(&*self.store, &self.clock).await? else { return Ok(()) };
            let round = Round::new(&*self.store, now, self.keeping, &is_first);
            round.hold(scope, after).await?;
            if let Err(error) = self.app.tidy_files(now, FILES_A_ROUND, &is_first).await {
                warn!(%error, "not every file that nobody needs was removed; tried again later");
            }
        }
        // A folder may be this server's alone.
        if scope == Scope::All && (first || self.vault.is_folder()) {
            self.remove_logs().await?;
        }
        Ok(())
    }

    /// Logs of runs that have no row any more.
    async fn remove_logs(&self) -> Result<()> {
        let kept = self.vault.runs().await.unwrap_or_else(|error| {
            warn!(%error, "the folder of logs cannot be read");
            Vec::new()
        });
        for runs in kept.chunks(LOGS_AT_ONCE) {
            let rows = self.store.runs_by_id(runs).await?;
            let gone: Vec<RunId> =
                runs.iter().copied().filter(|run| !rows.iter().any(|row| row.head.id == *run)).collect();
            if let Err(error) = self.vault.remove(&gone).await {
                warn!(%error, "logs of removed runs cannot be removed");
            }
            sleep(BREATH).await;
        }
        Ok(())
    }
}

/// The store's time, by which what is old is removed; none while this host's clock is far from it.
async fn agreed_now(store: &dyn Store, clock: &Clock) -> Result<Option<Timestamp>> {
    let (now, host) = (store.clock().await?, clock.host_now());
    let apart = now.since(host).max(host.since(now));
    if apart > CLOCKS_APART_MAX {
        warn!(?apart, "this host's clock and the store's differ: nothing is removed until they agree");
        return Ok(None);
    }
    Ok(Some(now))
}

#[cfg(test)]
mod tests {
    use mainspring_store_mem::MemStore;

    use super::*;

    const DAY: i64 = 86_400;

    #[tokio::test]
    async fn nothing_is_old_while_the_clocks_of_host_and_store_are_apart() {
        let clock = Clock::of_host();
        let host = clock.host_now().as_micros();
        // The host's clock moves on meanwhile.
        for (ahead, agrees) in [(0, true), (30, true), (3_600, false), (-3_600, false), (31 * DAY, false)] {
            let shown = Timestamp::from_micros(host + ahead * 1_000_000);
            let store = MemStore::new(Arc::new(move || shown));
            let now = agreed_now(&store, &clock).await.unwrap();
            assert_eq!(now, agrees.then_some(shown), "the store is {ahead} s ahead");
        }
    }
}
