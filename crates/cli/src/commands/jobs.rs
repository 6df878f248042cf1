//! `mainspring jobs`: the jobs there are.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::Job;

use super::watching::watch;
use crate::context::Context;
use crate::failure::Failure;
use crate::flag;
use crate::output::{Column, Format, GOOD, Row, Table, WARN, age, clock};
use crate::parameter::Pair;

/// What `jobs` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring jobs report --paused\n  mainspring jobs --label team=data")]
pub(crate) struct Jobs {
    /// Only jobs with this in their name
    name: Option<String>,
    /// Only jobs with this label, `key=value`; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE")]
    labels: Vec<Pair>,
    /// Only jobs that are paused
    #[arg(long)]
    paused: bool,
    /// How many at most
    #[arg(long, default_value_t = 500, value_parser = flag::at_least_one, allow_negative_numbers = true)]
    limit: usize,
    /// Draw the list again whenever something changes; with -o json, the whole list on one line each time
    #[arg(short, long)]
    watch: bool,
    /// In every namespace, whatever the settings say
    #[arg(short = 'A', long)]
    all_namespaces: bool,
}

const COLUMNS: &[Column] = &[
    Column::always("NAME"),
    Column::always("NAMESPACE"),
    Column::always("VERSION"),
    Column::always("STATE"),
    Column::clock("CHANGED"),
    Column::wide("RUNS"),
    Column::wide("OWNER"),
    Column::wide("ID"),
];

impl Jobs {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.watch {
            watch(context, || self.list(context), |jobs| self.table(context, jobs)).await?;
        } else {
            let jobs = self.list(context).await?;
            context.output.list(&jobs, || self.table(context, &jobs))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The API filters by namespace alone, so the rest is left out here, page by page until there are enough.
    async fn list(&self, context: &Context) -> Result<Vec<Job>, Failure> {
        let with_spec =
            !self.labels.is_empty() || !matches!(context.output.format, Format::Table | Format::Name);
        let mut pages = context.client.jobs(self.place(context), with_spec);
        let mut jobs = Vec::new();
        while let Some(job) = pages.next().await? {
            if self.fits(&job) {
                jobs.push(job);
            }
            if jobs.len() == self.limit {
                break;
            }
        }
        Ok(jobs)
    }

    fn fits(&self, job: &Job) -> bool {
        let has = |pair: &Pair| {
            let value = job.spec.as_ref().and_then(|spec| spec["labels"][&pair.key].as_str());
            value == Some(pair.value.as_str())
        };
        self.name.as_ref().is_none_or(|part| job.name.contains(part.as_str()))
            && self.labels.iter().all(has)
            && (!self.paused || job.pause.is_some())
    }

    /// The namespace that is looked in, if it is not all of them.
    fn place<'c>(&self, context: &'c Context) -> Option<&'c str> {
        context.namespace().filter(|_| !self.all_namespaces)
    }

    fn table(&self, context: &Context, jobs: &[Job]) -> Table {
        let filtered = self.name.is_some() || !self.labels.is_empty() || self.paused;
        match self.place(context) {
            Some(namespace) if !filtered => table(jobs).when_empty(format!(
                "no jobs in `{namespace}`; `mainspring jobs -A` lists those of every namespace"
            )),
            None if !filtered => table(jobs),
            _ => table(jobs).when_empty("no jobs like that; `mainspring jobs` lists all".to_owned()),
        }
    }
}

fn table(jobs: &[Job]) -> Table {
    let now = clock();
    Table::new(COLUMNS, "no jobs; `mainspring apply FILE` makes one").rows(jobs.iter().map(|job| {
        let spec = job.spec.as_ref();
        let kind = ["process", "script", "handler"]
            .into_iter()
            .find(|kind| spec.is_some_and(|spec| !spec[kind].is_null()));
        let owner = spec.and_then(|spec| spec["owner"].as_str());
        let (state, style) = if job.pause.is_some() { ("paused", WARN) } else { ("active", GOOD) };
        Row::new(&job.name)
            .cell(&job.name)
            .cell(&job.namespace)
            .cell(job.version)
            .styled(state, style)
            .cell(age(job.updated_at.0, now))
            .cell(kind.unwrap_or_default())
            .cell(owner.unwrap_or_default())
            .cell(job.id)
    }))
}
