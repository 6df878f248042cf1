//! Reading what a task is given and gives back: artifacts, inputs, outputs, labels.
//!
//! Paths of artifacts are written by tenants and used by the agent, so they must stay inside the working
//! directory (I37): that is checked here, before any node sees them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;

use super::Reader;
use super::scalar::{boolean, list, map, parsed, plain, template, text};
use crate::label::{Labels, check_key, check_value};
use crate::limits::{LABEL_VALUE_BYTES_MAX, LABELS_MAX, LINE_BYTES_MAX};
use crate::name::check_name;
use crate::spec::{Artifact, Template};

pub(super) fn artifacts(reader: &mut Reader, value: &Value) -> Option<Vec<Artifact>> {
    let artifacts = list(artifact)(reader, value)?;
    let mut targets = BTreeSet::new();
    for (index, artifact) in artifacts.iter().enumerate() {
        if !targets.insert(artifact.target()) {
            let message = format!("another artifact goes to `{}` too", artifact.target());
            reader.at_index(index, |reader| reader.problem_with_hint(message, "give it a `path` of its own"));
        }
    }
    Some(artifacts)
}

fn artifact(reader: &mut Reader, value: &Value) -> Option<Artifact> {
    let mut fields = reader.fields("artifact", value)?;
    let url = fields.optional("url", url);
    let has_url = fields.has("url");
    let digest = fields.required("digest", parsed);
    let path = fields.optional("path", inner_path);
    let executable = fields.or_default("executable", boolean);
    let has_path = fields.has("path");
    fields.finish();
    if has_url && url.is_none() {
        return None;
    }
    let artifact = Artifact { url, digest: digest?, path, executable };
    if !has_url && !has_path {
        reader.problem_with_hint(
            "an artifact of the repository has no name here",
            "say where to put it with `path`",
        );
        return None;
    }
    if !has_path && !is_inner(artifact.target()) {
        reader.problem_with_hint("the URL does not end in a file's name", "say where to put it with `path`");
        return None;
    }
    Some(artifact)
}

fn url(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    let text = text(reader, value, LINE_BYTES_MAX)?;
    let known = text.split_once("://").filter(|(scheme, rest)| {
        matches!(*scheme, "https" | "http" | "file")
            && !rest.is_empty()
            && !text.contains(char::is_whitespace)
    });
    if known.is_none() {
        reader.problem("expected an `https://`, `http://` or `file://` URL");
        return None;
    }
    Some(text.into())
}

/// A path that stays inside the working directory (I37).
fn inner_path(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    let text = text(reader, value, LINE_BYTES_MAX)?;
    if !is_inner(text) {
        reader.problem("expected a path inside the working directory, without `..` and not from the root");
        return None;
    }
    Some(text.into())
}

fn is_inner(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\\')
}

/// Inputs or outputs: paths by name.
pub(super) fn paths(reader: &mut Reader, value: &Value) -> Option<BTreeMap<Box<str>, Template>> {
    map(|name| check_name(name).map_err(|error| format!("not a name: {error}")), template)(reader, value)
}

pub(super) fn labels(reader: &mut Reader, value: &Value) -> Option<Labels> {
    let check = |key: &str| check_key(key).map_err(|error| error.to_string());
    let map = map(check, label_value)(reader, value)?;
    if map.len() > LABELS_MAX {
        reader.problem(format!("has {} labels; at most {LABELS_MAX} are allowed", map.len()));
        return None;
    }
    // A bad key has been reported, and makes the whole fail.
    Labels::try_from(map).ok()
}

/// The value of a label, in a job's labels or in a selector.
pub(super) fn label_value(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    let text = plain(reader, value, LABEL_VALUE_BYTES_MAX)?;
    match check_value(&text) {
        Ok(()) => Some(text.into()),
        Err(error) => {
            reader.problem(error.to_string());
            None
        }
    }
}
