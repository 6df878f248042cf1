//! The JSON Schema of a job file, generated from the types and their documentation.
//!
//! The derives describe what a job is written back as. A file may be shorter: `file.rs` turns them into
//! the schema of a file, with shorthands and without fields that nobody knows. Values that are text with
//! rules of their own are described here. The schema helps editors; [`super::parse`] decides.

mod file;
mod merge;

use std::borrow::Cow;

use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::rule::{CauseMatch, ExitCodes, Signals};
use super::{Digest, Parameter, Template, Umask, parameter};
use crate::limits::{LABELS_MAX, NAME_BYTES_MAX, NAMESPACE_BYTES_MAX};
use crate::{Labels, Name, Namespace, Selector, duration_text, label, name, quantity};

pub use file::job_schema;

/// A duration as text.
pub(crate) struct DurationText;

/// A moment as text.
pub(crate) struct Moment;

/// What happens when clocks are turned.
pub(crate) struct DstChoice;

/// One calendar, or several.
pub(crate) struct CalendarNames;

/// A countable in thousandths.
pub(crate) struct Milli;

/// A size in bytes.
pub(crate) struct Bytes;

/// Describes a type by a schema that is written out.
macro_rules! described {
    ($type:ty, $name:literal, $schema:expr) => {
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                written_out($name, $schema)
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    };
}

/// # Panics
/// When the schema, which is part of the program, is not a schema.
fn written_out(name: &str, schema: Value) -> RefOr<Schema> {
    match serde_json::from_value(schema) {
        Ok(schema) => RefOr::T(schema),
        Err(error) => panic!("the schema of {name}: {error}"),
    }
}

described!(
    DurationText,
    "Duration",
    json!({
        "type": "string",
        "description": "A duration such as `30s`, `1h30m` or `250ms`: whole numbers with d, h, m, s, ms or us.",
        "pattern": duration_text::PATTERN,
        "minLength": 1,
    })
);

described!(
    Moment,
    "Moment",
    json!({
        "type": "string",
        "description": "A moment with its offset, such as `2027-01-01T08:00:00+01:00`.",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ].*([Zz]|[+-][0-9:]+)$",
    })
);

described!(
    DstChoice,
    "Dst",
    json!({
        "type": "object",
        "description": "What happens when clocks are turned.",
        "properties": {
            "gap": {"type": "string", "enum": ["once", "skip"], "description": "A time that is left out: fires at the first moment after it, or not."},
            "overlap": {"type": "string", "enum": ["first", "both"], "description": "A time that comes twice."},
        },
        "additionalProperties": false,
    })
);

described!(
    CalendarNames,
    "CalendarNames",
    json!({
        "description": "The name of a calendar, or several.",
        "anyOf": [
            {"type": "string", "minLength": 1, "maxLength": NAME_BYTES_MAX, "pattern": name::NAME_PATTERN},
            {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": NAME_BYTES_MAX, "pattern": name::NAME_PATTERN}},
        ],
    })
);

described!(
    Milli,
    "Countable",
    json!({
        "description": "A number such as `2`, `0.5` or `500m`, at most to the thousandth.",
        "anyOf": [{"type": "string", "pattern": quantity::MILLI_PATTERN}, {"type": "number", "minimum": 0}],
    })
);

described!(
    Bytes,
    "Size",
    json!({
        "description": "A size such as `256Mi`, `1.5Gi` or `1G`, or a number of bytes.",
        "anyOf": [{"type": "string", "pattern": quantity::BYTES_PATTERN}, {"type": "integer", "minimum": 0}],
    })
);

described!(
    Template,
    "Template",
    json!({
        "description": "Text, rendered with the run's parameters: `{{ params.day }}`.",
        "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}],
    })
);

described!(
    Name,
    "Name",
    json!({
        "type": "string",
        "description": "Lower-case letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.",
        "pattern": name::NAME_PATTERN,
        "maxLength": NAME_BYTES_MAX,
    })
);

described!(
    Namespace,
    "Namespace",
    json!({
        "type": "string",
        "description": "A path of departments, such as `acme/data/etl`.",
        "pattern": "^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)*$",
        "maxLength": NAMESPACE_BYTES_MAX,
    })
);

described!(
    Digest,
    "Digest",
    json!({
        "type": "string",
        "description": "`sha256:` and 64 hexadecimal digits.",
        "pattern": "^sha256:[0-9a-fA-F]{64}$",
    })
);

described!(
    Umask,
    "Umask",
    json!({
        "type": "string",
        "description": "The mode mask of new files: three octal digits such as `027`.",
        "pattern": Umask::PATTERN,
    })
);

described!(
    Labels,
    "Labels",
    json!({
        "type": "object",
        "description": "Labels by key.",
        "propertyNames": {"type": "string", "pattern": label::KEY_PATTERN},
        "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]},
        "maxProperties": LABELS_MAX,
    })
);

/// A label's value, or several, or what must not or need not be there.
fn requirement() -> Value {
    let value = json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]});
    let values = json!({"anyOf": [value, {"type": "array", "items": value, "minItems": 1}]});
    json!({"anyOf": [
        values,
        {"type": "object", "properties": {"not": values}, "required": ["not"], "additionalProperties": false},
        {
            "type": "object",
            "properties": {"exists": {"type": "boolean"}},
            "required": ["exists"],
            "additionalProperties": false
        },
    ]})
}

described!(
    Selector,
    "Selector",
    json!({
        "description": "Labels that a node must carry: `zone=eu, disk in (ssd,nvme), gpu, !spot`, or a map.",
        "anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": requirement()}],
    })
);

described!(
    ExitCodes,
    "ExitCodes",
    json!({
        "description": "Exit codes from 1 to 255, and ranges such as `64-78`.",
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 255},
            {"type": "string", "pattern": "^[0-9]{1,3}-[0-9]{1,3}$"},
        ],
    })
);

described!(
    Signals,
    "Signals",
    json!({
        "description": "A signal by name or number.",
        "anyOf": [
            {"type": "string", "enum": Signals::NAMES.map(|(name, _)| name)},
            {"type": "integer", "minimum": 1, "maximum": 64},
        ],
    })
);

/// One item or a list of them.
fn one_or_many(item: Value) -> Value {
    json!({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})
}

fn cause_with_list(word: &str, item: Value) -> Value {
    json!({
        "type": "object",
        "properties": {word: one_or_many(item)},
        "required": [word],
        "additionalProperties": false
    })
}

impl PartialSchema for CauseMatch {
    fn schema() -> RefOr<Schema> {
        let words = ["any", "exit", "signal", "timeout", "oom", "lost", "start_failed", "error"];
        let schema = json!({
            "description": "Which failures: a word for all of its kind, or a word with a list.",
            "anyOf": [
                {"type": "string", "enum": words},
                cause_with_list("exit", json!({"$ref": "#/components/schemas/ExitCodes"})),
                cause_with_list("signal", json!({"$ref": "#/components/schemas/Signals"})),
                cause_with_list("timeout", json!({"$ref": "#/components/schemas/AttemptTimeout"})),
                cause_with_list("error", json!({"type": "string"})),
            ],
        });
        written_out("CauseMatch", schema)
    }
}

impl ToSchema for CauseMatch {
    fn name() -> Cow<'static, str> {
        "CauseMatch".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("ExitCodes".into(), ExitCodes::schema()));
        schemas.push(("Signals".into(), Signals::schema()));
        schemas.push(("AttemptTimeout".into(), super::AttemptTimeout::schema()));
    }
}

impl PartialSchema for Parameter {
    fn schema() -> RefOr<Schema> {
        parameter::Written::schema()
    }
}

impl ToSchema for Parameter {
    fn name() -> Cow<'static, str> {
        "Parameter".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        parameter::Written::schemas(schemas);
    }
}
