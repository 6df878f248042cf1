//! Removing what is past its time: ended runs as their jobs' retention says, roll-ups, expired records, and the logs of
//! runs that are gone. Never anything that is not over (the store sees to that, I30).
//!
//! One server of a cluster tidies the store, the owner of the first cell; each its own folder. A little at a time, so that
//! nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{CellId, JobId, RunId, Timestamp, limits};
use mainspring_store::{RecordRetention, Result, Retention, Store};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::cells::LocalCells;
use crate::clock::Clock;
use crate::logs::{Logs, Vault};

/// How often everything is looked through.
const ROUND_EVERY: Duration = Duration::from_secs(600);
/// How often logs are put away whose nodes have gone. A new server serves before it tidies.
const LOGS_EVERY: Duration = Duration::from_secs(60);
/// Rows removed at once, and the pause after it.
const ROWS_AT_ONCE: usize = 500;
const BREATH: Duration = Duration::from_millis(20);
/// Runs whose logs are looked for at once.
const LOGS_AT_ONCE: usize = 200;

/// How long things are kept that say nothing themselves.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// Ended runs of jobs without a retention of their own.
    pub runs: Duration,
    /// Roll-ups.
    pub counters: Duration,
    /// Entries of the audit.
    pub audit: Duration,
}

impl Default for Keeping {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(86_400);
        Self { runs: 30 * DAY, counters: 400 * DAY, audit: 400 * DAY }
    }
}

/// Tidies up.
pub(crate) struct Janitor {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cells: Arc<LocalCells>,
    pub(crate) clock: Clock,
    pub(crate) logs: Arc<Logs>,
    pub(crate) vault: Vault,
    pub(crate) keeping: Keeping,
}

impl Janitor {
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut next_round = Instant::now() + LOGS_EVERY;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(LOGS_EVERY) => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.logs.put_away() => {}
            }
            if Instant::now() < next_round {
                continue;
            }
            next_round = Instant::now() + ROUND_EVERY;
            tokio::select! {
                () = stop.cancelled() => return,
                tidied = self.round() => if let Err(error) = tidied {
                    warn!(error = &error as &dyn std::error::Error, "not everything old was removed; tried again later");
                }
            }
        }
    }

    async fn round(&self) -> Result<()> {
        let first = self.cells.owns(CellId(0));
        if first {
            self.retain().await?;
        }
        // A folder may be this server's alone.
        if first || self.vault.is_folder() {
            self.remove_logs().await?;
        }
        Ok(())
    }

    async fn retain(&self) -> Result<()> {
        let now = self.clock.now();
        let mut after = None;
        loop {
            let page = self.store.jobs_with_runs(after, limits::PAGE_ROWS_MAX).await?;
            for job in &page.rows {
                match self.retain_job(now, *job).await {
                    Err(error) if !error.is_transient() => {
                        warn!(%job, %error, "the runs of a job cannot be tidied");
                    }
                    tidied => tidied?,
                }
            }
            sleep(BREATH).await;
            after = page.rows.last().copied();
            if !page.more {
                break;
            }
        }
        self.store.retain_counters(now - self.keeping.counters).await?;
        while self.store.retain_records(RecordRetention::Expired { at: now }, ROWS_AT_ONCE).await?
            == ROWS_AT_ONCE as u64
        {
            sleep(BREATH).await;
        }
        Ok(())
    }

    async fn retain_job(&self, now: Timestamp, job: JobId) -> Result<()> {
        let (count, age) = match self.store.job(job).await? {
            Some(row) => {
                let versions = self.store.job_versions(&[(job, row.current_version)]).await?;
                let Some(version) = versions.first() else { return Ok(()) };
                let keep = &version.spec.retention.runs;
                (keep.count.map(|count| u64::from(count.get())), keep.age)
            }
            // The job was removed, or its runs have a specification of their own.
            None => (None, None),
        };
        // A job that says anything itself is not held to the default: it may keep its runs for longer.
        let age = age.or_else(|| count.is_none().then_some(self.keeping.runs));
        let made_before = age.map(|age| now - age);
        self.retain_runs(Retention { job: Some(job), made_before, keep_newest: count }).await
    }

    async fn retain_runs(&self, rule: Retention) -> Result<()> {
        loop {
            let removed = self.store.retain(rule.clone(), ROWS_AT_ONCE).await?;
            if removed > 0 {
                debug!(removed, job = ?rule.job, "old runs were removed");
            }
            if removed < ROWS_AT_ONCE as u64 {
                return Ok(());
            }
            sleep(BREATH).await;
        }
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
