//! One action on every run that a query finds: first a count, then an operation that the servers carry out.

use mainspring_model::{BulkId, Namespace, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{RunCounts, Time};

/// What to do, and with which runs: those of `q`, those of `runs`, or all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkRequest {
    /// What to do.
    pub action: BulkAction,
    /// Which runs; the language of `GET /v1/runs?q=`. Without a word it is refused, unless `all` is true or `runs` are named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub q: String,
    /// These runs, instead of a query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 10000)]
    pub runs: Vec<RunId>,
    /// Every run that the caller may act on, instead of a query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// How urgent `prioritise` makes them: `standard`, `service`, …, or `{class, level}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<mainspring_model::spec::Priority>)]
    pub priority: Option<Value>,
    /// Only count. The default: to act, say `false`.
    #[serde(default = "yes")]
    pub preview: bool,
    /// Refuse to act when more than this many runs match: give the count of the preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub expected_max: Option<u64>,
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
    /// Make them more or less important.
    Prioritise,
}

/// What an operation would act on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BulkPreview {
    /// Runs that match and that the action applies to.
    pub counts: RunCounts,
    /// Some of them, the newest.
    pub sample: Vec<RunId>,
}

/// An action that is carried out on many runs, whether or not somebody looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BulkOperation {
    /// The operation.
    pub id: BulkId,
    /// What is done.
    pub action: BulkAction,
    /// The priority that runs get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u16>,
    /// Which runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub q: String,
    /// Every run that its starter might act on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// In this namespace and below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// Who started it.
    pub by: String,
    /// When.
    pub created_at: Time,
    /// How far it is.
    pub state: BulkState,
    /// Runs that matched when it was started; at least so many when not `exact`.
    pub matched: u64,
    /// Whether all runs were counted.
    pub exact: bool,
    /// Runs that it was done to.
    pub done: u64,
    /// Runs that it could not be done to. Runs that changed before their turn are in neither number.
    pub failed: u64,
    /// The first few of those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<BulkFailure>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// Who stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BulkState {
    /// It goes through the runs.
    Running,
    /// It was done to every run that it applied to.
    Done,
    /// Somebody stopped it; what was done stays.
    Stopped,
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
