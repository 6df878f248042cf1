//! A batch whose answer was lost ([`crate::Error::Unknown`]), sent again.
//!
//! A fenced batch is recognised by its seq. An unfenced one is not: it meets its own rows and answers with conflicts.
//! Here such a conflict is compared with the row that is there: if it is what the batch writes, the batch wrote it.
//!
//! A removal leaves no row, so on its own it stays [`crate::Conflict::Missing`]: somebody removed it, perhaps another.
//! Where it matters who did, the removal is part of an all-or-nothing batch that also writes something.

use mainspring_model::Run;

use crate::commit::{Outcome, Transaction, Write};
use crate::contract::Store;
use crate::error::Result;

/// Commits a batch that may have been committed before, and answers as if this were the first time. What others changed
/// since answers with what is there now, as after any conflict. May itself fail as unknown, and is then called again.
pub async fn resend(store: &dyn Store, transaction: Transaction) -> Result<Vec<Outcome>> {
    let mut outcomes = store.commit(transaction.clone()).await?;
    if transaction.fence.is_some() || outcomes.iter().all(|outcome| *outcome == Outcome::Applied) {
        return Ok(outcomes);
    }
    let mut traces = Vec::with_capacity(outcomes.len());
    for (write, outcome) in transaction.writes.iter().zip(&outcomes) {
        let is_asked = transaction.all_or_nothing || outcome.conflict().is_some();
        traces.push(if is_asked { trace(store, write).await? } else { Trace::Unclear });
    }
    if transaction.all_or_nothing {
        if traces.contains(&Trace::Written) && !traces.contains(&Trace::NotWritten) {
            outcomes.fill(Outcome::Applied);
        }
        return Ok(outcomes);
    }
    for (outcome, trace) in outcomes.iter_mut().zip(traces) {
        if trace == Trace::Written {
            *outcome = Outcome::Applied;
        }
    }
    Ok(outcomes)
}

/// What a row tells about a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trace {
    /// The row is what the write writes.
    Written,
    /// It is not.
    NotWritten,
    /// There is no row either way.
    Unclear,
}

async fn trace(store: &dyn Store, write: &Write) -> Result<Trace> {
    let is_written = match write {
        // What was asked never changes; where it stands is others' to change.
        Write::InsertRun(Run { head, .. }) => {
            store.runs_by_id(&[head.id]).await?.first().is_some_and(|row| row.head == *head)
        }
        Write::UpdateRun(update) => {
            store.runs_by_id(&[update.id]).await?.first().is_some_and(|row| row.status == update.status)
        }
        Write::InsertAttempt(attempt) => store.attempts(attempt.token.run).await?.contains(attempt),
        Write::InsertEvent(event) => store.events(event.run).await?.contains(event),
        Write::PutJob(job) => store.job(job.id).await?.as_ref() == Some(&**job),
        Write::InsertJobVersion(version) => {
            store.job_versions(&[(version.job, version.version)]).await?.contains(version)
        }
        Write::PutNode(node) => store.node(node.id).await?.as_ref() == Some(&**node),
        Write::PutRecord(record) => store.record(record.kind, &record.key).await?.as_ref() == Some(&**record),
        Write::RemoveJob { id, .. } => return Ok(gone(store.job(*id).await?.is_none())),
        Write::RemoveNode { id, .. } => return Ok(gone(store.node(*id).await?.is_none())),
        Write::RemoveRecord { kind, key, .. } => return Ok(gone(store.record(*kind, key).await?.is_none())),
        // Only fenced batches have these.
        Write::AddCounts(_) | Write::PauseCell(_) => return Ok(Trace::Unclear),
    };
    Ok(if is_written { Trace::Written } else { Trace::NotWritten })
}

fn gone(is_gone: bool) -> Trace {
    if is_gone { Trace::Unclear } else { Trace::NotWritten }
}
