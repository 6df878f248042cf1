//! The variables of a task. Those of its run, its attempt and its files are set by the sidecar.

use std::collections::BTreeMap;

use bytes::Bytes;
use mainspring_model::spec::Template;
use mainspring_sidecar::AttemptKey;
use mainspring_sidecar::protocol::File;
use serde_json::Value;

use super::template::{Values, as_text};
use crate::core::Order;

/// The longest value of a variable; systems refuse longer ones.
const VALUE_BYTES_MAX: usize = 96 * 1024;

/// The variables that the job names, and those that every task has.
pub(super) fn variables(
    order: &Order,
    values: &Values<'_>,
    env: &BTreeMap<Box<str>, Template>,
) -> Result<Vec<(String, String)>, String> {
    let mut variables = Vec::with_capacity(env.len() + 5);
    for (name, template) in env {
        variables.push((name.to_string(), values.render(|| format!("env.{name}"), template)?));
    }
    let mut add = |name: &str, value: String| variables.push((format!("MAINSPRING_{name}"), value));
    add("TOKEN", AttemptKey::from(order.token).to_string());
    add("NAMESPACE", order.namespace.clone());
    add("JOB", order.spec.name.to_string());
    add("ATTEMPTS_MAX", order.attempts_max.to_string());
    if let Some(deadline) = order.deadline {
        add("DEADLINE", deadline.to_string());
    }
    if order.params.is_empty() {
        add("PARAMS", "{}".to_owned());
        return Ok(variables);
    }
    if order.params.len() <= VALUE_BYTES_MAX {
        add("PARAMS", String::from_utf8_lossy(&order.params).into_owned());
    }
    if let Value::Object(params) = values.params()? {
        for (name, value) in params {
            let text = as_text(value);
            if text.len() <= VALUE_BYTES_MAX && !text.contains('\0') {
                add(&format!("PARAM_{}", upper(name)), text.into_owned());
            }
        }
    }
    Ok(variables)
}

/// Files that every task with something to read gets.
pub(super) fn files(order: &Order) -> Vec<File> {
    let mut files = Vec::new();
    let mut add = |name: &str, content: Bytes, variable: &str| {
        let variable = Some(format!("MAINSPRING_{variable}"));
        files.push(File { name: name.to_owned(), content, mode: 0o600, variable });
    };
    if !order.params.is_empty() && order.params.as_ref() != b"{}" {
        add("input.json", order.params.clone(), "INPUT");
    }
    if let Some(checkpoint) = &order.checkpoint {
        add("checkpoint", checkpoint.clone(), "CHECKPOINT");
    }
    files
}

/// A name as it stands in a variable.
pub(super) fn upper(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
