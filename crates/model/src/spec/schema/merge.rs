//! Flattened parts of a map, made one map.
//!
//! A derive says "this map and one of those"; an editor completes better from one map that has all the
//! fields. What is lost is which fields go with which kind: the reader still tells.

use serde_json::{Map, Value, json};

/// The schema with its flattened parts merged, or as it is when it has none.
pub(super) fn merge_flattened(defs: &Map<String, Value>, schema: &Value) -> Value {
    let Some(parts) = schema["allOf"].as_array() else {
        return schema.clone();
    };
    let mut merged =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    merged["description"] = schema["description"].clone();
    for part in parts.iter().map(|part| resolved(defs, part)) {
        match part["oneOf"].as_array() {
            Some(variants) => merge_variants(&mut merged, variants),
            None => merge_map(&mut merged, part, &required(part)),
        }
    }
    merged
}

fn resolved<'a>(defs: &'a Map<String, Value>, schema: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    target.and_then(|name| defs.get(name)).unwrap_or(schema)
}

/// Adds maps of which one holds: what all of them require is required.
fn merge_variants(merged: &mut Value, variants: &[Value]) {
    let sets: Vec<Vec<Value>> = variants.iter().map(required).collect();
    let common: Vec<Value> = match sets.split_first() {
        Some((first, rest)) => {
            first.iter().filter(|name| rest.iter().all(|set| set.contains(name))).cloned().collect()
        }
        None => Vec::new(),
    };
    for variant in variants {
        merge_map(merged, variant, &common);
    }
    if common.is_empty() {
        let choices: Vec<Value> = sets.into_iter().map(|required| json!({"required": required})).collect();
        merged["oneOf"] = Value::Array(choices);
    }
}

fn merge_map(merged: &mut Value, map: &Value, required: &[Value]) {
    for (name, schema) in map["properties"].as_object().into_iter().flatten() {
        let known = &mut merged["properties"][name];
        *known = if known.is_null() { schema.clone() } else { either(known, schema) };
    }
    if let Some(list) = merged["required"].as_array_mut() {
        for name in required.iter().filter(|name| !list.contains(name)).cloned().collect::<Vec<_>>() {
            list.push(name);
        }
    }
}

/// A schema for what satisfies one of two.
fn either(one: &Value, other: &Value) -> Value {
    if one == other {
        return one.clone();
    }
    if let (Some(ours), Some(theirs)) = (one["enum"].as_array(), other["enum"].as_array()) {
        let mut words = ours.clone();
        words.extend(theirs.iter().filter(|word| !ours.contains(word)).cloned());
        let mut merged = one.clone();
        merged["enum"] = Value::Array(words);
        return merged;
    }
    let same_but_described = |mut schema: Value| {
        schema.as_object_mut().map(|map| map.remove("description"));
        schema
    };
    let (plain_one, plain_other) = (same_but_described(one.clone()), same_but_described(other.clone()));
    if plain_one == plain_other {
        return one.clone();
    }
    if one["type"] == "integer" && other["type"] == "number" {
        return other.clone();
    }
    json!({"description": one["description"], "anyOf": [plain_one, plain_other]})
}

fn required(schema: &Value) -> Vec<Value> {
    schema["required"].as_array().cloned().unwrap_or_default()
}
