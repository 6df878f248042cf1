//! Reading the declaration of parameters, and checking a value against a declared type.
//!
//! Which fields a parameter may have depends on its type, so a bound on a boolean is an unknown field.
//! The same check of a value serves defaults here and the values of a run in `parameter/resolve.rs`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::Fields;
use super::scalar::{boolean, choice, integer, list, map, text, word};
use super::{Reader, describe};
use crate::limits::{DESCRIPTION_BYTES_MAX, WORD_BYTES_MAX};
use crate::spec::{Parameter, ParameterType, Parameters, Presence};

#[derive(Clone, Copy, PartialEq)]
enum Type {
    String,
    Integer,
    Number,
    Boolean,
    Enum,
    List,
    Object,
    Json,
}

const TYPES: [(&str, Type); 8] = [
    ("string", Type::String),
    ("integer", Type::Integer),
    ("number", Type::Number),
    ("boolean", Type::Boolean),
    ("enum", Type::Enum),
    ("list", Type::List),
    ("object", Type::Object),
    ("json", Type::Json),
];

pub(super) fn parameters(reader: &mut Reader, value: &Value) -> Option<Parameters> {
    map(check_parameter_name, parameter)(reader, value).map(Parameters)
}

fn check_parameter_name(name: &str) -> Result<(), String> {
    let first = name.starts_with(|c: char| c.is_ascii_lowercase());
    let rest = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if first && rest && name.len() <= WORD_BYTES_MAX {
        Ok(())
    } else {
        Err("is not a parameter name: use lower-case letters, digits and `_`, with a letter first".into())
    }
}

fn parameter(reader: &mut Reader, value: &Value) -> Option<Parameter> {
    if value.is_string() {
        let kind = bare_type(reader, value)?;
        return Some(Parameter { kind, presence: Presence::Required, description: None });
    }
    let mut fields = reader.fields("parameter", value)?;
    let kind = type_fields(&mut fields);
    let default = fields.raw("default");
    let required = fields.optional("required", boolean);
    let description = fields
        .optional("description", |reader, value| text(reader, value, DESCRIPTION_BYTES_MAX).map(Into::into));
    if default.is_some() && required == Some(true) {
        fields.problem("default", "is never used, because the parameter is required");
    }
    if let (Some(kind), Some(default)) = (&kind, default)
        && let Err(message) = check_value(kind, default)
    {
        fields.problem("default", message);
    }
    fields.finish();
    let presence = match (default, required) {
        (Some(value), _) => Presence::Default(value.clone()),
        (None, Some(false)) => Presence::Optional,
        (None, _) => Presence::Required,
    };
    Some(Parameter { kind: kind?, presence, description })
}

/// A type that is only a word.
fn bare_type(reader: &mut Reader, value: &Value) -> Option<ParameterType> {
    match choice("parameter type", &TYPES)(reader, value)? {
        Type::String => Some(ParameterType::String { min_length: None, max_length: None }),
        Type::Integer => Some(ParameterType::Integer { min: None, max: None }),
        Type::Number => Some(ParameterType::Number { min: None, max: None }),
        Type::Boolean => Some(ParameterType::Boolean),
        Type::List => Some(ParameterType::List { items: None, min_length: None, max_length: None }),
        Type::Object => Some(ParameterType::Object),
        Type::Json => Some(ParameterType::Json),
        Type::Enum => {
            reader.problem("`enum` needs its values: write `{type: enum, values: [a, b]}`");
            None
        }
    }
}

/// The type and the fields that go with it.
fn type_fields(fields: &mut Fields<'_, '_>) -> Option<ParameterType> {
    match fields.required("type", choice("parameter type", &TYPES))? {
        Type::String => {
            let (min_length, max_length) = lengths(fields);
            Some(ParameterType::String { min_length, max_length })
        }
        Type::Integer => {
            let min = fields.optional("min", integer(i64::MIN..=i64::MAX));
            let max = fields.optional("max", integer(i64::MIN..=i64::MAX));
            ordered(fields, "min", min, "max", max);
            Some(ParameterType::Integer { min, max })
        }
        Type::Number => {
            let min = fields.optional("min", number);
            let max = fields.optional("max", number);
            ordered(fields, "min", min, "max", max);
            Some(ParameterType::Number { min, max })
        }
        Type::Boolean => Some(ParameterType::Boolean),
        Type::Enum => fields.required("values", enum_values).map(|values| ParameterType::Enum { values }),
        Type::List => {
            let items = fields.optional("items", item_type).map(Box::new);
            let (min_length, max_length) = lengths(fields);
            Some(ParameterType::List { items, min_length, max_length })
        }
        Type::Object => Some(ParameterType::Object),
        Type::Json => Some(ParameterType::Json),
    }
}

/// The type of a list's items: a word, or a map with the fields of the type.
fn item_type(reader: &mut Reader, value: &Value) -> Option<ParameterType> {
    if value.is_string() {
        return bare_type(reader, value);
    }
    let mut fields = reader.fields("parameter", value)?;
    let kind = type_fields(&mut fields);
    fields.finish();
    kind
}

fn lengths(fields: &mut Fields<'_, '_>) -> (Option<u32>, Option<u32>) {
    let min = fields.optional("min_length", integer(0..=u32::MAX));
    let max = fields.optional("max_length", integer(0..=u32::MAX));
    ordered(fields, "min_length", min, "max_length", max);
    (min, max)
}

fn ordered<T: PartialOrd + std::fmt::Display>(
    fields: &mut Fields<'_, '_>,
    min_name: &str,
    min: Option<T>,
    max_name: &str,
    max: Option<T>,
) {
    if let (Some(min), Some(max)) = (min, max)
        && max < min
    {
        fields.problem(max_name, format!("{max} is less than `{min_name}`, {min}"));
    }
}

fn number(reader: &mut Reader, value: &Value) -> Option<f64> {
    match value.as_f64() {
        Some(number) => Some(number),
        None => reader.expected("a number", value),
    }
}

fn enum_values(reader: &mut Reader, value: &Value) -> Option<Vec<Box<str>>> {
    let values = list(word)(reader, value)?;
    let distinct: BTreeSet<&str> = values.iter().map(|value| &**value).collect();
    if values.is_empty() || distinct.len() < values.len() {
        reader.problem("expected at least one value, and each once");
        return None;
    }
    Some(values)
}

/// Whether a value is of a type; if not, why.
pub(crate) fn check_value(kind: &ParameterType, value: &Value) -> Result<(), String> {
    let expected = |what: &str| Err(format!("expected {what}, found {}", describe(value)));
    match (kind, value) {
        (ParameterType::Json, _) | (ParameterType::Boolean, Value::Bool(_)) => Ok(()),
        (ParameterType::Object, Value::Object(_)) => Ok(()),
        (ParameterType::String { min_length, max_length }, Value::String(text)) => {
            check_length(text.chars().count(), "characters", *min_length, *max_length)
        }
        (ParameterType::Integer { min, max }, Value::Number(number)) => match number.as_i64() {
            Some(number) => check_bounds(number, *min, *max),
            None => expected("a whole number of 64 bits"),
        },
        (ParameterType::Number { min, max }, Value::Number(number)) => match number.as_f64() {
            Some(number) => check_bounds(number, *min, *max),
            None => expected("a number"),
        },
        (ParameterType::Enum { values }, Value::String(text))
            if values.iter().any(|word| **word == **text) =>
        {
            Ok(())
        }
        (ParameterType::Enum { values }, _) => expected(&format!("one of {}", values.join(", "))),
        (ParameterType::List { items, min_length, max_length }, Value::Array(list)) => {
            check_length(list.len(), "items", *min_length, *max_length)?;
            let Some(items) = items else { return Ok(()) };
            let check =
                |(index, item)| check_value(items, item).map_err(|why| format!("item {index}: {why}"));
            list.iter().enumerate().try_for_each(check)
        }
        (ParameterType::String { .. }, _) => expected("text"),
        (ParameterType::Integer { .. }, _) => expected("a whole number"),
        (ParameterType::Number { .. }, _) => expected("a number"),
        (ParameterType::Boolean, _) => expected("`true` or `false`"),
        (ParameterType::List { .. }, _) => expected("a list"),
        (ParameterType::Object, _) => expected("a map"),
    }
}

fn check_bounds<T: PartialOrd + std::fmt::Display>(
    value: T,
    min: Option<T>,
    max: Option<T>,
) -> Result<(), String> {
    match (min, max) {
        (Some(min), _) if value < min => Err(format!("{value} is less than {min}")),
        (_, Some(max)) if value > max => Err(format!("{value} is more than {max}")),
        _ => Ok(()),
    }
}

fn check_length(length: usize, unit: &str, min: Option<u32>, max: Option<u32>) -> Result<(), String> {
    match (min, max) {
        (Some(min), _) if length < min as usize => {
            Err(format!("has {length} {unit}; at least {min} are needed"))
        }
        (_, Some(max)) if length > max as usize => {
            Err(format!("has {length} {unit}; at most {max} are allowed"))
        }
        _ => Ok(()),
    }
}
