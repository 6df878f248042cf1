//! Reading the audit, newest first.

use std::fmt;
use std::time::Duration;

use mainspring_model::{ErrorCode, Namespace, Timestamp};
use mainspring_store::{RecordKey, RecordQuery};
use mainspring_wire::api::{AuditEntry, Page};

use super::chain::{Document, first_bytes};
use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::{PageRequest, cursor_of};
use crate::principal::Caller;
use crate::record;
use crate::secret::from_hex;

/// Records that one request looks at.
const RECORDS_MAX: usize = 1_000;
/// How long an entry may wait for its commit.
const COMMIT_WAIT_MAX: Duration = Duration::from_secs(60);

/// Which entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Here and in all below.
    pub namespace: Option<Namespace>,
    /// Of this actor.
    pub actor: Option<String>,
    /// Of this operation.
    pub operation: Option<String>,
    /// To this target.
    pub target: Option<String>,
    /// At or after.
    pub from: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
}

impl App {
    /// Entries of the audit, newest first. Looks at a bounded number of records; the cursor goes on from there.
    pub async fn list_audit(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
        request: &PageRequest,
    ) -> Result<Page<AuditEntry>> {
        self.allow(caller, Operation::AuditList, filter.namespace.as_ref()).await?;
        let limit = request.rows()?;
        let mut place = match &request.cursor {
            Some(cursor) => Place::parse(cursor).ok_or_else(bad_cursor)?,
            None => Place { after: filter.until.map(first_key), skip: 0 },
        };
        let mut items = Vec::new();
        let mut budget = RECORDS_MAX;
        while budget > 0 {
            let query = RecordQuery {
                kind: record::AUDIT,
                prefix: Box::default(),
                after: place.after.clone(),
                reverse: true,
                limit: limit.min(budget),
            };
            let page = self.store.records(query).await?;
            budget = budget.saturating_sub(page.rows.len().max(1));
            for found in &page.rows {
                if filter.from.is_some_and(|from| found.key.as_bytes() < &first_bytes(from)[..]) {
                    return Ok(Page::whole(items));
                }
                let entries = record::decode::<Document>(found)?.entries;
                for entry in entries.into_iter().rev().skip(place.skip) {
                    if items.len() == limit {
                        return Ok(Page { items, next_cursor: Some(place.to_string()) });
                    }
                    place.skip += 1;
                    if filter.passes(&entry) {
                        items.push(entry);
                    }
                }
                place = Place { after: Some(found.key.clone()), skip: 0 };
            }
            if !page.more {
                return Ok(Page::whole(items));
            }
        }
        Ok(Page { items, next_cursor: Some(place.to_string()) })
    }
}

/// Where a page ended: after this record (from the newest down), and so many entries into the next.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    after: Option<RecordKey>,
    skip: usize,
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let (key, skip) = text.split_once('.')?;
        let after = if key.is_empty() { None } else { Some(RecordKey::from(from_hex(key)?)) };
        Some(Self { after, skip: skip.parse().ok()? })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.after.as_ref().map(cursor_of).unwrap_or_default(), self.skip)
    }
}

/// Above every record that can hold an entry from before `until`: entries wait a little for their commit.
fn first_key(until: Timestamp) -> RecordKey {
    RecordKey::from(&first_bytes(until + COMMIT_WAIT_MAX)[..])
}

fn bad_cursor() -> Error {
    Error::field(
        ErrorCode::InvalidRequest,
        "cursor",
        "not a cursor of this list; take `next_cursor` as it came",
    )
}

impl AuditFilter {
    fn passes(&self, entry: &AuditEntry) -> bool {
        let within = |outer: &Namespace| {
            let inner = entry.namespace.as_deref().and_then(|path| path.parse::<Namespace>().ok());
            inner.is_some_and(|inner| inner.is_within(outer))
        };
        self.namespace.as_ref().is_none_or(within)
            && self.actor.as_ref().is_none_or(|actor| *actor == entry.actor)
            && self.operation.as_ref().is_none_or(|operation| *operation == entry.operation)
            && self.target.as_ref().is_none_or(|target| entry.target.as_ref() == Some(target))
            && self.from.is_none_or(|from| entry.at.0 >= from)
            && self.until.is_none_or(|until| entry.at.0 < until)
    }
}
