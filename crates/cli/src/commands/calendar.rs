//! `mainspring calendar`: days and times at which triggers do not fire.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::Calendar as Standing;
use mainspring_model::CalendarSpec;
use serde_json::json;

use crate::ask::confirm;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Column, Row, Table, yaml};

/// What `calendar` takes.
#[derive(Debug, Args)]
pub(crate) struct Calendar {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List calendars
    List {
        /// In every namespace, whatever the settings say
        #[arg(short = 'A', long)]
        all_namespaces: bool,
    },
    /// Show a calendar
    Get {
        /// The calendar
        name: String,
    },
    /// Make a calendar or replace it; the triggers that heed it are planned anew
    #[command(after_help = "Examples:\n  \
        mainspring calendar set holidays --weekend sat,sun --off 2026-12-24..2027-01-01 --off 05-01\n  \
        mainspring calendar set freeze --blackout 22:00-06:00\n  \
        mainspring calendar set holidays --file holidays.yaml")]
    Set {
        /// The calendar
        name: String,
        /// What it says, in YAML or JSON, instead of options
        #[arg(long, conflicts_with_all = ["weekend", "off", "working", "blackout", "description"])]
        file: Option<PathBuf>,
        /// Days of the week on which nothing fires: sat,sun
        #[arg(long, value_delimiter = ',', value_name = "DAYS")]
        weekend: Vec<String>,
        /// A day on which nothing fires: 2026-12-25, 2026-12-24..2027-01-01, or every year 12-25; may be repeated
        #[arg(long, value_name = "DAY")]
        off: Vec<String>,
        /// A day that is worked although it is of the weekend or off every year; may be repeated
        #[arg(long, value_name = "DAY")]
        working: Vec<String>,
        /// A time of every day at which nothing fires: 22:00-06:00; may be repeated
        #[arg(long, value_name = "TIMES")]
        blackout: Vec<String>,
        /// What it is for
        #[arg(long, default_value = "")]
        description: String,
    },
    /// Remove a calendar that no trigger heeds
    Rm {
        /// The calendar
        name: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

const COLUMNS: &[Column] = &[
    Column::always("CALENDAR"),
    Column::always("NAMESPACE"),
    Column::always("WEEKEND"),
    Column::always("OFF"),
    Column::always("BLACKOUTS"),
    Column::free("DESCRIPTION"),
    Column::wide("CHANGED"),
    Column::wide("BY"),
];

impl Calendar {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let namespace = context.namespace();
        match self.verb {
            Verb::List { all_namespaces } => {
                let found = context.client.calendars(namespace.filter(|_| !all_namespaces)).all().await?;
                context.output.list(&found, || table(&found))?;
            }
            Verb::Get { name } => {
                let found = context.client.calendar(namespace, &name).await?;
                let text = yaml(&found.spec)?;
                context.output.one(&found, || text)?;
            }
            Verb::Set { name, file, weekend, off, working, blackout, description } => {
                let text = match file {
                    Some(file) => fs::read_to_string(&file).map_err(|error| {
                        Failure::usage(format!("cannot read {}: {error}", file.display()))
                    })?,
                    None => json!({"description": description, "weekend": weekend, "off": off,
                        "working": working, "blackouts": blackout})
                    .to_string(),
                };
                let spec = read(&name, &text)?;
                let put = context.client.put_calendar(namespace, &name, &spec).await?;
                context.output.say(format!("{} holds in {} and below", put.name, put.namespace));
            }
            Verb::Rm { name, yes } => {
                confirm(&format!("Remove the calendar {name}?"), yes)?;
                context.client.delete_calendar(namespace, &name).await?;
                context.output.say(format!("{name} is removed"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What was written, checked here so that every problem is told at once.
/// JSON is YAML too.
fn read(name: &str, text: &str) -> Result<CalendarSpec, Failure> {
    let spec: CalendarSpec =
        serde_saphyr::from_str(text).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    match spec.read() {
        Ok(_) => Ok(spec),
        Err(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(Failure::usage(format!("{name} cannot be a calendar:\n  {}", problems.join("\n  "))))
        }
    }
}

fn table(calendars: &[Standing]) -> Table {
    Table::new(COLUMNS, "no calendars; `mainspring calendar set` makes one").rows(calendars.iter().map(
        |one| {
            let spec = &one.spec;
            let weekend: Vec<String> = spec
                .weekend
                .iter()
                .map(|day| serde_json::to_value(day).ok().and_then(|day| day.as_str().map(str::to_owned)))
                .map(Option::unwrap_or_default)
                .collect();
            Row::new(format!("{}/{}", one.namespace, one.name))
                .cell(&one.name)
                .cell(&one.namespace)
                .cell(weekend.join(","))
                .cell(spec.off.len())
                .cell(spec.blackouts.join(", "))
                .cell(&spec.description)
                .cell(one.updated_at)
                .cell(&one.updated_by)
        },
    ))
}
