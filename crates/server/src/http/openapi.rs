//! The schema of the API, OpenAPI 3.1, made from the table of routes and the types of `wire`.

use std::collections::BTreeSet;

use mainspring_app::Place;
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

use super::route::{Doc, Route};
use super::routes;

/// The whole schema.
pub fn document() -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    add_schema::<mainspring_wire::api::Problem>(&mut schemas);
    for route in routes::all() {
        let doc = route.doc();
        let operation = operation(&route, &doc);
        for (name, schema) in doc.schemas {
            schemas.entry(name).or_insert_with(|| serde_json::to_value(schema).unwrap_or_default());
        }
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation;
    }
    add_job_file(&mut schemas);
    keep_referenced(&paths, &mut schemas);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Mainspring",
            "description": "The management API of Mainspring: jobs, runs, nodes, files, roles and tokens. See docs/api.md.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "ms_…"},
                "session": {"type": "apiKey", "in": "cookie", "name": super::caller::cookie_name(false)},
            },
        },
    });
    widen(&mut document);
    document
}

/// Integers of 32 bits that are never negative go twice as far as the format `int32` says.
fn widen(tree: &mut Value) {
    match tree {
        Value::Object(map) => {
            if map.get("format") == Some(&json!("int32")) && map.get("minimum") == Some(&json!(0)) {
                map.insert("format".into(), json!("uint32"));
                map.entry("maximum").or_insert_with(|| json!(u32::MAX));
            }
            map.values_mut().for_each(widen);
        }
        Value::Array(items) => items.iter_mut().for_each(widen),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn operation(route: &Route, doc: &Doc) -> Value {
    let operation = route.operation;
    let mut responses = Map::new();
    for (status, answer) in &doc.answers {
        responses.insert(status.to_string(), answer.clone());
    }
    let problem = json!({"$ref": "#/components/schemas/Problem"});
    responses.insert(
        "default".into(),
        json!({"description": "What went wrong.", "content": {"application/problem+json": {"schema": problem}}}),
    );
    let mut parameters = path_parameters(route.path);
    parameters.extend(doc.parameters.iter().cloned());
    let noun = operation.name().split('.').next().unwrap_or_default();
    let mut described = json!({
        "operationId": operation.name().replace('.', "_"),
        "summary": operation.help(),
        "tags": [noun],
        "parameters": parameters,
        "responses": responses,
        "x-permission": permission(route),
    });
    if operation.place() != Place::Anyone {
        described["security"] = json!([{"token": []}, {"session": []}]);
    }
    if let Some(body) = &doc.body {
        described["requestBody"] = body.clone();
    }
    described
}

/// Who may, as the table says.
fn permission(route: &Route) -> Value {
    let one = |operation: mainspring_app::Operation| {
        let place = match operation.place() {
            Place::Namespace => "namespace",
            Place::Cluster => "everywhere",
            Place::SignedIn => "signed in",
            Place::Anyone => "anyone",
        };
        json!({"operation": operation.name(), "role": operation.role().name(), "place": place})
    };
    let all = std::iter::once(route.operation).chain(route.or.iter().copied());
    all.map(one).collect()
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": path_schema(name)}))
        .collect()
}

fn path_schema(name: &str) -> Value {
    let schema = match name {
        "run" => mainspring_model::RunId::schema(),
        "node" => mainspring_model::NodeId::schema(),
        "digest" => mainspring_model::spec::Digest::schema(),
        "namespace" => mainspring_model::Namespace::schema(),
        "version" | "cell" => return json!({"type": "integer", "minimum": 0}),
        _ => return json!({"type": "string"}),
    };
    serde_json::to_value(schema).unwrap_or_default()
}

/// A job is described as its file is, which may be shorter than what is written back.
fn add_job_file(schemas: &mut Map<String, Value>) {
    let mut job = mainspring_model::spec::schema::job_schema();
    let parts = job.as_object_mut().and_then(|job| {
        job.remove("$schema");
        job.remove("$defs")
    });
    for (name, part) in parts.as_ref().and_then(Value::as_object).into_iter().flatten() {
        schemas.insert(format!("JobSpec.{name}"), as_component(part));
    }
    schemas.insert("Priority".into(), json!({"$ref": "#/components/schemas/JobSpec.Priority"}));
    schemas.insert("JobSpec".into(), as_component(&job));
}

fn as_component(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), as_component(value))).collect(),
        Value::Array(items) => items.iter().map(as_component).collect(),
        Value::String(text) => Value::String(text.replace("#/$defs/", "#/components/schemas/JobSpec.")),
        other => other.clone(),
    }
}

/// Leaves out what nothing refers to.
fn keep_referenced(paths: &Map<String, Value>, schemas: &mut Map<String, Value>) {
    let mut wanted = BTreeSet::new();
    let mut found = Vec::new();
    paths.values().for_each(|path| references(path, &mut found));
    while let Some(name) = found.pop() {
        if let Some(schema) = schemas.get(&name).filter(|_| wanted.insert(name.clone())) {
            references(schema, &mut found);
        }
    }
    schemas.retain(|name, _| wanted.contains(name));
}

/// The names of the components that a tree refers to.
fn references(tree: &Value, found: &mut Vec<String>) {
    match tree {
        Value::Object(map) => map.iter().for_each(|(key, value)| match (key.as_str(), value) {
            ("$ref", Value::String(target)) => {
                found.extend(target.strip_prefix("#/components/schemas/").map(str::to_owned));
            }
            (_, value) => references(value, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn add_schema<S: ToSchema>(schemas: &mut Map<String, Value>) {
    let mut found = Vec::new();
    S::schemas(&mut found);
    found.push((S::name().to_string(), <S as PartialSchema>::schema()));
    for (name, schema) in found {
        schemas.insert(name, serde_json::to_value(schema).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_referred_to_that_is_not_there() {
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50);
        for name in found {
            assert!(document["components"]["schemas"].get(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn no_two_types_share_a_name() {
        let mut known: Map<String, Value> = Map::new();
        for (name, schema) in routes::all().into_iter().flat_map(|route| route.doc().schemas) {
            let schema = serde_json::to_value(schema).unwrap();
            let first = known.entry(name.clone()).or_insert_with(|| schema.clone());
            assert_eq!(*first, schema, "{name}");
        }
    }

    #[test]
    fn every_operation_is_there_once() {
        let document = document();
        let paths = document["paths"].as_object().unwrap();
        let mut ids: Vec<&str> = paths
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
            .map(|operation| operation["operationId"].as_str().unwrap())
            .collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
