//! `mainspring queue`: what waits, and for what.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{Queue as Report, QueueItem};

use super::watching::watch;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Column, Row, Table, age, clock};

/// What `queue` takes.
#[derive(Debug, Args)]
pub(crate) struct Queue {
    /// Draw the list again whenever something changes; with -o json, the whole list on one line each time
    #[arg(short, long)]
    watch: bool,
}

const COLUMNS: &[Column] = &[
    Column::always("JOB"),
    Column::always("RUNS"),
    Column::clock("OLDEST"),
    Column::always("POOL"),
    Column::always("WAITS FOR"),
    Column::wide("NEXT"),
];

impl Queue {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.watch {
            watch(context, || async { Ok(ask(context).await?.items) }, table).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let queue = ask(context).await?;
        context.output.list(&queue.items, || table(&queue.items))?;
        if queue.partial {
            context.output.say("more runs wait in the store than are listed");
        }
        if !queue.unanswered.is_empty() {
            context.output.say(format!(
                "the owners of {} cells did not answer: what waits there is not listed",
                queue.unanswered.len()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn ask(context: &Context) -> Result<Report, Failure> {
    Ok(context.client.queue(context.namespace()).await?)
}

fn table(items: &[QueueItem]) -> Table {
    let now = clock();
    Table::new(COLUMNS, "nothing waits").rows(items.iter().map(|item| {
        Row::new(item.first)
            .cell(format!("{}/{}", item.namespace, item.job_name))
            .cell(item.count)
            .cell(age(item.oldest.0, now))
            .cell(&item.pool)
            .cell(&item.reason.message)
            .cell(&item.reason.remedy)
    }))
}
