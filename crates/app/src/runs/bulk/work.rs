//! Carrying operations out, a page of runs at a time. Each server acts on the runs in the cells that it owns; how far a cell
//! is, is written after each page. After a crash the page is done again: all actions are idempotent, and a new run has a key
//! that follows from the operation and the old run.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use mainspring_model::{BulkId, CellId, ErrorCode, Run, limits};
use mainspring_store::{RecordQuery, RunQuery, Transaction, Write};
use mainspring_wire::api::{BulkAction, BulkFailure, RerunRequest};

use super::document::{Asked, Kept, Part, key, part_key, write};
use crate::app::App;
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::limits::{BULK_PAGE, BULK_SAMPLE_MAX};
use crate::operation::Operation;
use crate::ports::Command;
use crate::principal::{Caller, Principal};
use crate::record;
use crate::runs::act::{applies, run_entry};
use crate::runs::submit::Said;
use crate::secret::SecretHash;

/// Runs that are acted on at the same time.
const AT_ONCE: usize = 32;

/// What became of one look at all operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkProgress {
    /// There may be more to do right away.
    More,
    /// Nothing is to be done here for now.
    Rest,
}

impl App {
    /// Returns when an operation was started or stopped here.
    pub async fn bulk_news(&self) {
        self.bulk_wake.notified().await;
    }

    /// Goes one page on with each operation in each cell that this process owns.
    pub async fn work_on_bulk(&self) -> Result<BulkProgress> {
        let open = self.store.records(RecordQuery::all(record::BULK_OPEN, limits::PAGE_ROWS_MAX)).await?;
        let mut progress = BulkProgress::Rest;
        for row in &open.rows {
            let Some(id) = row.key.as_bytes().try_into().ok().map(BulkId::from_bytes) else { continue };
            for cell in (0..self.cells.count()).map(CellId).filter(|cell| self.cells.owns(*cell)) {
                if self.bulk_page(id, cell).await? {
                    progress = BulkProgress::More;
                }
            }
            self.close_bulk(id, row.revision).await?;
        }
        Ok(progress)
    }

    /// Acts on the next runs of a cell; false when there are none.
    async fn bulk_page(&self, id: BulkId, cell: CellId) -> Result<bool> {
        let place = part_key(id, cell);
        let part = self.read_kept::<Part>(record::BULK_PART, &place).await?;
        let mut part = part.unwrap_or_else(|| Kept { value: Part::default(), revision: 0 });
        if part.value.finished_at.is_some() {
            return Ok(false);
        }
        let Some(asked) = self.read_kept::<Asked>(record::BULK, &key(id)).await? else { return Ok(false) };
        let asked = asked.value;
        let now = self.now();
        if asked.stopped_by.is_some() {
            part.value.finished_at = Some(now);
        } else {
            let caller = Caller::new(Arc::new(self.starter(&asked).await?));
            let more = match self.bulk_rows(&caller, &asked, &mut part.value).await {
                Ok((rows, more)) => {
                    let mine = rows.into_iter().filter(|run| run.status.cell == cell);
                    self.act_on_page(&caller, (id, &asked), mine.collect(), &mut part.value).await?;
                    more
                }
                // Whoever lost the role meanwhile acts on nothing more.
                Err(error) if error.code == ErrorCode::Forbidden => false,
                Err(error) => return Err(error),
            };
            part.value.finished_at = (!more).then_some(now);
        }
        let is_over = part.value.finished_at.is_some();
        let page = write(record::BULK_PART, place, &part, now);
        // Somebody else who owned the cell may have been faster: then theirs counts.
        self.store.commit(Transaction::unfenced(vec![page])).await?;
        Ok(!is_over)
    }

    /// The next runs that pass, and whether more follow.
    async fn bulk_rows(&self, caller: &Caller, asked: &Asked, part: &mut Part) -> Result<(Vec<Run>, bool)> {
        let (at, namespace) = (asked.created_at, asked.namespace.as_ref());
        let mut filter = self.filter_at(at, caller, Operation::RunBulk, namespace, &asked.q).await?;
        filter.before(at);
        if asked.runs.is_empty() {
            let query = RunQuery { after: part.after, limit: BULK_PAGE, ..filter.query.clone() };
            let page = self.store.runs(query).await?;
            let passing = self.passing(&filter, &page.rows).await?;
            part.after = page.rows.last().map(|run| run.head.id).or(part.after);
            let rows = page.rows.into_iter().zip(passing).filter(|(_, passes)| *passes);
            return Ok((rows.map(|(run, _)| run).collect(), page.more));
        }
        // The newest first, as they are kept.
        let rest = asked.runs.iter().copied().filter(|run| part.after.is_none_or(|after| *run < after));
        let mut ids: Vec<_> = rest.take(BULK_PAGE + 1).collect();
        let more = ids.len() > BULK_PAGE;
        ids.truncate(BULK_PAGE);
        part.after = ids.last().copied().or(part.after);
        let mut rows = self.store.runs_by_id(&ids).await?;
        rows.retain(|run| filter.passes(run, None));
        Ok((rows, more))
    }

    /// Acts on runs of a cell that is owned here. Fails as a whole when it turns out not to be, or the store is away.
    async fn act_on_page(
        &self,
        caller: &Caller,
        (id, asked): (BulkId, &Asked),
        rows: Vec<Run>,
        part: &mut Part,
    ) -> Result<()> {
        let rows = rows.into_iter().filter(|run| applies(asked.action, run.status.state));
        let act = |row: Run| async move { (row.head.id, self.bulk_act(caller, id, asked, &row).await) };
        let outcomes: Vec<_> = stream::iter(rows).map(act).buffer_unordered(AT_ONCE).collect().await;
        for (run, outcome) in outcomes {
            match outcome {
                Ok(()) => part.done += 1,
                // It changed before its turn.
                Err(error) if error.code == ErrorCode::IllegalState => {}
                Err(error) if is_passing(&error) => return Err(error),
                Err(error) => {
                    part.failed += 1;
                    if part.failures.len() < BULK_SAMPLE_MAX {
                        let code = error.code.name().into();
                        part.failures.push(BulkFailure { id: run, code, detail: error.message });
                    }
                }
            }
        }
        Ok(())
    }

    async fn bulk_act(&self, caller: &Caller, id: BulkId, asked: &Asked, row: &Run) -> Result<()> {
        let (run, by) = (row.head.id, caller.subject().into());
        let entry = |operation| {
            let detail = Some(id.to_string().into());
            Entry { detail, ..run_entry(self, caller, operation, row) }
        };
        let (operation, command) = match asked.action {
            BulkAction::Cancel => (Operation::RunCancel, Command::Cancel { run, by, kill: false }),
            BulkAction::Kill => (Operation::RunCancel, Command::Cancel { run, by, kill: true }),
            BulkAction::Retry => (Operation::RunRetry, Command::RetryNow { run, by }),
            BulkAction::Prioritise => {
                let priority = asked.priority.unwrap_or(row.head.priority);
                (Operation::RunPrioritise, Command::Prioritise { run, by, priority })
            }
            BulkAction::Rerun => {
                let idempotency_key = Some(format!("{id}/{run}"));
                let again = RerunRequest { idempotency_key, ..RerunRequest::default() };
                let again = self.run_again(caller, row, again).await?;
                let made = self.submit_one(again, Said::default(), entry(Operation::RunRerun)).await;
                return made.map(|_| ());
            }
        };
        self.command(row.status.cell, command, entry(operation)).await
    }

    /// Who started it, with the roles that they have by now.
    async fn starter(&self, asked: &Asked) -> Result<Principal> {
        Ok(Principal {
            subject: asked.by.as_str().into(),
            token: asked.token.as_str().into(),
            hash: SecretHash::of(&asked.token),
            expires_at: None,
            grants: self.grants_of(&asked.by).await?,
            origins: Vec::new(),
            scopes: asked.scopes.clone(),
        })
    }

    /// An operation is over when every cell is.
    async fn close_bulk(&self, id: BulkId, revision: u64) -> Result<()> {
        let parts = self.bulk_parts(id).await?;
        let over = parts.iter().filter(|part| part.finished_at.is_some()).count();
        if over >= usize::from(self.cells.count()) {
            let removal = Write::RemoveRecord { kind: record::BULK_OPEN, key: key(id), expected: revision };
            self.store.commit(Transaction::unfenced(vec![removal])).await?;
        }
        Ok(())
    }
}

/// Whether trying again may help.
fn is_passing(error: &Error) -> bool {
    error.elsewhere.is_some() || matches!(error.code, ErrorCode::NotOwner | ErrorCode::StoreUnavailable)
}
