//! Why a use case did not do what was asked: a code for programs, a sentence for people, the fields that are wrong.
//!
//! Internal causes go to the log where they happen and never into a sentence; of a damaged row the sentence says which it is.

use std::time::Duration;

use mainspring_engine::Answer;
use mainspring_model::ErrorCode;
use mainspring_model::spec::{Format, Problem, SpecErrors, TextPlaces, place_in_message};
use mainspring_wire::api::FieldProblem;

use crate::ports::{CellError, LogError};

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// What is wrong with each field.
    pub fields: Vec<FieldProblem>,
    /// Where the request should go instead.
    pub elsewhere: Option<String>,
    /// When to ask again, where that is known.
    pub retry_after: Option<Duration>,
}

impl Error {
    /// An error without fields.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), fields: Vec::new(), elsewhere: None, retry_after: None }
    }

    /// A field that is wrong.
    pub fn field(code: ErrorCode, path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        let sentence = if path.is_empty() { message.clone() } else { format!("{path}: {message}") };
        let field = FieldProblem { path, message, hint: None, line: None, column: None };
        Self { fields: vec![field], ..Self::new(code, sentence) }
    }

    /// Problems of a specification or of parameters, with `prefix` before each path.
    pub(crate) fn problems(
        code: ErrorCode,
        prefix: &str,
        problems: impl IntoIterator<Item = Problem>,
    ) -> Self {
        let fields: Vec<FieldProblem> = problems
            .into_iter()
            .map(|mut problem| {
                if !prefix.is_empty() {
                    let dot = if problem.path.is_empty() || problem.path.starts_with('[') { "" } else { "." };
                    problem.path = format!("{prefix}{dot}{}", problem.path);
                }
                problem.into()
            })
            .collect();
        let sentence = match fields.as_slice() {
            [one] if one.path.is_empty() => one.message.clone(),
            [one] => format!("{}: {}", one.path, one.message),
            many => format!("{} problems", many.len()),
        };
        Self { fields, ..Self::new(code, sentence) }
    }

    /// Problems of a specification.
    pub(crate) fn spec(prefix: &str, errors: &SpecErrors) -> Self {
        Self::problems(ErrorCode::InvalidSpec, prefix, errors.problems().iter().cloned())
    }

    /// The same, where each field tells where it stands in the text that was sent.
    pub(crate) fn located(mut self, text: &str, format: Format) -> Self {
        if !self.fields.is_empty() {
            let places = TextPlaces::of(text, format);
            for field in &mut self.fields {
                let found = places.find(&field.path).or_else(|| place_in_message(&field.message));
                (field.line, field.column) = (found.map(|at| at.line), found.map(|at| at.column));
            }
        }
        self
    }

    /// There is no such thing, or the caller may not see it.
    pub(crate) fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::NotFound, format!("there is no {what}"))
    }
}

impl From<mainspring_store::Error> for Error {
    fn from(error: mainspring_store::Error) -> Self {
        use mainspring_store::Error as Store;
        match &error {
            Store::Invalid(what) => {
                tracing::error!(%what, "the store refused a request");
                Self::new(ErrorCode::Internal, "the store refused the request")
            }
            Store::Damaged { row, what } => {
                tracing::error!(%row, %what, "a stored row is damaged");
                Self::new(ErrorCode::Internal, format!("the stored row {row} is damaged"))
            }
            Store::FenceLost { .. } | Store::Unknown(_) | Store::Unavailable(_) | Store::Open(_) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the store does not answer");
                Self::new(ErrorCode::StoreUnavailable, "the store does not answer")
            }
        }
    }
}

impl From<CellError> for Error {
    fn from(error: CellError) -> Self {
        let message = error.to_string();
        match error {
            CellError::Elsewhere { url } => {
                Self { elsewhere: Some(url), ..Self::new(ErrorCode::NotOwner, message) }
            }
            CellError::Nowhere => Self::new(ErrorCode::NotOwner, message),
            // `not_owner` says that nothing was done, and whoever is told so asks again.
            CellError::Deposed | CellError::Unavailable => Self::new(ErrorCode::StoreUnavailable, message),
        }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Elsewhere { url } => Self {
                elsewhere: Some(url),
                ..Self::new(ErrorCode::NotOwner, "another scheduler has the log")
            },
            LogError::Io(cause) => {
                tracing::error!(error = &cause as &dyn std::error::Error, "a log cannot be read");
                Self::new(ErrorCode::Internal, "the log cannot be read")
            }
        }
    }
}

/// What an owner's answer to a command means.
pub(crate) fn done(answer: Answer) -> Result<()> {
    match answer {
        Answer::Done | Answer::Submitted { .. } => Ok(()),
        Answer::Refused { code, message } => Err(Error::new(code, message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_owner_says_that_nothing_was_done() {
        let code = |error: CellError| Error::from(error).code;
        assert_eq!(code(CellError::Nowhere), ErrorCode::NotOwner);
        assert_eq!(code(CellError::Elsewhere { url: "http://b".into() }), ErrorCode::NotOwner);
        assert_eq!(code(CellError::Deposed), ErrorCode::StoreUnavailable, "it may be done");
        assert_eq!(code(CellError::Unavailable), ErrorCode::StoreUnavailable, "it may be done");
    }
}
