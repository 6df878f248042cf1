//! What is wrong or odd in the cluster, and what to do about it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A look at the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Doctor {
    /// When it looked.
    pub at: Time,
    /// Whether nothing is wrong.
    pub healthy: bool,
    /// What it found, the worst first.
    pub findings: Vec<Finding>,
    /// What it looked at.
    pub checked: Vec<String>,
}

/// Something that it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Which check.
    pub check: String,
    /// What.
    pub message: String,
    /// What to do.
    pub remedy: String,
    /// What, in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_zh: String,
    /// What to do, in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy_zh: String,
    /// The one thing that it is about, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<FindingSubject>,
    /// Since when, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindingSubject {
    /// What it is.
    pub kind: SubjectKind,
    /// Its name, or its id where it has none.
    pub name: String,
    /// Its id, where it has one beside the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<mainspring_model::Namespace>,
}

/// What findings are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// A cell, by number.
    Cell,
    /// A job.
    Job,
    /// A node.
    Node,
    /// A pool of nodes.
    Pool,
    /// A run, by id.
    Run,
    /// A scheduler, by id.
    Scheduler,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Work does not go on.
    Failure,
    /// It goes on, but somebody should look.
    Warning,
    /// Worth knowing.
    Note,
}
