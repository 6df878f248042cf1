//! A page of anything, by keyset: `next_cursor` goes into `cursor` of the next request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Some of a list, and where it goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items, in the order of the list. May be empty although more follow: then few passed the filter.
    pub items: Vec<T>,
    /// Where the list goes on; absent when nothing follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A list that is whole.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }
}
