//! Reads the settings: the file, then the variables over it.
//!
//! Every unknown key and every value of the wrong kind is reported at once, with the nearest known name. What variables
//! say is in `variables.rs`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Config;
use super::setting::{self, Kind, SECTIONS, SETTINGS, Setting};
use super::task;
use super::variables::{self, Strangers};
use crate::failure::Failure;

/// Where the settings come from.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The file that was asked for; without one, the usual places are looked at.
    pub(crate) file: Option<PathBuf>,
    /// The environment.
    pub(crate) variables: BTreeMap<String, String>,
}

/// The settings, and the file that they were read from, if there is one.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) file: Option<PathBuf>,
}

impl Source {
    /// The process's own environment, without what an agent tells a task there.
    pub(crate) fn of_process(file: Option<PathBuf>) -> Self {
        Self { file, variables: task::without_attempt_token(std::env::vars().collect()) }
    }

    fn find_file(&self) -> Option<PathBuf> {
        let asked = self.file.clone().or_else(|| self.variables.get("MAINSPRING_CONFIG").map(PathBuf::from));
        asked.or_else(|| {
            let own = crate::place::config_directory().map(|directory| directory.join("config.toml"));
            let usual = own.into_iter().chain([PathBuf::from("/etc/mainspring/mainspring.toml")]);
            usual.into_iter().find(|path| path.is_file())
        })
    }
}

/// Settings that make no sense.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// The file that they were read from, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// Everything that is wrong, each with its place.
    pub(crate) problems: Vec<String>,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.file.as_deref().map_or_else(String::new, |path| format!(" ({})", path.display()));
        write!(f, "the settings are wrong{place}:\n  {}", self.problems.join("\n  "))
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Self::usage(wrong.to_string()).hint(
            "`mainspring config list` shows every setting; `mainspring config check FILE` checks a file",
        )
    }
}

/// Reads the file and the variables. Variables that have nothing to do with a setting are others' business.
pub(crate) fn load(source: &Source) -> Result<Loaded, Wrong> {
    read_all(source, Strangers::Left)
}

/// The same, for a person who wants to know: a variable that nobody reads is a mistake.
pub(crate) fn load_strictly(source: &Source) -> Result<Loaded, Wrong> {
    read_all(source, Strangers::Wrong)
}

fn read_all(source: &Source, strangers: Strangers) -> Result<Loaded, Wrong> {
    let file = source.find_file();
    let mut problems = Vec::new();
    let mut table = match &file {
        Some(path) => read(path, &mut problems),
        None => Table::new(),
    };
    variables::lay_over(&mut table, &source.variables, strangers, &mut problems);
    if !problems.is_empty() {
        return Err(Wrong { file, problems });
    }
    match Config::deserialize_table(table) {
        Ok(config) => Ok(Loaded { config, file }),
        Err(error) => Err(Wrong { file, problems: vec![error.to_string()] }),
    }
}

impl Config {
    fn deserialize_table(table: Table) -> Result<Self, toml::de::Error> {
        Value::Table(table).try_into()
    }
}

fn read(path: &Path, problems: &mut Vec<String>) -> Table {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    let table = text.and_then(|text| {
        text.parse().map_err(|error: toml::de::Error| {
            let words = error.to_string().trim_end().replace('\n', "\n  ");
            format!("{} is not TOML: {words}", path.display())
        })
    });
    let table: Table = match table {
        Ok(table) => table,
        Err(problem) => {
            problems.push(problem);
            return Table::new();
        }
    };
    for (section, value) in &table {
        if !SECTIONS.iter().any(|(known, _)| known == section) {
            problems.push(unknown("section", section, SECTIONS.iter().map(|(known, _)| (*known).to_owned())));
            continue;
        }
        let Value::Table(entries) = value else {
            problems.push(format!("{section}: expected a table, written `[{section}]`"));
            continue;
        };
        for (name, value) in entries {
            match setting::find(section, name) {
                None => {
                    let known = SETTINGS.iter().filter(|setting| setting.section == section);
                    let path = format!("{section}.{name}");
                    problems.push(unknown("setting", &path, known.map(Setting::path)));
                }
                Some(setting) => problems.extend(wrong(setting, value)),
            }
        }
    }
    table
}

/// What is wrong with a value of the file.
fn wrong(setting: &Setting, value: &Value) -> Option<String> {
    let fits = match (setting.kind, value) {
        (Kind::Text | Kind::Path, Value::String(_)) => true,
        (Kind::Number, Value::Integer(number)) => u32::try_from(*number).is_ok(),
        (Kind::List, Value::Array(items)) => items.iter().all(Value::is_str),
        (Kind::Pairs, Value::Table(pairs)) => pairs.values().all(Value::is_str),
        (Kind::Duration, Value::String(text)) => {
            return mainspring_model::duration_text::parse(text)
                .err()
                .map(|error| format!("{}: {error}", setting.path()));
        }
        _ => false,
    };
    (!fits).then(|| format!("{}: expected {}, found {value}", setting.path(), expectation(setting.kind)))
}

fn expectation(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Path => "a path in quotes",
        Kind::Number => "a whole number",
        Kind::Duration => "a duration such as \"30s\"",
        Kind::List => "a list of texts",
        Kind::Pairs => "a table of texts",
    }
}

/// Words about a name that nobody knows.
fn unknown(what: &str, word: &str, known: impl Iterator<Item = String>) -> String {
    match crate::nearest::nearest(word, known) {
        Some(near) => format!("{word}: unknown {what}; did you mean `{near}`?"),
        None => format!("{word}: unknown {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mainspring.toml");
        fs::write(&path, file).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        load(&Source { file: Some(path), variables })
            .map(|loaded| loaded.config)
            .map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn variables_go_before_the_file() {
        let file =
            "[client]\nurl = \"http://file\"\nnamespace = \"acme\"\n[agent]\nlabels = { zone = \"eu\" }";
        let variables = [("MAINSPRING_URL", "http://variable"), ("MAINSPRING_SERVER__LOST_AFTER", "3m")];
        let config = check(file, &variables).unwrap();
        assert_eq!(config.client.url.as_deref(), Some("http://variable"));
        assert_eq!(config.client.namespace.as_deref(), Some("acme"));
        assert_eq!(config.server.lost_after.map(|span| span.0.as_secs()), Some(180));
        assert_eq!(config.agent.labels.unwrap()["zone"], "eu");
    }

    #[test]
    fn every_mistake_is_told_at_once_with_the_nearest_name() {
        let file = "[servr]\na = 1\n[client]\nnamespce = \"x\"\ntimeout = \"5\"\n[agent]\nslots = \"many\"";
        let said =
            check(file, &[("MAINSPRING_AGENT__POLL", "x"), ("MAINSPRING_RUN_ID", "run_1")]).unwrap_err();
        for words in [
            "servr: unknown section; did you mean `server`?",
            "client.namespce: unknown setting; did you mean `client.namespace`?",
            "client.timeout: `5` has no unit",
            "agent.slots: expected a whole number, found \"many\"",
            "MAINSPRING_AGENT__POLL: unknown variable; did you mean `MAINSPRING_AGENT__POOL`?",
        ] {
            assert!(said.contains(words), "{words} is missing in:\n{said}");
        }
        assert!(!said.contains("RUN_ID"), "{said}");
    }

    #[test]
    fn every_setting_of_the_table_is_read() {
        for setting in SETTINGS {
            let text = match setting.kind {
                Kind::Text | Kind::Path | Kind::List => "word",
                Kind::Number => "7",
                Kind::Duration => "7s",
                Kind::Pairs => "a=b",
            };
            let variable = setting.variable();
            let config = check("", &[(&variable, text)]).unwrap();
            assert_ne!(config, Config::default(), "{variable} changes nothing");
        }
    }
}
