//! `mainspring calendar`: days and times at which triggers do not fire.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::Calendar as Standing;
use mainspring_model::CalendarSpec;

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
                let spec = match file {
                    Some(file) => read(&name, &file)?,
                    None => {
                        let texts = |texts: Vec<String>| texts.into_iter().map(Into::into).collect();
                        let spec = CalendarSpec {
                            description: description.into(),
                            off: texts(off),
                            working: texts(working),
                            blackouts: texts(blackout),
                            ..CalendarSpec::default()
                        };
                        of_options(&name, spec, &weekend)?
                    }
                };
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

/// What a file says. JSON is YAML too.
fn read(name: &str, file: &Path) -> Result<CalendarSpec, Failure> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    let spec: CalendarSpec =
        serde_saphyr::from_str(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    checked(name, spec, Vec::new())
}

/// What options say.
fn of_options(name: &str, mut spec: CalendarSpec, weekend: &[String]) -> Result<CalendarSpec, Failure> {
    let mut problems = Vec::new();
    for word in weekend {
        match serde_json::from_value(word.to_lowercase().into()) {
            Ok(day) => spec.weekend.push(day),
            Err(_) => problems.push(format!(
                "weekend: `{word}` is not a day of the week; write sun, mon, tue, wed, thu, fri or sat"
            )),
        }
    }
    checked(name, spec, problems)
}

/// A calendar that is checked here, so that every problem is told at once.
fn checked(name: &str, spec: CalendarSpec, mut problems: Vec<String>) -> Result<CalendarSpec, Failure> {
    if let Err(wrong) = spec.read() {
        problems.extend(wrong.iter().map(ToString::to_string));
    }
    match problems.is_empty() {
        true => Ok(spec),
        false => Err(Failure::usage(format!("{name} cannot be a calendar:\n  {}", problems.join("\n  ")))),
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
