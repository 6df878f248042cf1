//! Runs and their attempts, and why a run is where it is.

use std::collections::BTreeMap;

use mainspring_model::{JobId, Namespace, NodeId, RunId, RunState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{Cause, Reason, Time};

/// A run. Its `ETag` is its `version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// The run.
    pub id: RunId,
    /// Where it belongs.
    pub namespace: Namespace,
    /// Its job; of a run without a job, an id derived from its specification.
    pub job: JobId,
    /// The name in the specification that it pins, when that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_name: Option<String>,
    /// The version that it pins.
    pub job_version: u32,
    /// Whether it was submitted with a specification of its own.
    pub ad_hoc: bool,
    /// Where it is.
    pub state: RunState,
    /// Grows by one with every change.
    pub version: u64,
    /// The current or last attempt; 0 before the first.
    pub attempt: u32,
    /// How many attempts there may be, as in "attempt 2 of 4": each that infrastructure ended allows one more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u32>,
    /// How many attempts infrastructure ended.
    pub losses: u32,
    /// How important: larger goes first.
    pub priority: u16,
    /// Who asked for it.
    pub submitted_by: String,
    /// The trigger of the job that fired it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The moment that it was planned for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_time: Option<Time>,
    /// The key it was submitted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The node of the current or last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// What that node is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// When it was accepted.
    pub created_at: Time,
    /// Not eligible before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    /// Given up after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// When it was first queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eligible_at: Option<Time>,
    /// When the current or last attempt was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed_at: Option<Time>,
    /// When the current or last attempt started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When the last attempt or the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// Why the last attempt or the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Why it waits, or the last thing it waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Somebody asked for its end and it has not ended yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_requested_by: Option<String>,
    /// How far it says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// What the last attempt used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Two attempts may have executed at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maybe_doubled: bool,
    /// Labels of the version that it pins.
    #[serde(default, skip_serializing_if = "mainspring_model::Labels::is_empty")]
    pub labels: mainspring_model::Labels,
    /// Its parameters. Lists leave them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub params: Option<Value>,
    /// What it returned. Lists leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub result: Option<Value>,
}

/// Runs of a list, in its order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunPage {
    /// The runs. May be empty although more follow: then few passed the query.
    pub items: Vec<Run>,
    /// Where the list goes on; absent when nothing follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Where the page before ends: what was made since, or what a page further on left behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_cursor: Option<String>,
    /// When there is more to look through: the runs made up to here were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched_to: Option<Time>,
}

/// The order of a list of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum RunOrder {
    /// By when they were made, the last first.
    #[default]
    #[serde(rename = "-created")]
    NewestFirst,
    /// By when they were made, the first first.
    #[serde(rename = "created")]
    OldestFirst,
}

/// How many runs a query finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunCounts {
    /// All of them; at least so many when not `exact`.
    pub matched: u64,
    /// Whether all runs were looked at. Otherwise there were too many, and those counted are the newest.
    pub exact: bool,
    /// By state; states without runs are left out.
    pub states: BTreeMap<String, u64>,
    /// By namespace, the fullest first, at most 100.
    pub namespaces: Vec<NamespaceCount>,
    /// When the oldest of those that are not over was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_active: Option<Time>,
    /// When not `exact`: runs made before this were not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched_to: Option<Time>,
}

/// Runs of a namespace, without those below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NamespaceCount {
    /// The namespace.
    pub namespace: Namespace,
    /// How many.
    pub count: u64,
}

/// How far a task says it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// From 0 to 1.
    pub fraction: f64,
    /// The task's words.
    pub message: String,
}

/// What an attempt used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// CPU time of all its processes, in microseconds.
    pub cpu_us: u64,
    /// The most memory it held at once.
    pub memory_peak_bytes: u64,
}

/// One try of a run on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// Which, from 1.
    pub number: u32,
    /// How many there might be when it was made: each before it that infrastructure ended allows one more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u32>,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// What that node is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// When it was ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed_at: Option<Time>,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended; absent while it is current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A wish that a run ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CancelRequest {
    /// Without grace.
    pub kill: bool,
}

/// A wish that a run is more or less important.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityRequest {
    /// How urgent, as in a job file: `standard`, `service`, …, or `{class, level}`.
    #[schema(value_type = mainspring_model::spec::Priority)]
    pub priority: Value,
}

impl From<&mainspring_model::Usage> for Usage {
    fn from(usage: &mainspring_model::Usage) -> Self {
        Self { cpu_us: usage.cpu_us, memory_peak_bytes: usage.memory_peak_bytes }
    }
}

impl From<&mainspring_model::Run> for Run {
    /// Without what lists leave out and what only the specification knows.
    fn from(run: &mainspring_model::Run) -> Self {
        let (head, status) = (&run.head, &run.status);
        let extra = status.extra.as_deref();
        let time = |at: Option<mainspring_model::Timestamp>| at.map(Time);
        Self {
            id: head.id,
            namespace: head.namespace.clone(),
            job: head.job,
            job_name: None,
            job_version: head.job_version,
            ad_hoc: head.inline_spec.is_some(),
            state: status.state,
            version: status.version,
            attempt: status.attempt,
            attempts_max: None,
            losses: status.losses,
            priority: status.priority(head),
            submitted_by: head.submitted_by.to_string(),
            trigger: head.fired.as_ref().map(|fired| fired.trigger.to_string()),
            logical_time: head.fired.as_ref().map(|fired| fired.planned.into()),
            idempotency_key: head.idempotency_key.as_deref().map(Into::into),
            node: status.node,
            node_name: None,
            created_at: head.created_at.into(),
            not_before: time(head.not_before),
            deadline: time(head.deadline),
            eligible_at: time(status.eligible_at),
            placed_at: time(status.placed_at),
            started_at: time(status.started_at),
            finished_at: time(status.finished_at),
            cause: status.cause.as_ref().map(Into::into),
            reason: status.reason.as_deref().map(Into::into),
            cancel_requested_by: status.cancel().map(|cancel| cancel.by.to_string()),
            progress: extra.and_then(|extra| extra.progress.as_ref()).map(Into::into),
            usage: extra.map(|extra| (&extra.usage).into()),
            maybe_doubled: extra.is_some_and(|extra| extra.maybe_doubled),
            labels: mainspring_model::Labels::new(),
            params: None,
            result: None,
        }
    }
}

impl From<&mainspring_model::Progress> for Progress {
    fn from(progress: &mainspring_model::Progress) -> Self {
        Self { fraction: f64::from(progress.permille) / 1000.0, message: progress.message.to_string() }
    }
}

impl From<&mainspring_model::Attempt> for Attempt {
    fn from(attempt: &mainspring_model::Attempt) -> Self {
        Self {
            number: attempt.token.number,
            attempts_max: None,
            node: Some(attempt.node),
            node_name: None,
            placed_at: Some(attempt.placed_at.into()),
            started_at: attempt.started_at.map(Time),
            finished_at: Some(attempt.finished_at.into()),
            cause: Some((&attempt.cause).into()),
            usage: Some((&attempt.usage).into()),
        }
    }
}
