//! Rendering the templates of a job with the parameters of a run: strict, and within one budget for the whole order.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use mainspring_model::limits;
use mainspring_model::spec::{Budget, Template};
use serde_json::Value;

use crate::core::Order;

/// The values that templates may name. Parameters are read only when something asks for them.
pub(crate) struct Values<'a> {
    params: &'a [u8],
    read: OnceCell<Result<Value, String>>,
    budget: RefCell<Budget>,
}

impl<'a> Values<'a> {
    pub(crate) fn new(order: &'a Order) -> Self {
        Self { params: &order.params, read: OnceCell::new(), budget: RefCell::new(Budget::default()) }
    }

    /// The parameters as JSON.
    pub(crate) fn params(&self) -> Result<&Value, String> {
        let read = || match self.params {
            b"" => Ok(Value::Object(serde_json::Map::new())),
            params => serde_json::from_slice(params).map_err(|error| format!("params: not JSON: {error}")),
        };
        self.read.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The text of a template; `field` is named when it cannot be rendered.
    pub(crate) fn render(&self, field: impl Fn() -> String, template: &Template) -> Result<String, String> {
        if template.is_plain() {
            return Ok(template.as_str().to_owned());
        }
        let text = template.render(self.params()?, &mut self.budget.borrow_mut());
        let text = text.map_err(|wrong| format!("{}: {wrong}", field()))?;
        if text.len() > limits::TEXT_BYTES_MAX {
            let (has, most) = (text.len(), limits::TEXT_BYTES_MAX);
            return Err(format!("{}: it has {has} bytes, at most {most} are allowed", field()));
        }
        Ok(text)
    }
}

/// A value as a task reads it in a variable: text as it is, everything else in JSON.
pub(crate) fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
