//! What would change in a job, in colours: a line for each field, the lines of texts that have several.

use std::fmt::Write;

use mainspring_client::api::{Change, Job, PutOutcome};
use mainspring_model::JobSpec;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::failure::Failure;
use crate::output::{BAD, BOLD, GOOD, Paint, WARN, plain, yaml};

/// The difference; empty when there is none.
pub(super) fn text(would: &Job, spec: &JobSpec) -> Result<String, Failure> {
    let mut text = String::new();
    let place = format!("{}/{}", would.namespace, would.name);
    match would.outcome {
        Some(PutOutcome::Unchanged) => {}
        Some(PutOutcome::Created) => {
            let _ = writeln!(text, "{} {}", "+".paint(GOOD), place.paint(BOLD));
            for line in yaml(spec)?.lines() {
                let _ = writeln!(text, "    {}", format!("+ {line}").paint(GOOD));
            }
        }
        Some(PutOutcome::Updated) | None => {
            let next = format!("version {} to {}", would.version.saturating_sub(1), would.version);
            let _ = writeln!(text, "{} {} ({next})", "~".paint(WARN), place.paint(BOLD));
            for change in &would.changes {
                field(&mut text, change);
            }
        }
    }
    Ok(text)
}

fn field(text: &mut String, change: &Change) {
    let path = plain(&change.path);
    match (&change.before, &change.after) {
        (Some(Value::String(before)), Some(Value::String(after)))
            if before.contains('\n') || after.contains('\n') =>
        {
            let _ = writeln!(text, "    {}", format!("~ {path}:").paint(WARN));
            lines(text, before, after);
        }
        (before, after) if [before, after].into_iter().flatten().any(is_deep) => {
            let _ = writeln!(text, "    {}", format!("~ {path}:").paint(WARN));
            let written = |value: &Option<Value>| value.as_ref().map(yaml).transpose();
            if let (Ok(before), Ok(after)) = (written(before), written(after)) {
                lines(text, &before.unwrap_or_default(), &after.unwrap_or_default());
            }
        }
        (Some(before), Some(after)) => {
            let _ = writeln!(text, "    {}", format!("~ {path}: {before} → {after}").paint(WARN));
        }
        (Some(before), None) => {
            let _ = writeln!(text, "    {}", format!("- {path}: {before}").paint(BAD));
        }
        (None, Some(after)) => {
            let _ = writeln!(text, "    {}", format!("+ {path}: {after}").paint(GOOD));
        }
        (None, None) => {}
    }
}

/// Whether a value is a list or a map, and is read as YAML like the job file that it stands in.
fn is_deep(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn lines(text: &mut String, before: &str, after: &str) {
    let diff = TextDiff::from_lines(before, after);
    for group in diff.grouped_ops(2) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = plain(change.value().trim_end_matches('\n'));
            let _ = match change.tag() {
                ChangeTag::Delete => writeln!(text, "      {}", format!("- {line}").paint(BAD)),
                ChangeTag::Insert => writeln!(text, "      {}", format!("+ {line}").paint(GOOD)),
                ChangeTag::Equal => writeln!(text, "        {line}"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_and_lines_are_shown() {
        let mut text = String::new();
        let change = |path: &str, before: Option<Value>, after: Option<Value>| Change {
            path: path.into(),
            before,
            after,
        };
        field(&mut text, &change("retry.max", Some(json!(3)), Some(json!(5))));
        field(&mut text, &change("labels.team", None, Some(json!("data"))));
        field(&mut text, &change("script.text", Some(json!("a\nb\n")), Some(json!("a\nc\n"))));
        let every =
            |every: &str| json!([{"every": every, "misfire": {"policy": "skip"}}, {"cron": "@daily"}]);
        field(&mut text, &change("triggers", Some(every("1h")), Some(every("2h"))));
        field(&mut text, &change("labels", None, Some(json!({"team": "data"}))));
        let text = anstream::adapter::strip_str(&text).to_string();
        let (text, deep) = text.split_once("    ~ triggers:\n").unwrap();
        assert!(deep.contains("- - every: 1h\n") && deep.contains("+ - every: 2h\n"), "{deep}");
        assert!(!deep.contains('{') && deep.contains("+ team: data\n"), "{deep}");
        let expected = "    ~ retry.max: 3 → 5\n    + labels.team: \"data\"\n    ~ script.text:\n        a\n      - b\n      + c\n";
        assert_eq!(text, expected);
    }
}
