//! Asking for runs: one, many, or one again.

use mainspring_model::{JobId, JobSpec, Namespace, RunId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{FieldProblem, Time};

/// A run to be made: of a job (`job`), or of a specification of its own (`spec`). Exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submit {
    /// Where it belongs; without one, the namespace in the query, in `spec`, or `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The job, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The version of the job; without one, the current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// What to run, without a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JobSpec>)]
    pub spec: Option<Value>,
    /// Values of the job's parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub params: Option<Map<String, Value>>,
    /// How urgent, instead of the job's own: `standard`, `service`, …, or `{class, level}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<mainspring_model::spec::Priority>)]
    pub priority: Option<Value>,
    /// Not before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    /// Given up after this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Begins beside other runs of the job, whatever its overlap policy and concurrency limit say. The audit log tells it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Unique within the namespace: the same key is the same run. The header `Idempotency-Key` says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
}

/// A run that is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Submitted {
    /// The run.
    pub id: RunId,
    /// Where it belongs.
    pub namespace: Namespace,
    /// Its job; of a run without a job, an id derived from its specification.
    pub job: JobId,
    /// The version that it pins.
    pub job_version: u32,
    /// Whether the key was used before: then this is the earlier run.
    pub duplicate: bool,
}

/// Runs to be made, at most 10,000. Each is answered for itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchSubmit {
    /// The runs.
    #[serde(deserialize_with = "super::object::list")]
    #[schema(min_items = 1, max_items = 10000)]
    pub runs: Vec<Submit>,
}

/// What became of each run of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchResult {
    /// In the order of the request.
    pub items: Vec<SubmitOutcome>,
    /// How many are durable.
    pub submitted: usize,
    /// How many were refused.
    pub refused: usize,
}

/// What became of a run of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SubmitOutcome {
    /// It is durable.
    Submitted {
        /// The run.
        id: RunId,
        /// Whether the key was used before.
        duplicate: bool,
    },
    /// It was not made.
    Refused {
        /// The stable code.
        code: String,
        /// What is wrong.
        detail: String,
        /// What is wrong with each field.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FieldProblem>,
    },
}

/// The same again, as a new run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RerunRequest {
    /// With the job's current version instead of the one that the run pinned.
    pub latest: bool,
    /// Values instead of the run's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub params: Option<Map<String, Value>>,
    /// Begins beside other runs of the job, whatever its overlap policy and concurrency limit say. The audit log tells it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Unique within the namespace: the same key is the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 255)]
    pub idempotency_key: Option<String>,
}
