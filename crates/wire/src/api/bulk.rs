//! One action on every run that a query finds: first a count, then the deed.

use mainspring_model::RunId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What to do with every run that `q` finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkRequest {
    /// What to do.
    pub action: BulkAction,
    /// Which runs; the language of `GET /v1/runs?q=`. Without a word it is refused, unless `all` is true.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub q: String,
    /// Every run that the caller may act on, instead of a query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Only count. The default: to act, say `false`.
    #[serde(default = "yes")]
    pub preview: bool,
    /// Refuse to act when more than this many runs match: give the count of the preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub expected_max: Option<usize>,
    /// Go on from where the last answer stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BulkAction {
    /// End them.
    Cancel,
    /// End them without grace.
    Kill,
    /// Do not wait for the back-off.
    Retry,
    /// The same again, as new runs.
    Rerun,
}

/// What became of a bulk action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BulkResult {
    /// Whether nothing was done but counting.
    pub preview: bool,
    /// Runs that match and that the action applies to.
    pub matched: usize,
    /// Runs that it was done to.
    pub done: usize,
    /// The first few of those it could not be done to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<BulkFailure>,
    /// Some of the runs that match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<RunId>,
    /// There may be more: ask again with this cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A run that the action could not be done to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BulkFailure {
    /// The run.
    pub id: RunId,
    /// The stable code.
    pub code: String,
    /// Why.
    pub detail: String,
}

fn yes() -> bool {
    true
}
