//! `mainspring jobs`: the jobs there are.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::Job;

use super::watching::watch;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Column, Format, GOOD, Row, Table, WARN, age, clock};

/// What `jobs` takes.
#[derive(Debug, Args)]
pub(crate) struct Jobs {
    /// How many at most
    #[arg(long, default_value_t = 500)]
    limit: usize,
    /// Draw the list again whenever something changes
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
    Column::always("CHANGED"),
    Column::wide("RUNS"),
    Column::wide("OWNER"),
    Column::wide("ID"),
];

impl Jobs {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.watch {
            let wide = context.output.format == Format::Wide;
            watch(context, || async { Ok(table(&self.list(context).await?).render(wide)) }).await?;
        } else {
            let jobs = self.list(context).await?;
            context.output.list(&jobs, || table(&jobs))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn list(&self, context: &Context) -> Result<Vec<Job>, Failure> {
        let namespace = context.namespace().filter(|_| !self.all_namespaces);
        let with_spec = !matches!(context.output.format, Format::Table | Format::Name);
        Ok(context.client.jobs(namespace, with_spec).take(self.limit).await?)
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
