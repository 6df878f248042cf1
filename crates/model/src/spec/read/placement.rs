//! Reading placement, selectors and resources.
//!
//! A selector is text or a map; both end in the same canonical form. Quantities are read from their text,
//! also when they are numbers in the file, so that `0.1` is exactly a hundred thousandths.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Reader;
use super::data::label_value;
use super::scalar::{boolean, choice, integer, list, map, one_or_many, parsed, text};
use crate::label::check_key;
use crate::limits::LABEL_KEY_BYTES_MAX;
use crate::name::check_name;
use crate::quantity::{QuantityError, parse_bytes, parse_milli};
use crate::resource::Resources;
use crate::selector::{Requirement, Selector, SelectorError};
use crate::spec::{Affinity, Placement, Sticky};

pub(super) fn placement(reader: &mut Reader, value: &Value) -> Option<Placement> {
    let mut fields = reader.fields("placement", value)?;
    let sticky = [("prefer", Sticky::Prefer), ("require", Sticky::Require)];
    let placement = Placement {
        pool: fields.optional("pool", parsed),
        selector: fields.or_default("selector", selector),
        affinity: fields.or_default("affinity", list(affinity)),
        spread: fields.optional("spread", label_key),
        sticky: fields.optional("sticky", choice("sticky", &sticky)),
    };
    fields.finish();
    Some(placement)
}

fn affinity(reader: &mut Reader, value: &Value) -> Option<Affinity> {
    let mut fields = reader.fields("affinity", value)?;
    let selector = fields.required("selector", selector);
    let weight = fields.required("weight", |reader, value| {
        let weight: i8 = integer(-100..=100)(reader, value)?;
        if weight == 0 {
            reader.problem("a weight of 0 changes nothing");
            return None;
        }
        Some(weight)
    });
    fields.finish();
    Some(Affinity { selector: selector?, weight: weight? })
}

fn label_key(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    let key = text(reader, value, LABEL_KEY_BYTES_MAX)?;
    match check_key(key) {
        Ok(()) => Some(key.into()),
        Err(error) => {
            reader.problem(error.to_string());
            None
        }
    }
}

/// A selector as text, or as a map of keys.
fn selector(reader: &mut Reader, value: &Value) -> Option<Selector> {
    let selector = match value {
        Value::String(text) => text.parse(),
        Value::Object(map) => {
            let read =
                |(key, value): (&String, &Value)| reader.at(key, |reader| requirement(reader, key, value));
            let requirements: Vec<Option<Requirement>> = map.iter().map(read).collect();
            Selector::new(requirements.into_iter().collect::<Option<Vec<_>>>()?)
        }
        other => return reader.expected("a selector such as `zone=eu, gpu`, or a map", other),
    };
    or_report(reader, selector)
}

/// `zone: eu`, `disk: [ssd, nvme]`, `zone: {not: us}`, `gpu: {exists: true}`.
fn requirement(reader: &mut Reader, key: &str, value: &Value) -> Option<Requirement> {
    let requirement = match value {
        Value::Object(map) => return negation_or_existence(reader, key, map, value),
        other => {
            let values = one_or_many(label_value)(reader, other)?;
            Requirement::any_of(key, values.iter().map(|value| &**value))
        }
    };
    or_report(reader, requirement)
}

fn negation_or_existence(
    reader: &mut Reader,
    key: &str,
    map: &Map<String, Value>,
    value: &Value,
) -> Option<Requirement> {
    let mut fields = reader.fields("requirement", value)?;
    if map.len() != 1 {
        fields.problem_here("expected one of `not` and `exists`", "write `{not: us}` or `{exists: true}`");
        return None;
    }
    let not = fields.optional("not", one_or_many(label_value));
    let exists = fields.optional("exists", boolean);
    fields.finish();
    let requirement = match (not, exists) {
        (Some(values), _) => Requirement::none_of(key, values.iter().map(|value| &**value)),
        (None, Some(true)) => Requirement::exists(key),
        (None, Some(false)) => Requirement::not_exists(key),
        (None, None) => return None,
    };
    or_report(reader, requirement)
}

fn or_report<T>(reader: &mut Reader, result: Result<T, SelectorError>) -> Option<T> {
    result.map_err(|error| reader.problem(error.to_string())).ok()
}

pub(super) fn resources(reader: &mut Reader, value: &Value) -> Option<Resources> {
    let mut fields = reader.fields("resources", value)?;
    let resource_name = |name: &str| check_name(name).map_err(|error| format!("not a name: {error}"));
    let mut named: BTreeMap<Box<str>, u64> =
        fields.or_default("named", map(resource_name, quantity(parse_milli)));
    named.retain(|_, milli| *milli > 0);
    let resources = Resources {
        cpu_milli: fields.or_default("cpu", quantity(parse_milli)),
        memory_bytes: fields.or_default("memory", quantity(parse_bytes)),
        named,
    };
    fields.finish();
    Some(resources)
}

/// A quantity as text, or as a number by its shortest decimal form.
pub(super) fn quantity(
    parse: fn(&str) -> Result<u64, QuantityError>,
) -> impl Fn(&mut Reader, &Value) -> Option<u64> {
    move |reader, value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            other => return reader.expected("a quantity such as `2`, `500m` or `256Mi`", other),
        };
        parse(&text).map_err(|error| reader.problem(error.to_string())).ok()
    }
}
