//! Jobs, their versions and what differs between two of them.

use mainspring_model::{JobId, JobSpec, Namespace};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{FieldProblem, JobHealth, Time};

/// A job. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// The job.
    pub id: JobId,
    /// Where it lives.
    pub namespace: Namespace,
    /// Unique within the namespace.
    pub name: String,
    /// The version that new runs pin.
    pub version: u32,
    /// Grows by one with every change, pauses included.
    pub revision: u64,
    /// Who paused it and why; absent when it is not paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// Labels of the current version; lists have them with `with=health`.
    #[serde(default, skip_serializing_if = "mainspring_model::Labels::is_empty")]
    pub labels: mainspring_model::Labels,
    /// How it fares. Lists have it with `with=health`; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<JobHealth>,
    /// What the current version says. Lists leave it out unless asked with `spec=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JobSpec>)]
    pub spec: Option<Value>,
    /// What a `PUT` did; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<PutOutcome>,
    /// What a `PUT` changed in the specification.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What a `PUT` accepts although it is probably a mistake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<JobWarning>,
}

/// The order of a list of jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobOrder {
    /// As they were made.
    #[default]
    Id,
    /// By namespace, then by name.
    Name,
}

/// What a list of jobs may have beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobWith {
    /// How each fares, and its labels.
    Health,
}

/// The jobs with triggers that follow or need a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Dependents {
    /// Each trigger, by job.
    pub items: Vec<Dependent>,
    /// The namespace has more jobs than were looked at: there may be more.
    pub partial: bool,
}

/// A trigger that follows or needs a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Dependent {
    /// The job that has the trigger.
    pub job: JobId,
    /// What that job is called.
    pub job_name: String,
    /// The trigger.
    pub trigger: String,
    /// How it depends.
    pub kind: DependentKind,
}

/// How a trigger depends on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DependentKind {
    /// It fires after the job's runs.
    Follows,
    /// Its moments wait until the job has succeeded.
    Needs,
}

/// Something in a specification that is accepted although it is probably a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobWarning {
    /// Where: `triggers[0].after`.
    pub path: String,
    /// What is odd about it.
    pub message: String,
    /// The name of a job that is not there, if that is what is odd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_job: Option<String>,
}

/// What became of a `PUT`. With `dry_run=true`, what would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PutOutcome {
    /// There was none.
    Created,
    /// There is a new version.
    Updated,
    /// It said the same already.
    Unchanged,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pause {
    /// Who.
    pub by: String,
    /// Their words.
    pub note: String,
    /// Since when.
    pub at: Time,
}

/// A version of a job; it never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobVersion {
    /// The job.
    pub job: JobId,
    /// From 1.
    pub version: u32,
    /// When it was made.
    pub created_at: Time,
    /// By whom.
    pub created_by: String,
    /// What it says.
    #[schema(value_type = JobSpec)]
    pub spec: Value,
    /// The text as it was put, comments and order included. Lists leave it out; absent where none was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<VersionSource>,
    /// Why, in the words of whoever put it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// With what it was put; absent where that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<VersionOrigin>,
}

/// The text of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VersionSource {
    /// The text.
    pub text: String,
    /// Its language: `application/yaml`, `application/json` or `application/toml`.
    pub media_type: String,
}

/// With what a version was put.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VersionOrigin {
    /// A program.
    #[default]
    Api,
    /// The command line.
    Cli,
    /// The console.
    Console,
    /// A repository that is kept in step with.
    Git,
}

/// What is wrong with a job file, and what is odd about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Validation {
    /// Whether it could be put.
    pub valid: bool,
    /// Every problem, with its line and column where they are known.
    pub problems: Vec<FieldProblem>,
    /// What is accepted although it is probably a mistake.
    pub warnings: Vec<JobWarning>,
    /// What it says, if it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<JobSpec>)]
    pub spec: Option<Value>,
}

/// What differs between two versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobDiff {
    /// The job.
    pub job: JobId,
    /// The one version.
    pub from: u32,
    /// The other.
    pub to: u32,
    /// Every difference, by path.
    pub changes: Vec<Change>,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// Where: `retry.max`, `artifacts[0].url`.
    pub path: String,
    /// What was there; absent when it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub before: Option<Value>,
    /// What is there; absent when it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub after: Option<Value>,
}

/// A few words with a pause or a resumption.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoteRequest {
    /// Why, for those who come after.
    #[schema(max_length = 4096)]
    pub note: String,
}

impl From<&mainspring_model::Pause> for Pause {
    fn from(pause: &mainspring_model::Pause) -> Self {
        Self { by: pause.by.to_string(), note: pause.note.to_string(), at: pause.at.into() }
    }
}

impl From<&mainspring_model::Job> for Job {
    fn from(job: &mainspring_model::Job) -> Self {
        Self {
            id: job.id,
            namespace: job.namespace.clone(),
            name: job.name.to_string(),
            version: job.current_version,
            revision: job.revision,
            pause: job.pause.as_ref().map(Into::into),
            created_at: job.created_at.into(),
            updated_at: job.updated_at.into(),
            labels: mainspring_model::Labels::new(),
            health: None,
            spec: None,
            outcome: None,
            changes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl From<&mainspring_model::JobVersion> for JobVersion {
    fn from(version: &mainspring_model::JobVersion) -> Self {
        Self {
            job: version.job,
            version: version.version,
            created_at: version.created_at.into(),
            created_by: version.created_by.to_string(),
            spec: serde_json::to_value(&*version.spec).unwrap_or_default(),
            source: None,
            note: String::new(),
            origin: None,
        }
    }
}
