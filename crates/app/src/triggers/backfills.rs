//! Backfills of many triggers: each is part of its trigger's row.

use mainspring_model::Namespace;
use mainspring_wire::api::{BackfillState, Backfills, JobBackfill};

use super::backfill::view;
use super::ledgers::Rows;
use crate::app::App;
use crate::error::Result;
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::principal::Caller;

impl App {
    /// Backfills of all triggers that the caller may see, the newest first: no more than a page of them.
    pub async fn list_all_backfills(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        state: Option<BackfillState>,
        limit: Option<usize>,
    ) -> Result<Backfills> {
        let limit = PageRequest { limit, cursor: None }.rows()?;
        let has_some = |row: &mainspring_engine::TriggerRow| !row.state.backfills().is_empty();
        let Rows { rows, mut partial } =
            self.trigger_rows(caller, Operation::BackfillListAll, namespace, has_some).await?;
        let keys: Vec<_> = rows.iter().map(|row| (row.key.job, row.state.version)).collect();
        let specs = self.find_versions(&keys).await?;
        let mut items = Vec::new();
        for row in &rows {
            let spec = specs.get(&(row.key.job, row.state.version));
            items.extend(row.state.backfills().iter().map(|one| JobBackfill {
                namespace: row.state.namespace.clone(),
                job: row.key.job,
                job_name: spec.map_or_else(String::new, |spec| spec.name.to_string()),
                backfill: view(row, one),
            }));
        }
        items.retain(|item| state.is_none_or(|state| state == item.backfill.state));
        items.sort_by_key(|item| std::cmp::Reverse((item.backfill.at, item.backfill.id)));
        partial |= items.len() > limit;
        items.truncate(limit);
        Ok(Backfills { items, partial })
    }
}
