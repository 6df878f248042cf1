//! `mainspring runs`: runs, newest first.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::RunsQuery;
use mainspring_client::api::Run;
use mainspring_model::RunState;

use super::watching::watch;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Column, Format, Row, Table, age, clock, span, state_style};

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
    #[arg(long, value_name = "STATES")]
    state: Option<String>,
    /// Made within this time, such as 2h
    #[arg(long, value_name = "DURATION")]
    since: Option<String>,
    /// The query language of the API: `state:failed label:team=data cause:exit`
    #[arg(short = 'Q', long, value_name = "WORDS")]
    query: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Draw the list again whenever something changes
    #[arg(short, long)]
    watch: bool,
    /// In every namespace, whatever the settings say
    #[arg(short = 'A', long)]
    all_namespaces: bool,
}

const COLUMNS: &[Column] = &[
    Column::always("ID"),
    Column::wide("NAMESPACE"),
    Column::always("JOB"),
    Column::always("STATE"),
    Column::always("ATTEMPT"),
    Column::always("AGE"),
    Column::always("TOOK"),
    Column::wide("NODE"),
    Column::wide("BY"),
    Column::always("WHY"),
];

impl Runs {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.watch {
            let wide = context.output.format == Format::Wide;
            watch(context, || async { Ok(self.table(&self.list(context).await?).render(wide)) }).await?;
        } else {
            let runs = self.list(context).await?;
            context.output.list(&runs, || self.table(&runs))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn list(&self, context: &Context) -> Result<Vec<Run>, Failure> {
        let query = RunsQuery {
            namespace: context.namespace().filter(|_| !self.all_namespaces).map(str::to_owned),
            q: self.words(),
            page_size: Some(self.limit.clamp(1, 1000)),
        };
        Ok(context.client.runs(&query).take(self.limit).await?)
    }

    fn table(&self, runs: &[Run]) -> Table {
        match self.words() {
            None => table(runs),
            Some(words) => table(runs).when_empty(format!("no runs fit `{words}`")),
        }
    }

    fn words(&self) -> Option<String> {
        let words: Vec<String> = [
            self.job.as_ref().map(|job| format!("job:{job}")),
            self.state.as_ref().map(|state| format!("state:{state}")),
            self.since.as_ref().map(|since| format!("created>-{since}")),
            self.query.clone(),
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
        let attempt = match run.attempts_max {
            Some(most) if run.attempt > 0 => format!("{} of {most}", run.attempt),
            _ => String::new(),
        };
        Row::new(run.id)
            .cell(run.id)
            .cell(&run.namespace)
            .cell(run.job_name.clone().unwrap_or_else(|| run.job.to_string()))
            .styled(run.state.name(), state_style(run.state))
            .cell(attempt)
            .cell(age(run.created_at.0, now))
            .cell(took(run))
            .cell(run.node_name.clone().or_else(|| run.node.map(|node| node.to_string())).unwrap_or_default())
            .cell(&run.submitted_by)
            .cell(why(run))
    }))
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
        RunState::Running => run.progress.as_ref().map(|progress| {
            format!("{:.0} % {}", progress.fraction * 100.0, progress.message).trim_end().to_owned()
        }),
        RunState::Ready | RunState::Waiting => run.reason.as_ref().map(|reason| reason.message.clone()),
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
