//! Reading the body: exactly one of the kinds.
//!
//! A file with several bodies has each of them read, so that their problems are reported too. Kinds that
//! are reserved count as bodies here: a file with one of them is told that, and not that it has none.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::Reader;
use super::fields::{Fields, not_yet};
use super::placement::quantity;
use super::scalar::{
    integer, list, long_template, long_text, map, one_or_many, parsed, positive_duration, template,
    template_or_empty, word,
};
use super::words::reserved;
use crate::limits::{OPEN_FILES_MAX, OPEN_FILES_MIN, PROCESSES_MAX, WORD_BYTES_MAX};
use crate::quantity::parse_bytes;
use crate::spec::{Body, Handler, Process, ProcessLimits, Script, Template, Umask};

/// Every word that is a body, those to come included.
const KINDS: [&str; 7] = ["process", "script", "handler", "http", "grpc", "container", "workflow"];

pub(super) fn body(fields: &mut Fields<'_, '_>) -> Option<Body> {
    let found: Vec<&str> = KINDS.into_iter().filter(|kind| fields.has(kind)).collect();
    match found[..] {
        [] => fields.problem_here("says nothing to run", "write one of `script`, `process` and `handler`"),
        [kind] => {
            if let Some(meaning) = reserved("job", kind) {
                fields.problem(kind, not_yet(kind, meaning));
            }
        }
        [..] => {
            let kinds: Vec<String> = found.iter().map(|kind| format!("`{kind}`")).collect();
            fields.problem_here(
                format!("says several things to run: {}", kinds.join(", ")),
                "keep one of them",
            );
        }
    }
    // Each is read even when there are several, so that every problem is found.
    let process = fields.optional("process", process).map(Body::Process);
    let script = fields.optional("script", script).map(Body::Script);
    let handler = fields.optional("handler", handler).map(Body::Handler);
    for kind in KINDS.into_iter().filter(|kind| reserved("job", kind).is_some()) {
        fields.raw(kind);
    }
    process.or(script).or(handler)
}

fn process(reader: &mut Reader, value: &Value) -> Option<Process> {
    if value.is_string() {
        return template(reader, value).map(Process::new);
    }
    let mut fields = reader.fields("process", value)?;
    let command = fields.required("command", template);
    let args = fields.or_default("args", list(template_or_empty));
    let Surroundings { env, cwd, stdin, user, limits, umask } = surroundings(&mut fields);
    fields.finish();
    Some(Process { command: command?, args, env, cwd, stdin, user, limits, umask })
}

fn script(reader: &mut Reader, value: &Value) -> Option<Script> {
    if value.is_string() {
        return long_text(reader, value).map(Script::new);
    }
    let mut fields = reader.fields("script", value)?;
    let text = fields.required("text", long_text);
    let interpreter = fields.or_default("interpreter", one_or_many(word));
    let args = fields.or_default("args", list(template_or_empty));
    let Surroundings { env, cwd, stdin, user, limits, umask } = surroundings(&mut fields);
    fields.finish();
    Some(Script { text: text?, interpreter, args, env, cwd, stdin, user, limits, umask })
}

/// What processes and scripts share.
struct Surroundings {
    env: BTreeMap<Box<str>, Template>,
    cwd: Option<Template>,
    stdin: Option<Template>,
    user: Option<Box<str>>,
    limits: ProcessLimits,
    umask: Option<Umask>,
}

fn surroundings(fields: &mut Fields<'_, '_>) -> Surroundings {
    Surroundings {
        env: fields.or_default("env", map(check_variable, template_or_empty)),
        cwd: fields.optional("cwd", template),
        stdin: fields.optional("stdin", long_template),
        user: fields.optional("user", word),
        limits: fields.or_default("limits", limits),
        umask: fields.optional("umask", parsed),
    }
}

fn limits(reader: &mut Reader, value: &Value) -> Option<ProcessLimits> {
    let mut fields = reader.fields("limits", value)?;
    let limits = ProcessLimits {
        cpu_time: fields.optional("cpu_time", whole_seconds),
        open_files: fields.optional("open_files", integer(OPEN_FILES_MIN..=OPEN_FILES_MAX)),
        processes: fields.optional("processes", integer(1..=PROCESSES_MAX)),
        file_size: fields.optional("file_size", quantity(parse_bytes)),
        core: fields.optional("core", quantity(parse_bytes)),
        stack: fields.optional("stack", quantity(parse_bytes)),
        address_space: fields.optional("address_space", quantity(parse_bytes)),
        locked_memory: fields.optional("locked_memory", quantity(parse_bytes)),
    };
    fields.finish();
    Some(limits)
}

fn whole_seconds(reader: &mut Reader, value: &Value) -> Option<Duration> {
    let duration = positive_duration(reader, value)?;
    if duration.subsec_nanos() > 0 {
        reader.problem_with_hint(
            "is not a whole number of seconds",
            "the system counts no less, such as `90s`",
        );
        return None;
    }
    Some(duration)
}

fn check_variable(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > WORD_BYTES_MAX || name.contains(['=', '\0', ' ', '\t', '\n']) {
        return Err("is not the name of a variable".into());
    }
    if name.starts_with("MAINSPRING_") {
        return Err("names that begin with `MAINSPRING_` are set by the agent".into());
    }
    Ok(())
}

fn handler(reader: &mut Reader, value: &Value) -> Option<Handler> {
    if value.is_string() {
        return parsed(reader, value).map(|HandlerName(name)| Handler { name });
    }
    let mut fields = reader.fields("handler", value)?;
    let name = fields.required("name", parsed);
    fields.finish();
    name.map(|HandlerName(name)| Handler { name })
}

struct HandlerName(Box<str>);

impl std::str::FromStr for HandlerName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
        if text.len() > WORD_BYTES_MAX || !text.chars().all(allowed) {
            return Err("the name of a handler has letters, digits, `-`, `_`, `.`, `:` and `/`");
        }
        Ok(Self(text.into()))
    }
}
