//! Byte budget of a rendering.

use std::fmt;

use serde_json::Value as Json;

use crate::limits;

/// What a value costs beside its text: its place in a list or map.
pub(super) const VALUE_BYTES: usize = 32;

/// Bytes that renderings may still produce ([`limits::TEMPLATE_BYTES_MAX`]): results, and every value on the way to them. One budget serves all templates of
/// a moment, a submission, a call or an order, so that many small templates cannot exceed what one may.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: limits::TEMPLATE_BYTES_MAX }
    }
}

impl Budget {
    /// Takes bytes before they are allocated.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), String> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                self.left = 0;
                return Err(format!("its values have more than {} bytes in all", limits::TEMPLATE_BYTES_MAX));
            }
        }
        Ok(())
    }

    /// Takes what a copy of a JSON value needs.
    pub(super) fn charge_json(&mut self, json: &Json) -> Result<(), String> {
        match json {
            Json::String(text) => self.charge(VALUE_BYTES + text.len()),
            Json::Array(items) => {
                self.charge(VALUE_BYTES)?;
                items.iter().try_for_each(|item| self.charge_json(item))
            }
            Json::Object(fields) => {
                self.charge(VALUE_BYTES)?;
                fields.iter().try_for_each(|(key, value)| {
                    self.charge(VALUE_BYTES + key.len())?;
                    self.charge_json(value)
                })
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => self.charge(VALUE_BYTES),
        }
    }
}

/// Text that grows within a budget.
pub(super) struct Text<'b> {
    pub(super) text: String,
    budget: &'b mut Budget,
    wrong: Option<String>,
}

impl<'b> Text<'b> {
    pub(super) fn after(text: String, budget: &'b mut Budget) -> Self {
        Self { text, budget, wrong: None }
    }

    /// Appends what a value prints.
    pub(super) fn push(&mut self, value: impl fmt::Display) -> Result<(), String> {
        use fmt::Write;
        let written = write!(self, "{value}");
        written.map_err(|_| self.wrong.take().unwrap_or_else(|| "a value cannot be printed".to_owned()))
    }
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if let Err(wrong) = self.budget.charge(piece.len()) {
            self.wrong = Some(wrong);
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}
