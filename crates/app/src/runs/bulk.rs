//! One action on every run that a query finds. First a count and a few examples, then the deed.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use mainspring_model::{ErrorCode, Namespace, Run};
use mainspring_wire::api::{BulkAction, BulkFailure, BulkRequest, BulkResult, RerunRequest};

use super::act::{applies, run_entry};
use super::submit::Said;
use crate::app::App;
use crate::audit::{Entry, told};
use crate::error::{Error, Result};
use crate::limits::{BULK_RUNS_MAX, BULK_SAMPLE_MAX, SCAN_BUDGET};
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::ports::Command;
use crate::principal::Caller;

/// Runs that are acted on at the same time: those of other owners take a request each.
const AT_ONCE: usize = 32;

/// The owners that are not reached, and why.
type Away = Mutex<BTreeMap<String, Error>>;

impl App {
    /// Counts the runs that a query finds and that the action applies to, or acts on them.
    pub async fn bulk(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: BulkRequest,
    ) -> Result<BulkResult> {
        if request.preview {
            told();
        }
        let filter = self.filter(caller, Operation::RunBulk, namespace, &request.q).await?;
        check_query(&request)?;
        let page = PageRequest { limit: None, cursor: request.cursor.clone() };
        let (rows, next) = self.scan(&filter, false, BULK_RUNS_MAX, page.after()?, SCAN_BUDGET).await?;
        let rows: Vec<Run> =
            rows.into_iter().filter(|run| applies(request.action, run.status.state)).collect();
        let mut result = BulkResult {
            preview: request.preview,
            matched: rows.len(),
            done: 0,
            failures: Vec::new(),
            sample: rows.iter().take(BULK_SAMPLE_MAX).map(|run| run.head.id).collect(),
            next_cursor: next.map(|run| run.to_string()),
        };
        if request.preview {
            return Ok(result);
        }
        let entry = Entry {
            detail: Some(format!("{:?} {} runs: {}", request.action, rows.len(), words(&request)).into()),
            ..caller.entry(self.now(), Operation::RunBulk, namespace)
        };
        if request.expected_max.is_some_and(|most| rows.len() > most) {
            let message = format!("{} runs match, more than expected", rows.len());
            return self.refused(entry, Error::new(ErrorCode::PreconditionFailed, message)).await;
        }
        self.journal.note(entry).await;
        let away = Away::default();
        let act = |row: Run| {
            let away = &away;
            async move { (row.head.id, self.act_wherever(caller, request.action, &row, away).await) }
        };
        let mut acts = pin!(stream::iter(rows).map(act).buffer_unordered(AT_ONCE));
        while let Some((id, outcome)) = acts.next().await {
            match outcome {
                Ok(()) => result.done += 1,
                Err(error) if result.failures.len() < BULK_SAMPLE_MAX => result.failures.push(BulkFailure {
                    id,
                    code: error.code.name().into(),
                    detail: error.message,
                }),
                Err(_) => {}
            }
        }
        Ok(result)
    }

    /// Acts on a run, here or at its owner's. An owner that is away is not asked for each of its runs.
    async fn act_wherever(&self, caller: &Caller, action: BulkAction, row: &Run, away: &Away) -> Result<()> {
        let Err(error) = self.act_on(caller, action, row).await else { return Ok(()) };
        let Some(url) = error.elsewhere.clone() else { return Err(error) };
        if let Some(known) = away.lock().unwrap_or_else(PoisonError::into_inner).get(&url) {
            return Err(known.clone());
        }
        let answer = self.cells.act_elsewhere(&url, row.head.id, action).await;
        if let Err(error) = &answer
            && matches!(error.code, ErrorCode::NotOwner | ErrorCode::StoreUnavailable)
        {
            away.lock().unwrap_or_else(PoisonError::into_inner).insert(url, error.clone());
        }
        answer
    }

    async fn act_on(&self, caller: &Caller, action: BulkAction, row: &Run) -> Result<()> {
        let (run, by) = (row.head.id, caller.subject().into());
        let (operation, command) = match action {
            BulkAction::Cancel => (Operation::RunCancel, Command::Cancel { run, by, kill: false }),
            BulkAction::Kill => (Operation::RunCancel, Command::Cancel { run, by, kill: true }),
            BulkAction::Retry => (Operation::RunRetry, Command::RetryNow { run, by }),
            BulkAction::Rerun => {
                let again = self.run_again(caller, row, RerunRequest::default()).await?;
                let entry = run_entry(self, caller, Operation::RunRerun, row);
                return self.submit_one(again, Said::default(), entry).await.map(|_| ());
            }
        };
        self.command(row.status.cell, command, run_entry(self, caller, operation, row)).await
    }
}

/// A query without a word finds every run, and is more often a variable that is not set than a wish.
fn check_query(request: &BulkRequest) -> Result<()> {
    let message = match (request.q.trim().is_empty(), request.all) {
        (true, false) => "a query without a word finds every run; say `all: true` if you mean that",
        (false, true) => "either a query or `all: true`",
        (true, true) | (false, false) => return Ok(()),
    };
    Err(Error::field(ErrorCode::InvalidRequest, "q", message))
}

fn words(request: &BulkRequest) -> &str {
    if request.all { "all" } else { &request.q }
}
