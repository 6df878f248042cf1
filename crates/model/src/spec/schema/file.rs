//! From the schema of what is written back to the schema of what may be written.
//!
//! The derives know the long form. Here shorthands are added, fields that a file may leave out are no
//! longer required, and what only OpenAPI understands is taken away.

use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::merge::merge_flattened;
use crate::spec::JobSpec;

/// What may stand in place of a map, because it says the one important thing.
fn shorthands() -> [(&'static str, Value); 15] {
    let text = || json!({"type": "string"});
    let duration = || json!({"$ref": "#/$defs/Duration"});
    let types = ["string", "integer", "number", "boolean", "list", "object", "json"];
    [
        ("Process", text()),
        ("Script", text()),
        ("Handler", text()),
        ("Retry", json!({"type": "integer", "minimum": 0, "maximum": 1000})),
        ("Backoff", json!({"enum": ["none", "fixed", "linear", "exponential", "fibonacci"]})),
        ("Timeouts", duration()),
        ("Concurrency", json!({"type": "integer", "minimum": 1})),
        ("Priority", json!({"$ref": "#/$defs/PriorityClass"})),
        ("Keep", duration()),
        ("Parameter", json!({"enum": types})),
        ("ParameterType", json!({"enum": types})),
        ("Misfire", json!({"enum": ["skip", "once", "all"]})),
        ("After", text()),
        ("Need", text()),
        ("Overlap", json!({"const": "allow", "description": "No limit: every run may be active."})),
    ]
}

/// Fields that are always written back but may be left out of a file.
const OPTIONAL: [(&str, &str); 5] = [
    ("Backoff", "kind"),
    ("Backoff", "base"),
    ("Backoff", "step"),
    ("Dispatch", "mode"),
    ("Trigger", "name"),
];

/// Fields that may be one item without the brackets of a list.
const ONE_OR_MANY: [(&str, &str); 2] = [("Script", "interpreter"), ("Trigger", "needs")];

/// The JSON Schema (2020-12) of a job file.
pub fn job_schema() -> Value {
    let mut components = vec![(JobSpec::name().into_owned(), JobSpec::schema())];
    JobSpec::schemas(&mut components);
    let mut defs = definitions(components);
    let names: Vec<String> = defs.keys().cloned().collect();
    for name in &names {
        let flat = merge_flattened(&defs, &defs[name]);
        defs.insert(name.clone(), flat);
    }
    for name in ["Body", "Curve", "When"] {
        defs.remove(name);
    }
    for (name, field) in OPTIONAL {
        leave_out(&mut defs, name, field);
    }
    for (name, field) in ONE_OR_MANY {
        let list = &mut defs[name]["properties"][field];
        *list =
            json!({"description": list["description"], "anyOf": [list["items"], without_description(list)]});
    }
    for (name, short) in shorthands() {
        let long = defs[name].take();
        defs.insert(
            name.to_owned(),
            json!({"description": long["description"], "anyOf": [short, without_description(&long)]}),
        );
    }
    let mut job = defs.remove("JobSpec").unwrap_or_default();
    job["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    job["title"] = json!("Mainspring job");
    job["$defs"] = Value::Object(defs);
    job
}

/// The components by name, each made plain.
fn definitions(components: Vec<(String, RefOr<Schema>)>) -> Map<String, Value> {
    components
        .into_iter()
        .map(|(name, schema)| (name, plain(serde_json::to_value(schema).unwrap_or_default())))
        .collect()
}

/// Without what only OpenAPI knows: null for fields that may be absent, number formats, its own references.
/// A map with fields of its own has no others.
fn plain(schema: Value) -> Value {
    match schema {
        Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        Value::Object(map) => plain_object(map),
        Value::String(text) => Value::String(text.replace("#/components/schemas/", "#/$defs/")),
        other => other,
    }
}

fn plain_object(map: Map<String, Value>) -> Value {
    let is_null = |schema: &Value| schema["type"] == "null";
    let mut plain_map = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("format", Value::String(_)) => {}
            ("type", Value::Array(types)) => {
                let mut types = types.into_iter().filter(|name| name != "null");
                plain_map.insert(key, types.next().unwrap_or_default());
            }
            ("oneOf", Value::Array(variants)) if variants.iter().any(is_null) => {
                for variant in variants.into_iter().filter(|variant| !is_null(variant)) {
                    if let Value::Object(inner) = plain(variant) {
                        plain_map.extend(inner);
                    }
                }
            }
            (_, value) => {
                plain_map.insert(key, plain(value));
            }
        }
    }
    if plain_map.contains_key("properties") {
        plain_map.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Value::Object(plain_map)
}

fn leave_out(defs: &mut Map<String, Value>, name: &str, field: &str) {
    let Some(schema) = defs.get_mut(name) else { return };
    forget_required(schema, field);
    for variant in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        forget_required(variant, field);
    }
}

fn forget_required(schema: &mut Value, field: &str) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|known| known != field);
    }
}

fn without_description(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.remove("description");
    }
    schema
}
