//! The committed schema is fresh, accepts what the reader accepts, and knows the same fields.
//!
//! What the reader knows is taken from its own words about an unknown field, so no list is kept by hand.
//! The schema need not refuse all that the reader refuses, but what it plainly can see.

#![allow(clippy::unwrap_used)]

mod arbitrary;
mod json_schema;

use std::collections::BTreeSet;

use json_schema::validate;
use mainspring_model::spec::schema::job_schema;
use mainspring_model::spec::{Format, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

const COMMITTED: &str = include_str!("../../../docs/job.schema.json");

#[test]
fn the_committed_schema_is_fresh() {
    let fresh = serde_json::to_string_pretty(&job_schema()).unwrap();
    let command = "cargo run -p mainspring-model --example job_schema > docs/job.schema.json";
    assert!(COMMITTED.trim_end() == fresh, "docs/job.schema.json is out of date; run: {command}");
}

/// The fields that the reader knows where `lines` end in an unknown field, from its own words.
fn known_to_reader(lines: &str) -> BTreeSet<String> {
    let text = if lines.contains("UNKNOWN_FIELD") { lines.to_owned() } else { panic!("{lines}") };
    let errors = parse(&format!("name: x\n{text}"), Format::Yaml).unwrap_err();
    let hint = errors
        .problems()
        .iter()
        .find(|problem| problem.path.ends_with("UNKNOWN_FIELD"))
        .and_then(|problem| problem.hint.as_deref()?.strip_prefix("known here: "))
        .unwrap_or_else(|| panic!("{errors}"));
    hint.split(", ").map(String::from).collect()
}

/// The fields of a definition's long form.
fn known_to_schema(definition: &Value) -> BTreeSet<String> {
    let forms: Vec<&Value> = match definition["anyOf"].as_array().or(definition["oneOf"].as_array()) {
        Some(forms) if definition["properties"].is_null() => forms.iter().collect(),
        _ => vec![definition],
    };
    forms
        .iter()
        .filter_map(|form| form["properties"].as_object())
        .flat_map(|map| map.keys().cloned())
        .collect()
}

fn check_fields(definition: &str, lines: &[&str]) {
    let schema = job_schema();
    let definition = if definition == "Job" { schema.clone() } else { schema["$defs"][definition].clone() };
    let reader: BTreeSet<String> = lines.iter().flat_map(|lines| known_to_reader(lines)).collect();
    assert_eq!(reader, known_to_schema(&definition), "{lines:?}");
}

#[test]
fn reader_and_schema_know_the_same_fields() {
    check_fields("Job", &["script: x\nUNKNOWN_FIELD: 1"]);
    check_fields("Process", &["process: {UNKNOWN_FIELD: 1}"]);
    check_fields("Script", &["script: {UNKNOWN_FIELD: 1}"]);
    check_fields("Handler", &["handler: {UNKNOWN_FIELD: 1}"]);
    check_fields("Artifact", &["artifacts: [{UNKNOWN_FIELD: 1}]"]);
    check_fields("Retry", &["retry: {UNKNOWN_FIELD: 1}"]);
    check_fields("Backoff", &["retry: {backoff: {UNKNOWN_FIELD: 1}}"]);
    check_fields("Rule", &["retry: {rules: [{UNKNOWN_FIELD: 1}]}"]);
    check_fields("Timeouts", &["timeout: {UNKNOWN_FIELD: 1}"]);
    check_fields("Concurrency", &["concurrency: {UNKNOWN_FIELD: 1}"]);
    check_fields("RateLimit", &["rate_limit: {UNKNOWN_FIELD: 1}"]);
    check_fields("Dispatch", &["dispatch: {UNKNOWN_FIELD: 1}"]);
    check_fields("Placement", &["placement: {UNKNOWN_FIELD: 1}"]);
    check_fields("Affinity", &["placement: {affinity: [{UNKNOWN_FIELD: 1}]}"]);
    check_fields("Resources", &["resources: {UNKNOWN_FIELD: 1}"]);
    check_fields("Priority", &["priority: {UNKNOWN_FIELD: 1}"]);
    check_fields("Retention", &["retention: {UNKNOWN_FIELD: 1}"]);
    check_fields("Keep", &["retention: {runs: {UNKNOWN_FIELD: 1}}"]);
    let types = ["string", "integer", "number", "boolean", "enum", "list", "object", "json"];
    let lines = types.map(|word| format!("parameters: {{p: {{type: {word}, UNKNOWN_FIELD: 1}}}}"));
    check_fields("Parameter", &lines.each_ref().map(String::as_str));
}

#[test]
fn the_schema_refuses_what_it_can_see() {
    let schema = job_schema();
    let job = |more: Value| {
        let mut job = json!({"name": "x", "script": "true"});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        job
    };
    assert_eq!(validate(&schema, &job(json!({}))), Ok(()));
    for bad in [
        json!({"name": "x"}),
        json!({"script": "x"}),
        job(json!({"process": "x"})),
        job(json!({"triggers": {"cron": "@daily"}})),
        job(json!({"triggers": [{"evry": "5m"}]})),
        job(json!({"triggers": [{"at": "tomorrow"}]})),
        job(json!({"name": "Not A Name"})),
        job(json!({"retry": -1})),
        job(json!({"retry": {"backoff": {"base": 5}}})),
        job(json!({"retry": {"backoff": {"base": "5 s"}}})),
        job(json!({"retry": {"rules": [{"cause": {"oom": []}, "then": "fail"}]}})),
        job(json!({"timeout": {"run": null}})),
        job(json!({"dispatch": {"balancer": "consistent_hash"}})),
        job(json!({"dispatch": {"balancer": {"consistent_hash": "k", "node": "a"}}})),
        job(json!({"resources": {"cpu": "lots"}})),
        job(json!({"labels": {"a b": "c"}})),
    ] {
        assert!(validate(&schema, &bad).is_err(), "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_schema_accepts_every_job(spec in arbitrary::job()) {
        let written = serde_json::to_value(&spec).unwrap();
        prop_assert_eq!(validate(&job_schema(), &written), Ok(()));
    }
}
