//! What is wrong with a job file or with the parameters of a run: every problem, each with its place.
//!
//! A message says what is wrong in the words of the file, a hint what to write instead. Neither is parsed
//! by anyone: they are for people. The path is for programs, which point at the place with it.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: `retry.backoff.base`, `artifacts[0].url`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead, when that can be guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), hint: None }
    }

    /// The same problem with a hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a job file; never empty. Displays one problem per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SpecErrors(Vec<Problem>);

impl SpecErrors {
    /// The problems in the order of the checks.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }

    /// The same problems, in a part of a larger file.
    pub(super) fn below(self, place: &str) -> Vec<Problem> {
        let moved = |problem: Problem| {
            let dot = if problem.path.is_empty() { "" } else { "." };
            Problem { path: format!("{place}{dot}{}", problem.path), ..problem }
        };
        self.0.into_iter().map(moved).collect()
    }

    /// The problems, if there are any.
    pub(super) fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }
}

impl From<Problem> for SpecErrors {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SpecErrors {}
