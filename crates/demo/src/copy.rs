//! The rows of the history, from the store in memory into a real one, by the contract and in bounded batches.
//!
//! Everything that a row counts for itself (revisions) begins anew, because a store inserts first revisions only. What rows
//! say of each other stays. It is written under a lease, which roll-ups need, and the lease is given back.

use std::time::Duration;

use mainspring_model::{CellId, Epoch, Job, JobId, MemberId, Node, RunId, Timestamp};
use mainspring_store::{
    CounterQuery, Fence, LeaseGrant, LeaseRequest, Outcome, Record, RecordKind, RecordQuery, RunQuery, Store,
    Transaction, Write,
};

use crate::error::Error;
use crate::owner::CELL;

/// Writes in one transaction.
const BATCH: usize = 1_000;
/// Rows read at once.
const PAGE: usize = 1_000;
/// The kinds of records: those of the use cases, and those of the engine.
const KINDS: [std::ops::Range<u16>; 2] = [1..100, 1_000..1_100];
const LEASE: Duration = Duration::from_secs(600);

/// Copies everything. Tells how many runs there are.
pub(crate) async fn copy(from: &dyn Store, to: &dyn Store, now: Timestamp) -> Result<usize, Error> {
    let mut writer = Writer::take(to, now).await?;
    copy_jobs(from, &mut writer).await?;
    copy_nodes(from, &mut writer).await?;
    let runs = copy_runs(from, &mut writer).await?;
    copy_counters(from, &mut writer, now).await?;
    for kind in KINDS.into_iter().flatten() {
        copy_records(from, &mut writer, RecordKind(kind)).await?;
    }
    writer.finish().await?;
    Ok(runs)
}

async fn copy_jobs(from: &dyn Store, writer: &mut Writer<'_>) -> Result<(), Error> {
    let mut after: Option<JobId> = None;
    loop {
        let page = from.jobs(None, after, PAGE).await?;
        after = page.rows.last().map(|job| job.id);
        for job in page.rows {
            for version in from.versions_of_job(job.id, None, PAGE).await?.rows {
                writer.write(Write::InsertJobVersion(Box::new(version))).await?;
            }
            writer.write(Write::PutJob(Box::new(Job { revision: 1, ..job }))).await?;
        }
        if !page.more {
            return Ok(());
        }
    }
}

async fn copy_nodes(from: &dyn Store, writer: &mut Writer<'_>) -> Result<(), Error> {
    for node in from.all_nodes(None, PAGE).await?.rows {
        writer.write(Write::PutNode(Box::new(Node { revision: 1, ..node }))).await?;
    }
    Ok(())
}

async fn copy_runs(from: &dyn Store, writer: &mut Writer<'_>) -> Result<usize, Error> {
    let (mut after, mut count): (Option<RunId>, usize) = (None, 0);
    loop {
        let page = from.runs(RunQuery { after, limit: PAGE, ..RunQuery::default() }).await?;
        after = page.rows.last().map(|run| run.head.id);
        count += page.rows.len();
        for run in page.rows {
            for attempt in from.attempts(run.head.id).await? {
                writer.write(Write::InsertAttempt(Box::new(attempt))).await?;
            }
            for event in from.events(run.head.id).await? {
                writer.write(Write::InsertEvent(Box::new(event))).await?;
            }
            writer.write(Write::InsertRun(run)).await?;
        }
        if !page.more {
            return Ok(count);
        }
    }
}

async fn copy_counters(from: &dyn Store, writer: &mut Writer<'_>, until: Timestamp) -> Result<(), Error> {
    let mut after = None;
    loop {
        let until = until + LEASE;
        let query =
            CounterQuery { namespace: None, job: None, from: Timestamp::ZERO, until, after, limit: PAGE };
        let page = from.counters(query).await?;
        after = page.rows.last().map(|(key, _)| (key.hour, key.job));
        for row in page.rows {
            writer.write(Write::AddCounts(Box::new(row))).await?;
        }
        if !page.more {
            return Ok(());
        }
    }
}

async fn copy_records(from: &dyn Store, writer: &mut Writer<'_>, kind: RecordKind) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = from.records(RecordQuery { after, ..RecordQuery::all(kind, PAGE) }).await?;
        after = page.rows.last().map(|record| record.key.clone());
        for record in page.rows {
            writer.write(Write::PutRecord(Box::new(Record { revision: 1, ..record }))).await?;
        }
        if !page.more {
            return Ok(());
        }
    }
}

/// Writes under a lease, batch by batch.
struct Writer<'a> {
    store: &'a dyn Store,
    member: MemberId,
    epoch: Epoch,
    seq: u64,
    batch: Vec<Write>,
}

impl<'a> Writer<'a> {
    async fn take(store: &'a dyn Store, now: Timestamp) -> Result<Self, Error> {
        let member = MemberId::new(now, 2);
        let request = LeaseRequest { cell: CELL, member, observed: None, expires_at: now + LEASE };
        match store.acquire_lease(request).await? {
            LeaseGrant::Granted(lease) => {
                Ok(Self { store, member, epoch: lease.epoch, seq: 0, batch: Vec::with_capacity(BATCH) })
            }
            LeaseGrant::Held(_) => Err(Error::Broken(format!("somebody owns {CELL}"))),
        }
    }

    async fn write(&mut self, write: Write) -> Result<(), Error> {
        self.batch.push(write);
        if self.batch.len() < BATCH { Ok(()) } else { self.commit().await }
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.seq += 1;
        let fence = Fence { cell: CellId(CELL.0), epoch: self.epoch, seq: self.seq };
        let writes = std::mem::take(&mut self.batch);
        let outcomes = self.store.commit(Transaction::fenced(fence, writes)).await?;
        match outcomes.into_iter().find(|outcome| *outcome != Outcome::Applied) {
            None => Ok(()),
            Some(other) => Err(Error::NotEmpty(other)),
        }
    }

    async fn finish(mut self) -> Result<(), Error> {
        self.commit().await?;
        self.store.release_lease(CELL, self.member, self.epoch).await?;
        Ok(())
    }
}
