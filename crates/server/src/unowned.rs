//! Runs in a cell that no server owns: its number is not below the cluster's number of cells.
//!
//! A server that was configured with more cells than the store has put them there, before this was refused at start. Nothing
//! starts them. They can be cancelled: whoever is asked takes the cell's lease for one commit, so that a server that owns the
//! cell after all is deposed and never writes beside it.

use std::sync::Arc;

use mainspring_app::audit::{Chain, Entry};
use mainspring_app::ports::{CellError, Command};
use mainspring_engine::Answer;
use mainspring_model::{
    Cause, CellId, CounterKey, Counts, ErrorCode, Lease, MemberId, Run, RunEvent, RunEventKind, RunId,
    RunState, Timestamp, counter, limits, state,
};
use mainspring_store::{Fence, LeaseGrant, LeaseRequest, Outcome, RunUpdate, Store, Transaction, Write};
use tokio::sync::Mutex;
use tokio::time::sleep;
use tracing::warn;

/// One command at a time: each takes the lease under an epoch of its own.
pub(crate) type UnownedLock = Mutex<()>;

/// A cell that no server owns.
pub(crate) struct Unowned<'a> {
    pub(crate) cell: CellId,
    pub(crate) member: MemberId,
    pub(crate) store: &'a dyn Store,
    pub(crate) chain: &'a Arc<Chain>,
    pub(crate) lock: &'a UnownedLock,
}

impl Unowned<'_> {
    /// Ends a run; anything else needs an owner.
    pub(crate) async fn command(&self, command: Command, audit: Vec<Entry>) -> Result<Answer, CellError> {
        match command {
            Command::Cancel { run, by, .. } => self.cancel(run, None, by, audit).await,
            Command::If { revision, command } => match *command {
                Command::Cancel { run, by, .. } => self.cancel(run, Some(revision), by, audit).await,
                _ => Err(CellError::Nowhere),
            },
            _ => Err(CellError::Nowhere),
        }
    }

    async fn cancel(
        &self,
        run: RunId,
        revision: Option<u64>,
        by: Box<str>,
        audit: Vec<Entry>,
    ) -> Result<Answer, CellError> {
        let _alone = self.lock.lock().await;
        let Some(row) = self.store.runs_by_id(&[run]).await.map_err(unavailable)?.pop() else {
            return Ok(refused(ErrorCode::NotFound, format!("there is no {run}")));
        };
        let state = row.status.state;
        if revision.is_some_and(|revision| revision != row.status.version) {
            return Ok(refused(ErrorCode::PreconditionFailed, format!("{run} has changed")));
        }
        if state == RunState::Cancelled {
            return Ok(Answer::Done);
        }
        if state.is_terminal() || row.status.cell != self.cell {
            return Ok(refused(ErrorCode::IllegalState, format!("the run is {}", state.name())));
        }
        let lease = self.take().await?;
        let answer = self.commit(&lease, row, by, audit).await;
        if let Err(error) = self.store.release_lease(self.cell, self.member, lease.epoch).await {
            warn!(cell = self.cell.0, %error, "the lease of a cell without an owner was not released");
        }
        answer
    }

    /// Takes the lease, after watching that its holder does not renew it.
    async fn take(&self) -> Result<Lease, CellError> {
        let seen = self.lease().await?;
        let mut observed = None;
        if let Some(held) = seen.filter(|lease| lease.holder.is_some_and(|holder| holder != self.member)) {
            sleep(limits::LEASE_TTL + limits::LEASE_RENEW_EVERY).await;
            observed = Some((held.epoch, held.expires_at));
        }
        let expires_at = self.store.clock().await.map_err(unavailable)? + limits::LEASE_TTL;
        let request = LeaseRequest { cell: self.cell, member: self.member, observed, expires_at };
        match self.store.acquire_lease(request).await.map_err(unavailable)? {
            LeaseGrant::Granted(lease) => Ok(lease),
            LeaseGrant::Held(_) => Err(CellError::Nowhere),
        }
    }

    async fn lease(&self) -> Result<Option<Lease>, CellError> {
        let leases = self.store.leases().await.map_err(unavailable)?;
        Ok(leases.into_iter().find(|lease| lease.cell == self.cell))
    }

    async fn commit(
        &self,
        lease: &Lease,
        row: Run,
        by: Box<str>,
        audit: Vec<Entry>,
    ) -> Result<Answer, CellError> {
        let fence = Fence { cell: self.cell, epoch: lease.epoch, seq: lease.seq + 1 };
        let now = self.store.clock().await.map_err(unavailable)?;
        let mut writes = end(now, lease, row, by);
        let audit = self.chain.draft(now, audit);
        writes.extend(audit.iter().flat_map(|draft| draft.records().iter().cloned()));
        // A draft whose commit failed is left over, and written later.
        let outcomes = self.store.commit(Transaction::fenced(fence, writes)).await.map_err(unavailable)?;
        if let Some(audit) = audit {
            audit.written();
        }
        match outcomes.first() == Some(&Outcome::Applied) {
            true => Ok(Answer::Done),
            false => Ok(refused(ErrorCode::PreconditionFailed, "the run changed meanwhile".into())),
        }
    }
}

/// The writes that end the run; the first is the run's row.
fn end(now: Timestamp, lease: &Lease, row: Run, by: Box<str>) -> Vec<Write> {
    let Run { head, mut status } = row;
    let expected = status.version;
    // A run that is not over can always be cancelled.
    status.state = state::transition(status.state, state::Command::Cancel).unwrap_or(RunState::Cancelled);
    status.version = expected + 1;
    status.epoch = lease.epoch;
    status.place = None;
    status.finished_at = Some(now);
    status.cause = Some(Cause::Cancelled { by: by.clone() });
    let counts = Counts { attempts: u64::from(status.attempt), ..Counts::of(status.state) };
    let hour = counter::hour_of(now);
    let key = CounterKey { namespace: head.namespace.clone(), job: head.job, hour };
    let kind = RunEventKind::CancelRequested { by };
    let event = RunEvent { run: head.id, version: status.version, ordinal: 0, at: now, kind };
    vec![
        Write::UpdateRun(RunUpdate { id: head.id, expected, status }),
        Write::InsertEvent(Box::new(event)),
        Write::AddCounts(Box::new((key, counts))),
    ]
}

fn refused(code: ErrorCode, message: String) -> Answer {
    Answer::Refused { code, message }
}

fn unavailable(error: mainspring_store::Error) -> CellError {
    warn!(error = &error as &dyn std::error::Error, "a cell without an owner cannot be read or written");
    CellError::Unavailable
}
