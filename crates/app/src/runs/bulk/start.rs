//! Counting what an action applies to, and starting and stopping an operation.

use std::cmp::Reverse;

use mainspring_model::{BulkId, ErrorCode, Namespace, Run};
use mainspring_store::{Record, Write};
use mainspring_wire::api::{BulkAction, BulkOperation, BulkPreview, BulkRequest, RunCounts};

use super::document::{Asked, Kept, key, write};
use crate::app::App;
use crate::audit::{Entry, told};
use crate::error::{Error, Result};
use crate::limits::{BULK_KEPT, BULK_RUNS_MAX, BULK_SAMPLE_MAX, SCAN_BUDGET};
use crate::operation::Operation;
use crate::principal::Caller;
use crate::query::Filter;
use crate::record;
use crate::runs::act::applies;
use crate::runs::counts::Tally;
use crate::runs::head::priority_from;

impl App {
    /// Counts the runs that an action would be done to.
    pub async fn preview_bulk(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: &BulkRequest,
    ) -> Result<BulkPreview> {
        told();
        let filter = self.filter(caller, Operation::RunBulk, namespace, &request.q).await?;
        check(request)?;
        let sample = match request.runs.as_slice() {
            [] => self.scan(&filter, false, BULK_SAMPLE_MAX, None, SCAN_BUDGET).await?.0,
            _ => self.chosen(&filter, request).await?,
        };
        let fits = |run: &&Run| applies(request.action, run.status.state);
        let sample = sample.iter().filter(fits).take(BULK_SAMPLE_MAX).map(|run| run.head.id).collect();
        Ok(BulkPreview { counts: self.count_bulk(&filter, request).await?, sample })
    }

    /// Starts an operation. It goes on by itself.
    pub async fn start_bulk(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        mut request: BulkRequest,
    ) -> Result<BulkOperation> {
        let filter = self.filter(caller, Operation::RunBulk, namespace, &request.q).await?;
        check(&request)?;
        let counts = self.count_bulk(&filter, &request).await?;
        let now = self.now();
        let entry = Entry {
            detail: Some(format!("{:?} {} runs: {}", request.action, counts.matched, words(&request)).into()),
            ..caller.entry(now, Operation::RunBulk, namespace)
        };
        if request.expected_max.is_some_and(|most| counts.matched > most) {
            let message = format!("{} runs match, more than expected", counts.matched);
            return self.refused(entry, Error::new(ErrorCode::PreconditionFailed, message)).await;
        }
        request.runs.sort_unstable_by_key(|run| Reverse(*run));
        request.runs.dedup();
        let priority = match request.priority.as_ref().map(|priority| priority_from(priority, "")).transpose()
        {
            Ok(priority) => priority,
            Err(error) => return self.refused(entry, error).await,
        };
        let id = self.random.bulk_id(now);
        let asked = Asked {
            action: request.action,
            priority,
            q: request.q,
            all: request.all,
            runs: request.runs,
            namespace: namespace.cloned(),
            by: caller.subject().to_owned(),
            token: caller.principal.token.as_ref().to_owned(),
            scopes: caller.principal.scopes.clone(),
            created_at: now,
            matched: counts.matched,
            exact: counts.exact,
            stopped_by: None,
        };
        let asked = Kept { value: asked, revision: 0 };
        let open = Record {
            kind: record::BULK_OPEN,
            key: key(id),
            revision: 1,
            expires_at: Some(now + BULK_KEPT),
            value: [].into(),
        };
        let writes = vec![write(record::BULK, key(id), &asked, now), Write::PutRecord(Box::new(open))];
        let entry = Entry { target: Some(id.to_string().into()), ..entry };
        self.journal.write(writes, entry).await?;
        self.bulk_wake.notify_one();
        self.bulk_operation(caller, id).await
    }

    /// Has an operation act on no more runs. What was done stays.
    pub async fn stop_bulk(&self, caller: &Caller, id: BulkId) -> Result<BulkOperation> {
        let mut asked = self.find_bulk(caller, Operation::BulkStop, id).await?;
        let namespace = asked.value.namespace.clone();
        let entry = Entry {
            target: Some(id.to_string().into()),
            ..caller.entry(self.now(), Operation::BulkStop, namespace.as_ref())
        };
        if asked.value.stopped_by.is_none() {
            asked.value.stopped_by = Some(caller.subject().to_owned());
            self.journal.write(vec![write(record::BULK, key(id), &asked, self.now())], entry).await?;
            self.bulk_wake.notify_one();
        } else {
            self.journal.note(entry).await;
        }
        self.bulk_operation(caller, id).await
    }

    async fn count_bulk(&self, filter: &Filter, request: &BulkRequest) -> Result<RunCounts> {
        let fits = |run: &Run| applies(request.action, run.status.state);
        if request.runs.is_empty() {
            return self.count_found(filter, fits).await;
        }
        let mut tally = Tally::default();
        let chosen = self.chosen(filter, request).await?;
        chosen.iter().filter(|run| fits(run)).for_each(|run| tally.add(run));
        Ok(tally.counts(None))
    }

    /// Those of the runs that are named and that the caller may act on.
    async fn chosen(&self, filter: &Filter, request: &BulkRequest) -> Result<Vec<Run>> {
        let mut rows = self.store.runs_by_id(&request.runs).await?;
        rows.retain(|run| filter.passes(run, None));
        rows.sort_unstable_by_key(|run| Reverse(run.head.id));
        Ok(rows)
    }
}

/// A query without a word finds every run, and is more often a variable that is not set than a wish.
fn check(request: &BulkRequest) -> Result<()> {
    let refuse = |field, message: &str| Err(Error::field(ErrorCode::InvalidRequest, field, message));
    let ways = [!request.q.trim().is_empty(), request.all, !request.runs.is_empty()];
    match ways.into_iter().filter(|is_used| *is_used).count() {
        0 => {
            return refuse("q", "a query without a word finds every run; say `all: true` if you mean that");
        }
        1 => {}
        _ => return refuse("q", "either a query, or `runs`, or `all: true`"),
    }
    if request.runs.len() > BULK_RUNS_MAX {
        return refuse("runs", &format!("at most {BULK_RUNS_MAX} runs can be named; use a query"));
    }
    match (request.action, &request.priority) {
        (BulkAction::Prioritise, None) => refuse("priority", "say which priority they get"),
        (BulkAction::Prioritise, Some(_)) | (_, None) => Ok(()),
        (_, Some(_)) => refuse("priority", "only `prioritise` gives a priority"),
    }
}

fn words(request: &BulkRequest) -> String {
    match request {
        BulkRequest { all: true, .. } => "all".to_owned(),
        BulkRequest { runs, .. } if !runs.is_empty() => format!("{} that were chosen", runs.len()),
        BulkRequest { q, .. } => q.clone(),
    }
}
