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
