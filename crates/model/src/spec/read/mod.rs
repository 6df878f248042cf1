//! From a tree of values to a [`JobSpec`], collecting every problem on the way.
//!
//! A [`Reader`] knows where it is in the file and what was wrong so far; [`Fields`] reads one map and knows
//! which fields it was asked for, so that it can name the nearest one for a word it does not know. A read
//! function answers `None` after it has reported a problem, and reading goes on with the next field. The
//! functions for single values are in `scalar.rs`; each part of a job has its own file beside.

mod body;
mod contradiction;
mod data;
mod dispatch;
mod documents;
mod fields;
mod job;
mod parameter;
mod placement;
mod policy;
mod retry;
mod rule;
mod scalar;
mod trigger;
mod webhook;
mod words;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::tree::{self, Format, Tree};
use super::{JobSpec, Problem, SpecErrors};
use crate::limits::SPEC_PROBLEMS_MAX;
use fields::Fields;

pub use documents::{Document, parse_all};
pub(super) use parameter::check_value;

/// Reads a job file. A syntax error stands alone; everything else that is wrong is reported together.
pub fn parse(text: &str, format: Format) -> Result<JobSpec, SpecErrors> {
    let value = tree::read::<1>(text, format)?;
    from_value(&value)
}

/// Reads a job from a tree that some other format gave.
pub fn from_value(value: &Value) -> Result<JobSpec, SpecErrors> {
    let mut reader = Reader::default();
    let spec = job::job(&mut reader, value);
    SpecErrors::unless_empty(reader.problems)?;
    spec.ok_or_else(|| Problem::new("", "the file is not a job").into())
}

impl<'de> Deserialize<'de> for JobSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = <Tree>::deserialize(deserializer)?;
        from_value(&tree.0).map_err(serde::de::Error::custom)
    }
}

/// Where reading stands, and what was wrong so far.
#[derive(Default)]
struct Reader {
    path: String,
    problems: Vec<Problem>,
    /// What templates name, and where they do.
    named: Vec<(String, String)>,
}

impl Reader {
    /// Reports a problem here.
    fn problem(&mut self, message: impl Into<String>) {
        self.report(Problem::new(self.path.clone(), message));
    }

    /// Reports a problem here and what to write instead.
    fn problem_with_hint(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.report(Problem::new(self.path.clone(), message).with_hint(hint));
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < SPEC_PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }

    /// Reads what stands under `key`.
    fn at<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(&shorten(key));
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Reads the item of a list.
    fn at_index<T>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// The fields of a map; `section` is the name by which reserved words and hints know it.
    fn fields<'r, 'v>(&'r mut self, section: &'static str, value: &'v Value) -> Option<Fields<'r, 'v>> {
        match value {
            Value::Object(map) => Some(Fields::new(self, section, map)),
            other => self.expected("a map", other),
        }
    }

    /// A map of fields, where one number says the same in short.
    fn fields_or_number<'r, 'v>(
        &'r mut self,
        section: &'static str,
        value: &'v Value,
    ) -> Option<Fields<'r, 'v>> {
        match value {
            Value::Object(map) => Some(Fields::new(self, section, map)),
            other => self.expected("a number or a map", other),
        }
    }

    /// Reports that something else was expected here.
    fn expected<T>(&mut self, what: &str, found: &Value) -> Option<T> {
        self.problem(format!("expected {what}, found {}", describe(found)));
        None
    }
}

/// A value in a few words.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.is_empty() => "empty text".into(),
        Value::String(text) => format!("the text `{}`", shorten(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a map".into(),
    }
}

/// The beginning of a text, for messages.
fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
