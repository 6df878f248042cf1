//! `mainspring config check|schema|show`: the settings, without acting on them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::arguments::Global;
use crate::config::{SETTINGS, Source, Wrong, load_strictly, schema};
use crate::failure::Failure;
use crate::output::{Column, Output, Row, Table};
use crate::roles;

/// What `config` takes.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check the settings file and the MAINSPRING_* variables
    Check {
        /// The file; without one, the one that commands would use
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of the settings file
    Schema,
    /// List every setting with its variable and default; with -o wide, also what it means
    List,
}

const COLUMNS: &[Column] =
    &[Column::always("SETTING"), Column::name("VARIABLE"), Column::free("DEFAULT"), Column::wide("MEANING")];

impl Config {
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::Check { file } => check(file.or_else(|| global.config.clone()), output)?,
            Verb::Schema => output.line(format!("{:#}", schema()))?,
            Verb::List => {
                let values: Vec<serde_json::Value> = SETTINGS
                    .iter()
                    .map(|setting| {
                        json!({
                            "setting": setting.path(), "variable": setting.variable(),
                            "short_variable": setting.short_variable,
                            "default": setting.default, "help": setting.help,
                        })
                    })
                    .collect();
                output.list(&values, || {
                    let rows = SETTINGS.iter().map(|setting| {
                        let variable =
                            setting.short_variable.map_or_else(|| setting.variable(), str::to_owned);
                        let row = Row::new(setting.path()).cell(setting.path()).cell(variable);
                        row.cell(setting.default).cell(setting.help)
                    });
                    Table::new(COLUMNS, "").rows(rows)
                })?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads the settings and builds what the roles would, as far as nothing is touched.
fn check(file: Option<PathBuf>, output: Output) -> Result<(), Failure> {
    let checked = load_strictly(&Source::of_process(file)).and_then(|loaded| {
        let problems = roles::problems(&loaded.config);
        if problems.is_empty() { Ok(loaded.file) } else { Err(Wrong { file: loaded.file, problems }) }
    });
    match checked {
        Ok(file) => {
            match &file {
                Some(file) => output.say(format!("{} and the variables are good", file.display())),
                None => output.say("there is no settings file; the variables are good"),
            }
            output.changed(&json!({ "ok": true, "file": file }))
        }
        Err(wrong) => {
            output.changed(&json!({ "ok": false, "file": wrong.file, "problems": wrong.problems }))?;
            Err(wrong.into())
        }
    }
}
