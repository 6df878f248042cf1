//! Retention: ended runs go by age or by count, with their attempts and events, in small transactions. What is on
//! a shelf is not over and never goes (I30); ids are ordered by time, so age is a range of ids.

use std::sync::Arc;

use mainspring_model::{JobId, RunId, Timestamp};
use mainspring_store::{Retention, check, first_id_at};

use super::lookup;
use super::statement::{Query, Statement};
use crate::batch_text::questions;
use crate::session::{Backend, Fault, Result, Session, Work};
use crate::value::{Damage, Param, Row, Value};

/// Runs removed in one transaction.
const CHUNK: usize = lookup::CHUNK_MAX;

/// Removes ended runs as the rule says, the oldest first, at most `limit`; tells how many.
pub(crate) async fn runs<B: Backend>(backend: &B, rule: Retention, limit: usize) -> Result<u64> {
    check::retention(&rule)?;
    let Some(end) = end_of(backend, &rule).await? else { return Ok(0) };
    let mut gone = 0u64;
    loop {
        let left = limit.saturating_sub(usize::try_from(gone).unwrap_or(usize::MAX));
        if left == 0 {
            return Ok(gone);
        }
        let sweep = Sweep { job: rule.job, end, limit: left.min(CHUNK) };
        let removed = backend.transaction(Arc::new(sweep)).await?;
        gone += removed;
        if removed < left.min(CHUNK) as u64 {
            return Ok(gone);
        }
    }
}

/// Ended runs with an id below this go. Both rules cut off the oldest, so the later cut holds both.
async fn end_of<B: Backend>(backend: &B, rule: &Retention) -> Result<Option<RunId>> {
    let by_age = rule.made_before.map(first_id_at);
    let by_count = match (rule.job, rule.keep_newest) {
        (Some(job), Some(keep)) => oldest_kept(backend, job, keep).await?,
        _ => None,
    };
    Ok(by_age.max(by_count))
}

/// The oldest of the newest `keep` ended runs of a job, if there are that many; the end of all ids for none.
async fn oldest_kept<B: Backend>(backend: &B, job: JobId, keep: u64) -> Result<Option<RunId>> {
    let Some(skip) = keep.checked_sub(1) else { return Ok(Some(RunId::MAX)) };
    let mut query = Query::new("SELECT id FROM runs");
    query.and("job = ?", [job.as_bytes().into()]).and("shelf IS NULL", []);
    query.order("id DESC LIMIT 1 OFFSET ?").bind(i64::try_from(skip).unwrap_or(i64::MAX).into());
    Ok(query.all(backend, decode_id).await?.pop())
}

fn decode_id(row: &dyn Row) -> Result<RunId, Damage> {
    row.id(0).map(RunId::from_bytes)
}

/// One small transaction.
struct Sweep {
    job: Option<JobId>,
    end: RunId,
    limit: usize,
}

impl Work for Sweep {
    type Answer = u64;

    async fn run<S: Session>(&self, session: &mut S) -> Result<u64, Fault> {
        let mut query = Query::new("SELECT id FROM runs");
        if let Some(job) = self.job {
            query.and("job = ?", [job.as_bytes().into()]);
        }
        query.and("id < ?", [self.end.as_bytes().into()]).and("shelf IS NULL", []);
        query.page("id", self.limit);
        let (text, params) = query.parts();
        let ids = session.query(text, &params, decode_id).await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let size = ids.len().next_power_of_two();
        let list = questions(size);
        let last = ids[ids.len() - 1];
        let params: Vec<Value<'_>> =
            (0..size).map(|at| Value::Bytes(ids.get(at).unwrap_or(&last).as_bytes())).collect();
        for table in ["attempts", "run_events"] {
            session.execute(&format!("DELETE FROM {table} WHERE run IN ({list})"), &params).await?;
        }
        session.execute(&format!("DELETE FROM runs WHERE id IN ({list}) AND shelf IS NULL"), &params).await
    }
}

/// Removes roll-ups of hours before; tells how many.
pub(crate) async fn counters<B: Backend>(backend: &B, before: Timestamp) -> Result<u64> {
    let params = vec![Param::from(before)];
    Ok(backend
        .transaction(Arc::new(Statement { text: "DELETE FROM counters WHERE hour < ?", params }))
        .await?)
}
