//! What the variables of the environment say: settings, and what looks like one but is none.
//!
//! A name that can only be meant as a setting (it has `__`, or is one but for an underscore) is always a mistake. Other names
//! that begin with `MAINSPRING_` may be somebody else's, so only `config check` complains about those.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::setting::{Kind, SETTINGS, Setting};

const PREFIX: &str = "MAINSPRING_";

/// Variables that are no settings: where the settings are, and what a task is told.
const OTHERS: &[&str] = &[
    "MAINSPRING_CONFIG",
    "MAINSPRING_RUN_ID",
    "MAINSPRING_ATTEMPT",
    "MAINSPRING_ATTEMPTS_MAX",
    "MAINSPRING_JOB",
    "MAINSPRING_DEADLINE",
    "MAINSPRING_PARAMS",
    "MAINSPRING_INPUT",
    "MAINSPRING_OUTPUT",
    "MAINSPRING_PROGRESS",
    "MAINSPRING_PROGRESS_FD",
    "MAINSPRING_CHECKPOINT",
];

/// How others begin: a task's parameters and files, the test suites, and what Kubernetes tells every pod beside a service
/// called `mainspring`.
const FAMILIES: &[&str] = &[
    "MAINSPRING_PARAM_",
    "MAINSPRING_INPUT_",
    "MAINSPRING_OUTPUT_",
    "MAINSPRING_TEST_",
    "MAINSPRING_SERVICE_",
    "MAINSPRING_PORT",
];

/// What is done about variables that have nothing to do with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strangers {
    /// Nothing.
    Left,
    /// They are told as mistakes.
    Wrong,
}

/// Lays what the variables say over what the file says.
pub(super) fn lay_over(
    table: &mut Table,
    variables: &BTreeMap<String, String>,
    strangers: Strangers,
    problems: &mut Vec<String>,
) {
    for (variable, text) in variables.iter().filter(|(variable, _)| variable.starts_with(PREFIX)) {
        let found = SETTINGS
            .iter()
            .find(|setting| setting.variable() == *variable || setting.short_variable == Some(variable));
        match found {
            Some(setting) => match value_of(setting, text) {
                Ok(value) => insert(table, setting, value),
                Err(why) => problems.push(format!("{variable}: {why}")),
            },
            None => problems.extend(slip(variable).or_else(|| stranger(variable, strangers))),
        }
    }
}

/// The words for a variable that means a setting but does not name it.
fn slip(variable: &str) -> Option<String> {
    let plain = |name: &str| name.replace("__", "_");
    match SETTINGS.iter().map(Setting::variable).find(|known| plain(known) == plain(variable)) {
        Some(meant) => Some(format!("{variable}: unknown variable; did you mean `{meant}`?")),
        None => variable.contains("__").then(|| unknown(variable)),
    }
}

/// The words for a variable that nobody reads.
fn stranger(variable: &str, strangers: Strangers) -> Option<String> {
    let known = OTHERS.contains(&variable) || FAMILIES.iter().any(|family| variable.starts_with(family));
    (strangers == Strangers::Wrong && !known).then(|| unknown(variable))
}

/// Words about a variable, with the nearest right one. The beginning that all share makes none near.
fn unknown(variable: &str) -> String {
    let rest = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let short = SETTINGS.iter().filter_map(|setting| setting.short_variable.map(str::to_owned));
    let known = SETTINGS.iter().map(Setting::variable).chain(short);
    match crate::nearest::nearest(&rest(variable), known.map(|name| rest(&name))) {
        Some(near) => format!("{variable}: unknown variable; did you mean `{PREFIX}{near}`?"),
        None => format!("{variable}: unknown variable"),
    }
}

fn insert(table: &mut Table, setting: &Setting, value: Value) {
    let section = table.entry(setting.section).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(entries) = section {
        entries.insert(setting.name.to_owned(), value);
    }
}

fn value_of(setting: &Setting, text: &str) -> Result<Value, String> {
    let parts = || text.split(',').map(str::trim).filter(|part| !part.is_empty());
    match setting.kind {
        Kind::Text | Kind::Path => Ok(Value::String(text.to_owned())),
        Kind::Duration => mainspring_model::duration_text::parse(text)
            .map(|_| Value::String(text.to_owned()))
            .map_err(|error| error.to_string()),
        Kind::Number => text
            .parse::<u32>()
            .map(|number| Value::Integer(number.into()))
            .map_err(|_| format!("`{text}` is not a whole number")),
        Kind::List => Ok(Value::Array(parts().map(|part| Value::String(part.to_owned())).collect())),
        Kind::Pairs => parts()
            .map(|part| {
                let (key, value) =
                    part.split_once('=').ok_or_else(|| format!("`{part}` is not `key=value`"))?;
                Ok((key.to_owned(), Value::String(value.to_owned())))
            })
            .collect::<Result<Table, String>>()
            .map(Value::Table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(strangers: Strangers, name: &str, expected: &str) {
        let mut problems = Vec::new();
        let variables = BTreeMap::from([(name.to_owned(), "1".to_owned())]);
        lay_over(&mut Table::new(), &variables, strangers, &mut problems);
        assert_eq!(problems.join("\n"), expected);
    }

    #[test]
    fn only_what_may_be_somebody_elses_is_left_alone() {
        let slots = "MAINSPRING_AGENT_SLOTS: unknown variable; did you mean `MAINSPRING_AGENT__SLOTS`?";
        check(Strangers::Left, "MAINSPRING_AGENT_SLOTS", slots);
        check(Strangers::Left, "MAINSPRING_FOO", "");
        check(Strangers::Wrong, "MAINSPRING_FOO", "MAINSPRING_FOO: unknown variable");
        let url = "MAINSPRING_ULR: unknown variable; did you mean `MAINSPRING_URL`?";
        check(Strangers::Wrong, "MAINSPRING_ULR", url);
        for name in
            ["MAINSPRING_RUN_ID", "MAINSPRING_PARAM_DAY", "MAINSPRING_TEST_POSTGRES", "MAINSPRING_PORT"]
        {
            check(Strangers::Wrong, name, "");
        }
    }
}
