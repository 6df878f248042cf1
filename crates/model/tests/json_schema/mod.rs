//! As much of a JSON Schema validator as our own schema needs.
//!
//! It is small enough to be read whole. A keyword it does not know is an error, so that nothing is skipped
//! silently when the schema grows.

use serde_json::Value;

/// Whether `value` satisfies `schema`; if not, where and why.
pub(crate) fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, value, "")
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let keywords = schema.as_object().ok_or_else(|| format!("{path}: not a schema: {schema}"))?;
        keywords.iter().try_for_each(|(keyword, rule)| {
            self.keyword(schema, keyword, rule, value, path).map_err(|why| match why.is_empty() {
                true => format!("{path}: {value} breaks {keyword} {rule}"),
                false => why,
            })
        })
    }

    /// Checks one keyword. An empty error is described by the caller.
    fn keyword(
        &self,
        schema: &Value,
        keyword: &str,
        rule: &Value,
        value: &Value,
        path: &str,
    ) -> Result<(), String> {
        let holds = |is_true: bool| if is_true { Ok(()) } else { Err(String::new()) };
        match keyword {
            "$schema" | "$defs" | "title" | "description" => Ok(()),
            "$ref" => {
                let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).unwrap_or("missing");
                let target = self.root.pointer(pointer).ok_or_else(|| format!("{rule} leads nowhere"))?;
                self.check(target, value, path)
            }
            "type" => holds(has_type(rule, value)),
            "enum" => holds(list(rule).contains(value)),
            "const" => holds(rule == value),
            "anyOf" => holds(self.count(rule, value, path) >= 1),
            "oneOf" => holds(self.count(rule, value, path) == 1),
            "required" => {
                holds(list(rule).iter().all(|name| value.get(name.as_str().unwrap_or_default()).is_some()))
            }
            "properties" => self.properties(rule, value, path),
            "additionalProperties" => self.additional(schema, rule, value, path),
            "propertyNames" => value.as_object().into_iter().flatten().try_for_each(|(name, _)| {
                self.check(rule, &Value::from(name.as_str()), &format!("{path}.{name}"))
            }),
            "items" => {
                value.as_array().into_iter().flatten().try_for_each(|item| self.check(rule, item, path))
            }
            "minimum" => {
                holds(value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap_or(f64::MAX)))
            }
            "maximum" => {
                holds(value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap_or(f64::MIN)))
            }
            "minItems" => holds(value.as_array().is_none_or(|items| items.len() as u64 >= number(rule))),
            "maxProperties" => holds(value.as_object().is_none_or(|map| map.len() as u64 <= number(rule))),
            "minLength" => {
                holds(value.as_str().is_none_or(|text| text.chars().count() as u64 >= number(rule)))
            }
            "maxLength" => {
                holds(value.as_str().is_none_or(|text| text.chars().count() as u64 <= number(rule)))
            }
            "pattern" => {
                holds(value.as_str().is_none_or(|text| matches(rule.as_str().unwrap_or_default(), text)))
            }
            unknown => Err(format!("{path}: the validator of this test does not know `{unknown}`")),
        }
    }

    fn count(&self, schemas: &Value, value: &Value, path: &str) -> usize {
        list(schemas).iter().filter(|schema| self.check(schema, value, path).is_ok()).count()
    }

    fn properties(&self, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
        value.as_object().into_iter().flatten().try_for_each(|(name, inner)| match rule.get(name) {
            Some(schema) => self.check(schema, inner, &format!("{path}.{name}")),
            None => Ok(()),
        })
    }

    fn additional(&self, schema: &Value, rule: &Value, value: &Value, path: &str) -> Result<(), String> {
        let is_extra = |name: &str| schema["properties"].get(name).is_none();
        let mut extras = value.as_object().into_iter().flatten().filter(|(name, _)| is_extra(name));
        extras.try_for_each(|(name, inner)| match rule {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) => Err(format!("{path}: `{name}` is not allowed")),
            schema => self.check(schema, inner, &format!("{path}.{name}")),
        })
    }
}

fn has_type(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
}
