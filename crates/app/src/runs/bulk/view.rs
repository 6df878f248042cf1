//! Looking at operations: one's own, and those of namespaces in which the caller may start some.

use mainspring_model::{BulkId, Namespace, Timestamp};
use mainspring_store::RecordQuery;
use mainspring_wire::api::{BulkOperation, BulkState, Page};

use super::document::{Asked, Kept, Part, key};
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::BULK_SAMPLE_MAX;
use crate::operation::Operation;
use crate::paging::{PageRequest, visible};
use crate::principal::Caller;
use crate::record;

impl App {
    /// An operation and how far it is.
    pub async fn bulk_operation(&self, caller: &Caller, id: BulkId) -> Result<BulkOperation> {
        let asked = self.find_bulk(caller, Operation::BulkGet, id).await?;
        self.view_bulk(id, asked.value).await
    }

    /// Operations, the last first.
    pub async fn list_bulk(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        request: &PageRequest,
    ) -> Result<Page<BulkOperation>> {
        self.places(caller, Operation::BulkList, namespace).await?;
        let is_within = |asked: &Asked| {
            let place = asked.namespace.as_ref();
            namespace.is_none_or(|outer| place.is_some_and(|place| place.is_within(outer)))
        };
        let query = RecordQuery { reverse: true, ..request.records(record::BULK, &[])? };
        let found = visible(&*self.store, query, |row| {
            let asked: Asked = record::decode(row)?;
            let id = row.key.as_bytes().try_into().ok().map(BulkId::from_bytes);
            Ok(id.filter(|_| may_see(caller, &asked) && is_within(&asked)).map(|id| (id, asked)))
        });
        let Page { items, next_cursor } = found.await?;
        let mut seen = Vec::with_capacity(items.len());
        for (id, asked) in items {
            seen.push(self.view_bulk(id, asked).await?);
        }
        Ok(Page { items: seen, next_cursor })
    }

    /// An operation that the caller may see. Others do not exist.
    pub(super) async fn find_bulk(
        &self,
        caller: &Caller,
        operation: Operation,
        id: BulkId,
    ) -> Result<Kept<Asked>> {
        let missing = || Error::not_found(id);
        let found = self.read_kept::<Asked>(record::BULK, &key(id)).await?.ok_or_else(missing)?;
        if may_see(caller, &found.value) {
            return Ok(found);
        }
        let namespace = found.value.namespace.as_ref();
        self.deny(caller, operation, namespace, Some(id.to_string())).await;
        Err(missing())
    }

    async fn view_bulk(&self, id: BulkId, asked: Asked) -> Result<BulkOperation> {
        let parts = self.bulk_parts(id).await?;
        let is_over = self.store.record(record::BULK_OPEN, &key(id)).await?.is_none();
        let ended: Option<Timestamp> = parts.iter().filter_map(|part| part.finished_at).max();
        let state = match (is_over, &asked.stopped_by) {
            (false, _) => BulkState::Running,
            (true, Some(_)) => BulkState::Stopped,
            (true, None) => BulkState::Done,
        };
        Ok(BulkOperation {
            id,
            action: asked.action,
            priority: asked.priority,
            q: asked.q,
            all: asked.all,
            namespace: asked.namespace,
            by: asked.by,
            created_at: asked.created_at.into(),
            state,
            matched: asked.matched,
            exact: asked.exact,
            done: parts.iter().map(|part| part.done).sum(),
            failed: parts.iter().map(|part| part.failed).sum(),
            failures: parts.into_iter().flat_map(|part| part.failures).take(BULK_SAMPLE_MAX).collect(),
            finished_at: ended.filter(|_| is_over).map(Into::into),
            stopped_by: asked.stopped_by,
        })
    }

    /// How far each cell is, as far as any has begun.
    pub(super) async fn bulk_parts(&self, id: BulkId) -> Result<Vec<Part>> {
        let prefix = id.as_bytes()[..].into();
        let query = RecordQuery { prefix, ..RecordQuery::all(record::BULK_PART, usize::from(u16::MAX) / 8) };
        self.store.records(query).await?.rows.iter().map(record::decode).collect()
    }
}

fn may_see(caller: &Caller, asked: &Asked) -> bool {
    *asked.by == *caller.subject() || caller.principal.may(Operation::RunBulk, asked.namespace.as_ref())
}
