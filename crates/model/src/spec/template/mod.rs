//! Template text: rendered with the run's parameters when a run is made or started, kept as text until then.
//!
//! The language is the same everywhere (`{{ params.day }}`): expressions and no statements, strict about names. A rendering
//! is bounded in bytes by a [`Budget`] and in steps and depth by the syntax ([`syntax`]); its cost does not depend on who
//! wrote the template. Checks look names up and render nothing. A field that is a template has this type; others are taken
//! as they are.

mod budget;
mod evaluate;
mod filter;
mod syntax;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::budget::Budget;
use self::evaluate::{Evaluator, Operand, Scope};
use self::syntax::Part;
use super::Call;
use super::logical_time::LogicalTime;
use crate::limits::TEMPLATE_PROBLEM_BYTES_MAX;

/// Text that is rendered when a run is made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(Box<str>);

impl Template {
    /// The text with its placeholders.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the text has anything to render; if not, it is its own result.
    pub fn is_plain(&self) -> bool {
        !["{{", "{%", "{#"].iter().any(|mark| self.0.contains(mark))
    }

    /// The text with these parameters.
    pub fn render(&self, params: &Value, budget: &mut Budget) -> Result<String, String> {
        self.render_in(&Scope { params: Some(params), ..Scope::default() }, budget)
    }

    /// The text for a planned moment.
    pub fn render_at(&self, time: &LogicalTime, budget: &mut Budget) -> Result<String, String> {
        self.render_in(&Scope { logical_time: Some(time), ..Scope::default() }, budget)
    }

    /// The text for a call of a webhook.
    pub(super) fn render_call(&self, call: &Call, budget: &mut Budget) -> Result<String, String> {
        self.render_in(&scope_of(call, &call.logical_time()), budget)
    }

    /// What it gives for a call of a webhook: the value of its expression, if it is one and nothing else; otherwise text.
    pub(super) fn evaluate_call(&self, call: &Call, budget: &mut Budget) -> Result<Value, String> {
        if self.is_plain() {
            return Ok(Value::String(self.0.to_string()));
        }
        let time = call.logical_time();
        let scope = scope_of(call, &time);
        let tree = syntax::parse(self.0.trim()).map_err(short)?;
        let parts = syntax::parts(&tree)?;
        check(&parts, &mut BTreeSet::new())?;
        let value = match &*parts {
            [Part::Expression(expr)] => Evaluator::new(&scope, budget).defined(expr).map_err(short)?,
            _ => return self.render_in(&scope, budget).map(Value::String),
        };
        match value {
            Operand::Json(json) => {
                budget.charge_json(json)?;
                Ok(json.clone())
            }
            Operand::Headers(headers) => serde_json::to_value(headers).map_err(|error| error.to_string()),
            Operand::Own(value) => match value.downcast_object_ref::<LogicalTime>() {
                Some(time) => Ok(Value::String(time.to_string())),
                None => serde_json::to_value(&value).map_err(|error| error.to_string()),
            },
            Operand::Undefined | Operand::Nothing => Err("undefined value".to_owned()),
        }
    }

    /// The names that it uses (`params.day`), or what is wrong with it whatever the parameters are. Nothing is rendered.
    pub fn names(&self) -> Result<BTreeSet<String>, String> {
        let mut names = BTreeSet::new();
        if self.is_plain() {
            return Ok(names);
        }
        let tree = syntax::parse(&self.0).map_err(short)?;
        check(&syntax::parts(&tree)?, &mut names)?;
        Ok(names)
    }

    fn render_in(&self, scope: &Scope<'_>, budget: &mut Budget) -> Result<String, String> {
        if self.is_plain() {
            return Ok(self.0.to_string());
        }
        let tree = syntax::parse(&self.0).map_err(short)?;
        let parts = syntax::parts(&tree)?;
        // What a check refuses is not rendered either, whichever branch would be taken.
        check(&parts, &mut BTreeSet::new())?;
        Evaluator::new(scope, budget).render(&parts).map_err(short)
    }
}

fn check(parts: &[Part<'_>], names: &mut BTreeSet<String>) -> Result<(), String> {
    parts.iter().try_for_each(|part| match part {
        Part::Expression(expr) => syntax::check(expr, names).map_err(short),
        Part::Raw(_) => Ok(()),
    })
}

/// What templates know of a call.
fn scope_of<'a>(call: &'a Call, time: &'a LogicalTime) -> Scope<'a> {
    Scope {
        payload: Some(&call.payload),
        headers: Some(&call.headers),
        logical_time: Some(time),
        ..Scope::default()
    }
}

/// What went wrong, without the name of a file that there is not.
fn words(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// A problem that may quote the template, truncated.
fn short(mut problem: String) -> String {
    problem.truncate(problem.floor_char_boundary(TEMPLATE_PROBLEM_BYTES_MAX));
    problem
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Template {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", self.0)
    }
}

#[cfg(test)]
mod tests;
