//! The two sides of a comparison: the store by its URL, and the raw driver on a database of its own that the store
//! migrated. Both hold a lease and write the same runs in turn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use mainspring_model::{Epoch, MemberId, Run, Timestamp};
use mainspring_store::{Fence, LeaseGrant, LeaseRequest, Outcome, Registry, Store, Transaction, Write};

use super::databases::Databases;
use super::processes::Processes;
use super::raw::{Batch, Raw};
use super::sample::Sample;
use super::workload::{self, CELL, JOBS, Workload};

/// What a round is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// Runs in a commit: each is inserted by one and ended by the next.
    pub(super) batch: usize,
    /// Runs in the round.
    pub(super) runs: usize,
    /// Rounds of each side.
    pub(super) rounds: usize,
    /// Whether the ends are counted, one roll-up for each job in a commit.
    pub(super) counted: bool,
}

/// What a round took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spent {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
}

/// What the store was asked for: writes of the rows of so many runs, and of roll-ups.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    pub(super) runs: usize,
    pub(super) run_rows: usize,
    pub(super) counter_rows: usize,
}

/// Both sides.
pub(super) struct Sides<R> {
    store: Arc<dyn Store>,
    raw: R,
    sample: Sample,
    workload: Workload,
    epoch: Epoch,
    /// The last commit under each lease; both write in step.
    seq: u64,
    processes: Processes,
    pub(super) asked: Asked,
}

impl<R: Raw> Sides<R> {
    /// Prepares both databases and writes a run of each job to learn its bytes.
    pub(super) async fn open(databases: &Databases) -> Result<Self> {
        let (store, epoch) = open_store(&databases.ours).await?;
        let (other, other_epoch) = open_store(&databases.raw).await?;
        ensure!(epoch == other_epoch, "the two sides have leases of different epochs");
        let mut raw = R::connect(&databases.raw).await?;
        let mut workload = Workload::new("acme/data/etl".parse()?, epoch);
        let runs = workload.runs(JOBS);
        let mut ends = workload::updates(&runs);
        ends.extend(workload::counts(&runs));
        let mut read = Vec::new();
        for (seq, writes) in [(1, workload::inserts(&runs)), (2, ends)] {
            for store in [&store, &other] {
                commit(&**store, Transaction::fenced(Fence { cell: CELL, epoch, seq }, writes.clone()))
                    .await?;
            }
            read.push(raw.read("runs").await?);
        }
        let types = (raw.columns("run_insert").await?, raw.columns("run_update").await?);
        let sample = Sample::new([&read[0], &read[1]], &raw.read("counters").await?, types)?;
        raw.prepare(&sample).await?;
        let (processes, asked) = (databases.processes, Asked::default());
        Ok(Self { store, raw, sample, workload, epoch, seq: 2, processes, asked })
    }

    /// One round of each side with the same runs; the order changes with each.
    pub(super) async fn round(&mut self, round: Round, raw_first: bool) -> Result<(Spent, Spent)> {
        let runs = self.workload.runs(round.runs);
        self.asked.runs += runs.len();
        let batches: Vec<&[Run]> = runs.chunks(round.batch).collect();
        let transactions = self.transactions(&batches, round.counted);
        let ready = self.ready(&batches, round.counted)?;
        self.seq += transactions.len() as u64;
        let spent = if raw_first {
            let raw = self.run_raw(ready).await?;
            (self.run_ours(transactions).await?, raw)
        } else {
            (self.run_ours(transactions).await?, self.run_raw(ready).await?)
        };
        Ok(spent)
    }

    fn transactions(&self, batches: &[&[Run]], counted: bool) -> Vec<Transaction> {
        let mut transactions = Vec::with_capacity(batches.len() * 2);
        for runs in batches {
            let mut ends = workload::updates(runs);
            if counted {
                ends.extend(workload::counts(runs));
            }
            for writes in [workload::inserts(runs), ends] {
                let seq = self.seq + transactions.len() as u64 + 1;
                transactions.push(Transaction::fenced(Fence { cell: CELL, epoch: self.epoch, seq }, writes));
            }
        }
        transactions
    }

    fn ready(&self, batches: &[&[Run]], counted: bool) -> Result<Vec<R::Ready>> {
        let mut ready = Vec::with_capacity(batches.len() * 2);
        for runs in batches {
            let counts = if counted { self.sample.counts() } else { Vec::new() };
            let insert = Batch { inserts: self.sample.inserts(runs), ..Batch::default() };
            let end = Batch { updates: self.sample.updates(runs), counts, ..Batch::default() };
            for mut batch in [insert, end] {
                let before = (self.seq + ready.len() as u64) as i64;
                batch.fence = [before + 1, i64::from(CELL.0), self.epoch.0 as i64, before];
                ready.push(self.raw.ready(batch)?);
            }
        }
        Ok(ready)
    }

    async fn run_ours(&mut self, transactions: Vec<Transaction>) -> Result<Spent> {
        for write in transactions.iter().flat_map(|transaction| &transaction.writes) {
            match write {
                Write::AddCounts(_) => self.asked.counter_rows += 1,
                _ => self.asked.run_rows += 1,
            }
        }
        let watch = Watch::start(self.processes)?;
        for transaction in transactions {
            commit(&*self.store, transaction).await?;
        }
        watch.stop()
    }

    async fn run_raw(&mut self, ready: Vec<R::Ready>) -> Result<Spent> {
        let watch = Watch::start(self.processes)?;
        for ready in ready {
            self.raw.commit(ready).await?;
        }
        watch.stop()
    }
}

async fn open_store(url: &str) -> Result<(Arc<dyn Store>, Epoch)> {
    let mut registry = Registry::new();
    mainspring_store_sql::register(&mut registry);
    let store = registry.open(url).await?;
    store.migrate().await?;
    let member = MemberId::new(Timestamp::ZERO, 7);
    let request = LeaseRequest { cell: CELL, member, observed: None, expires_at: Timestamp::MAX };
    match store.acquire_lease(request).await? {
        LeaseGrant::Granted(lease) => Ok((store, lease.epoch)),
        LeaseGrant::Held(lease) => bail!("somebody holds the lease of a new database: {lease:?}"),
    }
}

async fn commit(store: &dyn Store, transaction: Transaction) -> Result<()> {
    let outcomes = store.commit(transaction).await.context("a commit")?;
    ensure!(outcomes.iter().all(|outcome| *outcome == Outcome::Applied), "a row was not written");
    Ok(())
}

struct Watch {
    processes: Processes,
    begun: Instant,
    cpu: Duration,
}

impl Watch {
    fn start(processes: Processes) -> Result<Self> {
        Ok(Self { processes, cpu: processes.cpu()?, begun: Instant::now() })
    }

    fn stop(self) -> Result<Spent> {
        let wall = self.begun.elapsed();
        Ok(Spent { wall, cpu: self.processes.cpu()?.saturating_sub(self.cpu) })
    }
}
