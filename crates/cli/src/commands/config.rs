//! `mainspring config check|schema|show`: the settings, without acting on them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::arguments::Global;
use crate::config::{SETTINGS, Source, load, schema};
use crate::failure::Failure;
use crate::output::{Column, Output, Row, Table};

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
    /// List every setting with its variable, default and meaning
    List,
}

const COLUMNS: &[Column] = &[
    Column::always("SETTING"),
    Column::always("VARIABLE"),
    Column::always("DEFAULT"),
    Column::wide("MEANING"),
];

impl Config {
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::Check { file } => {
                let loaded = load(&Source::of_process(file.or_else(|| global.config.clone())))?;
                match loaded.file {
                    Some(file) => output.say(format!("{} is good", file.display())),
                    None => output.say("there is no settings file; the variables are good"),
                }
            }
            Verb::Schema => output.line(format!("{:#}", schema()))?,
            Verb::List => {
                let values: Vec<serde_json::Value> = SETTINGS
                    .iter()
                    .map(|setting| {
                        serde_json::json!({
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
