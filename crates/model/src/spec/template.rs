//! Template text: rendered with the run's parameters when a run is made or started, kept as text until then.
//!
//! The language is the same everywhere (`{{ params.day }}`): strict about names, and with a bound on the work. A field that is
//! a template has this type; others are taken as they are.

use std::collections::BTreeSet;
use std::fmt;

use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Call;
use super::logical_time::{self, LogicalTime};

/// Steps that a check may take.
const CHECK_FUEL: u64 = 10_000;

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

    /// The text with these parameters, in at most `fuel` steps.
    pub fn render(&self, params: &Value, fuel: u64) -> Result<String, String> {
        if self.is_plain() {
            return Ok(self.0.to_string());
        }
        let text = environment(UndefinedBehavior::Strict, fuel)
            .render_str(&self.0, minijinja::context! { params => Serde(params) });
        text.map_err(|error| words(&error))
    }

    /// The text for a planned moment, in at most `fuel` steps.
    pub fn render_at(&self, time: &LogicalTime, fuel: u64) -> Result<String, String> {
        if self.is_plain() {
            return Ok(self.0.to_string());
        }
        let time = minijinja::Value::from_object(time.clone());
        let text = environment(UndefinedBehavior::Strict, fuel)
            .render_str(&self.0, minijinja::context! { logical_time => time });
        text.map_err(|error| words(&error))
    }

    /// The text for a call of a webhook, in at most `fuel` steps.
    pub(super) fn render_call(&self, call: &Call, fuel: u64) -> Result<String, String> {
        if self.is_plain() {
            return Ok(self.0.to_string());
        }
        let text = environment(UndefinedBehavior::Strict, fuel).render_str(&self.0, context_of(call));
        text.map_err(|error| words(&error))
    }

    /// What it gives for a call of a webhook: the value of its expression, if it is one and nothing else; otherwise text.
    pub(super) fn evaluate_call(&self, call: &Call, fuel: u64) -> Result<Value, String> {
        let environment = environment(UndefinedBehavior::Strict, fuel);
        let inner = self.0.trim().strip_prefix("{{").and_then(|text| text.strip_suffix("}}"));
        let Some(expression) = inner.and_then(|inner| environment.compile_expression(inner).ok()) else {
            return self.render_call(call, fuel).map(Value::String);
        };
        let value = expression.eval(context_of(call)).map_err(|error| words(&error))?;
        if value.is_undefined() {
            return Err(ErrorKind::UndefinedError.to_string());
        }
        match value.downcast_object_ref::<LogicalTime>() {
            Some(time) => Ok(Value::String(time.to_string())),
            None => serde_json::to_value(&value).map_err(|error| error.to_string()),
        }
    }

    /// The names that it uses (`params.day`), or what is wrong with it whatever the parameters are.
    pub fn names(&self) -> Result<BTreeSet<String>, String> {
        if self.is_plain() {
            return Ok(BTreeSet::new());
        }
        let environment = environment(UndefinedBehavior::Chainable, CHECK_FUEL);
        let template = environment.template_from_str(&self.0).map_err(|error| words(&error))?;
        // Filters and functions are looked up only when they are used. Without parameters much else may go wrong.
        if let Err(error) = template.render(minijinja::context! {})
            && matches!(
                error.kind(),
                ErrorKind::UnknownFilter | ErrorKind::UnknownFunction | ErrorKind::UnknownTest
            )
        {
            return Err(words(&error));
        }
        Ok(template.undeclared_variables(true).into_iter().collect())
    }
}

/// What templates know of a call.
fn context_of(call: &Call) -> minijinja::Value {
    minijinja::context! {
        payload => Serde(&call.payload),
        headers => Serde(&call.headers),
        logical_time => minijinja::Value::from_object(call.logical_time()),
    }
}

fn environment(undefined: UndefinedBehavior, fuel: u64) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(fuel));
    logical_time::add_filters(&mut environment);
    environment.add_filter("default", |value: minijinja::Value, otherwise: minijinja::Value| {
        if value.is_undefined() || value.is_none() { otherwise } else { value }
    });
    environment
}

/// What went wrong, without the name of a file that there is not.
fn words(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
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
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_put_in_and_unknown_ones_refused() {
        let template = Template::from("{{ params.day }}/{{ params.shop.name }}");
        let params = json!({"day": "mon", "shop": {"name": "x"}});
        assert_eq!(template.render(&params, 1_000).unwrap(), "mon/x");
        let error = template.render(&json!({"day": "mon"}), 1_000).unwrap_err();
        assert!(error.contains("undefined"), "{error}");
        assert_eq!(Template::from("plain {x}").render(&params, 0).unwrap(), "plain {x}");
        let endless =
            Template::from("{% for a in params.many %}{% for b in params.many %}x{% endfor %}{% endfor %}");
        let many = json!({"many": vec![0; 1_000]});
        assert!(endless.render(&many, 10_000).unwrap_err().contains("fuel"));
    }

    #[test]
    fn names_are_found_and_mistakes_told() {
        let names = |text: &str| Template::from(text).names();
        let found = names("{{ params.day }}{% if params.shop.name %}{{ day }}{% endif %}").unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["day", "params.day", "params.shop.name"]);
        for (text, wrong) in
            [("{{ oops", "syntax error"), ("{% for %}", "syntax error"), ("{{ params.a | twist }}", "twist")]
        {
            let error = names(text).unwrap_err();
            assert!(error.contains(wrong), "{text}: {error}");
        }
    }
}
