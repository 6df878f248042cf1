//! What went wrong, as `application/problem+json` (RFC 9457) with a stable code.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Where the code is explained.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the code means, in a sentence that never changes.
    pub title: String,
    /// The same in Chinese; empty when something in front of the server answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title_zh: String,
    /// The status code.
    pub status: u16,
    /// The stable code, such as `not_found`; `mainspring explain CODE` tells more.
    pub code: String,
    /// What went wrong this time.
    pub detail: String,
    /// The path that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The request, as the server's log knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Whether trying again can help: `never`, `after_refresh` or `later`.
    pub retry: String,
    /// What is wrong with each field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldProblem {
    /// Which field: `retry.backoff.base`, `runs[3].params.day`; empty for the whole.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
    /// What to write instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The line in the text that was sent, from 1, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl From<mainspring_model::spec::Problem> for FieldProblem {
    fn from(problem: mainspring_model::spec::Problem) -> Self {
        Self { path: problem.path, message: problem.message, hint: problem.hint, line: None, column: None }
    }
}
