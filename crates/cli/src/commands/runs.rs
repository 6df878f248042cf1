//! `mainspring runs`: runs, newest first.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::RunsQuery;
use mainspring_client::api::Run;
use mainspring_model::RunState;

use super::watching::watch;
use crate::context::Context;
use crate::failure::Failure;
use crate::flag;
use crate::language::message;
use crate::narrator::percentage;
use crate::output::{Column, Row, Table, age, clock, span, state_style};

/// What `runs` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    mainspring runs --state failed,final_failed --since 2h\n  \
    mainspring runs --job nightly-report --watch\n  \
    mainspring runs -Q 'label:team=data cause:timeout'")]
pub(crate) struct Runs {
    /// Of this job, by name or id
    #[arg(long)]
    job: Option<String>,
    /// In one of these states, with commas between; also `active` and `ended`
    #[arg(long, value_name = "STATES", value_parser = flag::RunStates, hide_possible_values = true)]
    state: Option<String>,
    /// Made within this time, such as 2h
    #[arg(long, value_name = "DURATION", value_parser = flag::duration)]
    since: Option<String>,
    /// The query language of the API: `state:failed label:team=data cause:exit`
    #[arg(short = 'Q', long, value_name = "WORDS")]
    query: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50, value_parser = flag::at_least_one, allow_negative_numbers = true)]
    limit: usize,
    /// Draw the list again whenever something changes; with -o json, the whole list on one line each time
    #[arg(short, long)]
    watch: bool,
    /// In every namespace, whatever the settings say
    #[arg(short = 'A', long)]
    all_namespaces: bool,
}

const COLUMNS: &[Column] = &[
    Column::always("ID"),
    Column::wide("NAMESPACE"),
    Column::name("JOB"),
    Column::always("STATE"),
    Column::always("ATTEMPT"),
    Column::clock("AGE"),
    Column::clock("TOOK"),
    Column::wide("NODE"),
    Column::wide("BY"),
    Column::free("WHY"),
];

impl Runs {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.watch {
            watch(context, || self.list(context), |runs| self.table(context, runs)).await?;
        } else {
            let runs = self.list(context).await?;
            context.output.list(&runs, || self.table(context, &runs))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn list(&self, context: &Context) -> Result<Vec<Run>, Failure> {
        let query = RunsQuery {
            namespace: self.place(context).map(str::to_owned),
            q: self.words(),
            page_size: Some(self.limit.clamp(1, 1000)),
        };
        Ok(context.client.runs(&query).take(self.limit).await?)
    }

    /// The namespace that is looked in, if it is not all of them.
    fn place<'c>(&self, context: &'c Context) -> Option<&'c str> {
        context.namespace().filter(|_| !self.all_namespaces)
    }

    fn table(&self, context: &Context, runs: &[Run]) -> Table {
        match (self.words(), self.place(context)) {
            (None, None) => table(runs),
            (Some(words), _) => table(runs).when_empty(format!("no runs fit `{words}`")),
            (None, Some(namespace)) => table(runs).when_empty(format!(
                "no runs in `{namespace}`; `mainspring runs -A` looks in every namespace"
            )),
        }
    }

    fn words(&self) -> Option<String> {
        let words: Vec<String> = [
            // First, so that what the server says about positions in it is true.
            self.query.clone(),
            self.job.as_ref().map(|job| format!("job:{job}")),
            self.state.as_ref().map(|state| format!("state:{state}")),
            self.since.as_ref().map(|since| format!("created>-{since}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// The table of runs.
pub(crate) fn table(runs: &[Run]) -> Table {
    let now = clock();
    let words = "no runs; `mainspring submit -- echo hello` makes one";
    Table::new(COLUMNS, words).rows(runs.iter().map(|run| {
        Row::new(run.id)
            .cell(run.id)
            .cell(&run.namespace)
            .cell(run.job_name.clone().unwrap_or_else(|| run.job.to_string()))
            .styled(run.state.name(), state_style(run.state))
            .cell(attempt_of(run))
            .cell(age(run.created_at.0, now))
            .cell(took(run))
            .cell(run.node_name.clone().or_else(|| run.node.map(|node| node.to_string())).unwrap_or_default())
            .cell(&run.submitted_by)
            .cell(why(run))
    }))
}

/// Which attempt it is, of how many, and how many were not the job's own fault; nothing before the first.
pub(crate) fn attempt_of(run: &Run) -> String {
    if run.attempt == 0 {
        return String::new();
    }
    let most = run.attempts_max.map(|most| format!(" of {most}")).unwrap_or_default();
    let lost = if run.losses > 0 { format!(", {} lost", run.losses) } else { String::new() };
    format!("{}{most}{lost}", run.attempt)
}

/// How long the current or last attempt took.
pub(crate) fn took(run: &Run) -> String {
    match (run.started_at, run.finished_at, run.state) {
        (Some(started), _, RunState::Running) => span(clock().since(started.0)),
        (Some(started), Some(finished), _) => span(finished.0.since(started.0)),
        _ => String::new(),
    }
}

/// Why it is where it is, in a few words.
pub(crate) fn why(run: &Run) -> String {
    if run.state == RunState::Success {
        return String::new();
    }
    if let Some(by) = &run.cancel_requested_by
        && !run.state.is_terminal()
    {
        return format!("{by} asked for its end");
    }
    let words = match run.state {
        RunState::Running => run.progress.as_ref().map(percentage),
        RunState::Ready | RunState::Waiting => run.reason.as_ref().map(|reason| message(reason).to_owned()),
        _ => run.cause.as_ref().map(|cause| cause.message.clone()),
    };
    shorten(&words.unwrap_or_default())
}

fn shorten(words: &str) -> String {
    const MOST: usize = 60;
    if words.chars().count() <= MOST {
        return words.to_owned();
    }
    words.chars().take(MOST - 1).chain(['…']).collect()
}
