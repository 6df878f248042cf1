//! The manual is true.
//!
//! Its examples are jobs, for the reader and for the schema; its reserved examples are refused as reserved;
//! its table of shorthands holds; and it names every field that the schema knows.

#![allow(clippy::unwrap_used)]

mod json_schema;

use mainspring_model::spec::schema::job_schema;
use mainspring_model::spec::{Format, parse};
use serde_json::Value;

const MANUAL: &str = include_str!("../../../docs/spec.md");

/// The fenced blocks whose first line is exactly this.
fn blocks(fence: &str) -> Vec<&'static str> {
    let blocks: Vec<&str> = MANUAL
        .split(&format!("```{fence}\n"))
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect();
    assert!(!blocks.is_empty(), "the manual has no {fence} block");
    blocks
}

/// An example made a whole job: what it leaves out is added.
fn whole(example: &str) -> String {
    let has = |field: &str| example.lines().any(|line| line.starts_with(&format!("{field}:")));
    let is_reserved_body = ["http", "grpc", "container", "workflow"].into_iter().any(has);
    let mut job = String::new();
    if !has("name") {
        job.push_str("name: example\n");
    }
    if !is_reserved_body && !["process", "script", "handler"].into_iter().any(has) {
        job.push_str("script: echo\n");
    }
    if !has("parameters") {
        let named =
            ["day", "customer"].into_iter().filter(|name| example.contains(&format!("params.{name}")));
        let declared: Vec<String> = named.map(|name| format!("{name}: string")).collect();
        job.push_str(&format!("parameters: {{ {} }}\n", declared.join(", ")));
    }
    job + example
}

#[test]
fn every_example_is_a_job() {
    let schema = job_schema();
    for example in blocks("yaml") {
        let job = whole(example);
        if let Err(errors) = parse(&job, Format::Yaml) {
            panic!("{errors}\n{job}");
        }
        let tree: Value = serde_saphyr::from_str(&job).unwrap();
        assert_eq!(json_schema::validate(&schema, &tree), Ok(()), "\n{job}");
    }
}

#[test]
fn every_reserved_example_is_refused_as_reserved() {
    for example in blocks("yaml reserved") {
        let job = whole(example);
        let errors = parse(&job, Format::Yaml).unwrap_err();
        for problem in errors.problems() {
            assert!(problem.message.contains("is not acted on yet"), "{problem}\n{job}");
        }
    }
}

#[test]
fn every_shorthand_of_the_manual_holds() {
    let rows = MANUAL.lines().skip_while(|line| !line.contains("| short | long |")).skip(2);
    let mut checked = 0;
    for row in rows.map(str::trim).take_while(|row| row.starts_with('|')) {
        let cells: Vec<&str> =
            row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        if let [short, long] = cells[..]
            && !long.starts_with("a list")
        {
            let job = |line: &str| match line.starts_with("backoff") {
                true => whole(&format!("retry:\n  {line}\n")),
                false => whole(&format!("{line}\n")),
            };
            let read = |line: &str| parse(&job(line), Format::Yaml).unwrap();
            assert_eq!(read(short), read(long), "{row}");
            checked += 1;
        }
    }
    assert_eq!(checked, 10);
}

#[test]
fn the_manual_has_every_field_as_now() {
    let schema = job_schema();
    let mut fields = Vec::new();
    collect_fields(&schema, &mut fields);
    fields.sort();
    fields.dedup();
    assert!(fields.len() > 50, "{fields:?}");
    for field in fields {
        let quoted = format!("`{field}`");
        let is_said = MANUAL.lines().any(|line| line.contains(&quoted) && line.contains("now"));
        let is_written_out = ["not", "exists", "exit", "signal", "error"].contains(&field.as_str())
            || ["consistent_hash", "failover"].contains(&field.as_str());
        assert!(is_said || is_written_out, "docs/spec.md does not say that `{field}` is now");
    }
}

fn collect_fields(schema: &Value, fields: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if key == "properties" {
                    fields.extend(value.as_object().unwrap().keys().cloned());
                    value.as_object().unwrap().values().for_each(|inner| collect_fields(inner, fields));
                } else {
                    collect_fields(value, fields);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, fields)),
        _ => {}
    }
}
