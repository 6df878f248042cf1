//! Pages as callers ask for them: a limit and an opaque cursor, which is the key of the last row they saw.

use mainspring_model::ErrorCode;
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery, Store};
use mainspring_wire::api::Page;

use crate::error::{Error, Result};
use crate::limits::{PAGE_DEFAULT, PAGE_MAX};
use crate::secret::{from_hex, hex};

/// Which part of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// How many at most.
    pub limit: Option<usize>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

impl PageRequest {
    /// How many rows to read.
    pub(crate) fn rows(&self) -> Result<usize> {
        match self.limit {
            None => Ok(PAGE_DEFAULT),
            Some(limit) if (1..=PAGE_MAX).contains(&limit) => Ok(limit),
            Some(_) => Err(Error::field(
                ErrorCode::InvalidRequest,
                "limit",
                format!("a page has 1 to {PAGE_MAX} items"),
            )),
        }
    }

    /// Where to go on, for lists whose cursor is an id or a number.
    pub(crate) fn after<T: std::str::FromStr>(&self) -> Result<Option<T>> {
        self.cursor.as_deref().map(|text| text.parse().map_err(|_| bad_cursor())).transpose()
    }

    /// Records of a kind with keys that begin so, from where the last page ended.
    pub(crate) fn records(&self, kind: RecordKind, prefix: &[u8]) -> Result<RecordQuery> {
        let after = match &self.cursor {
            Some(text) => {
                Some(RecordKey::from(from_hex(text).filter(|key| !key.is_empty()).ok_or_else(bad_cursor)?))
            }
            None => None,
        };
        Ok(RecordQuery { kind, prefix: prefix.into(), after, reverse: false, limit: self.rows()? })
    }
}

/// A page of those records that the caller may see, as `see` reads them. Goes on until the page is full, and its cursor is
/// the key of an item on it: what others have is not told by where a page ends.
pub(crate) async fn visible<T>(
    store: &dyn Store,
    mut query: RecordQuery,
    mut see: impl FnMut(&Record) -> Result<Option<T>>,
) -> Result<Page<T>> {
    let limit = std::mem::replace(&mut query.limit, PAGE_MAX);
    let mut items = Vec::new();
    let mut last_seen = None;
    loop {
        let part = store.records(query.clone()).await?;
        for row in &part.rows {
            let Some(item) = see(row)? else { continue };
            if items.len() == limit {
                return Ok(Page { items, next_cursor: last_seen.as_ref().map(cursor_of) });
            }
            items.push(item);
            last_seen = Some(row.key.clone());
        }
        match part.rows.last().filter(|_| part.more) {
            Some(last) => query.after = Some(last.key.clone()),
            None => return Ok(Page::whole(items)),
        }
    }
}

/// The cursor after a record.
pub(crate) fn cursor_of(key: &RecordKey) -> String {
    hex(key.as_bytes())
}

/// A page with the cursor of its last item, if more follow.
pub(crate) fn page<T>(items: Vec<T>, more: bool, cursor: impl FnOnce(&T) -> String) -> Page<T> {
    let next_cursor = items.last().filter(|_| more).map(cursor);
    Page { items, next_cursor }
}

fn bad_cursor() -> Error {
    Error::field(
        ErrorCode::InvalidRequest,
        "cursor",
        "not a cursor of this list; take `next_cursor` as it came",
    )
}
