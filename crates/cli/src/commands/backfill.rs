//! `mainspring backfill`: makes up for planned moments of the past.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_client::api::{
    Backfill as Standing, BackfillAction, BackfillPlan, BackfillPlanRequest, BackfillRequest, BackfillState,
    Time,
};
use mainspring_model::{BackfillId, BackfillOrder, Reprocess};

use super::trigger::{Which, short};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{BAD, Column, DIM, GOOD, Row, Table, WARN};

/// What `backfill` takes.
#[derive(Debug, Args)]
pub(crate) struct Backfill {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make up for the planned moments of a range
    #[command(after_help = "Examples:\n  \
        mainspring backfill start report --from 2026-11-01T00:00:00Z --dry-run\n  \
        mainspring backfill start report --from 2026-11-01T00:00:00Z --reprocess failed --max-active 4")]
    Start {
        #[command(flatten)]
        which: Which,
        /// Moments from this one on, such as 2026-11-01T00:00:00Z
        #[arg(long, value_name = "TIME")]
        from: Time,
        /// Moments before this one; without it, all that have passed
        #[arg(long, value_name = "TIME")]
        until: Option<Time>,
        /// Which moments go first
        #[arg(long, value_enum, default_value = "oldest")]
        order: Order,
        /// Which moments that had a run run again
        #[arg(long, value_enum, default_value = "none")]
        reprocess: Again,
        /// How many of its runs may be active at once
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        max_active: u32,
        /// service, standard, deferrable or spare, instead of the job's own
        #[arg(long)]
        priority: Option<String>,
        /// Only list what would be done
        #[arg(long)]
        dry_run: bool,
    },
    /// List the backfills of a trigger and how far they got
    List {
        #[command(flatten)]
        which: Which,
    },
    /// Make no more runs of a backfill; those that are active go on
    Stop {
        /// The backfill
        id: BackfillId,
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Order {
    Oldest,
    Newest,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Again {
    None,
    Failed,
    All,
}

const BACKFILLS: &[Column] = &[
    Column::always("BACKFILL"),
    Column::always("TRIGGER"),
    Column::always("STATE"),
    Column::always("FROM"),
    Column::always("UNTIL"),
    Column::always("AT"),
    Column::always("MADE"),
    Column::always("LEFT"),
    Column::always("ACTIVE"),
    Column::always("GOOD"),
    Column::always("FAILED"),
    Column::wide("OTHER"),
    Column::wide("REFUSED"),
    Column::wide("BY"),
    Column::wide("ENDED"),
];
const MOMENTS: &[Column] =
    &[Column::always("LOCAL"), Column::always("UTC"), Column::always("ACTION"), Column::always("LAST RUN")];

impl Backfill {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let namespace = context.namespace();
        match self.verb {
            Verb::Start { which, from, until, order, reprocess, max_active, priority, dry_run } => {
                let name = which.name(context).await?;
                let order = match order {
                    Order::Oldest => BackfillOrder::Oldest,
                    Order::Newest => BackfillOrder::Newest,
                };
                let reprocess = match reprocess {
                    Again::None => Reprocess::None,
                    Again::Failed => Reprocess::Failed,
                    Again::All => Reprocess::All,
                };
                let (client, job) = (&context.client, &which.job);
                if dry_run {
                    let namespace = namespace.map(str::parse).transpose();
                    let namespace =
                        namespace.map_err(|error| Failure::usage(format!("--namespace: {error}")))?;
                    let (order, reprocess) = (Some(order), Some(reprocess));
                    let request = BackfillPlanRequest { namespace, from, until, order, reprocess };
                    let plan = client.plan_backfill(job, &name, &request).await?;
                    context.output.list(&plan.moments, || moments(&plan))?;
                    if plan.truncated {
                        context.output.say(format!("{} moments in all", plan.total));
                    }
                    return Ok(ExitCode::SUCCESS);
                }
                let (max_active, priority) = (Some(max_active), priority.map(Into::into));
                let request =
                    BackfillRequest { from, until, order, reprocess, max_active, priority, id: None };
                let begun = client.start_backfill(namespace, job, &name, &request).await?;
                context.output.one(&begun, || begun.id.to_string())?;
                context.output.say(format!("`mainspring backfill list {job} {name}` shows how far it got"));
            }
            Verb::List { which } => {
                let name = which.name(context).await?;
                let found = context.client.backfills(namespace, &which.job, &name).take(1_000).await?;
                context.output.list(&found, || table(&found))?;
            }
            Verb::Stop { id, which } => {
                let name = which.name(context).await?;
                let stopped = context.client.stop_backfill(namespace, &which.job, &name, id).await?;
                let left = match stopped.active.len() {
                    0 => "none of its runs is active".to_owned(),
                    count => format!("{count} of its runs are still active"),
                };
                context.output.say(format!("{id} makes no more runs; {left}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn moments(plan: &BackfillPlan) -> Table {
    Table::new(MOMENTS, "nothing is planned there").rows(plan.moments.iter().map(|moment| {
        let (word, style) = match moment.action {
            BackfillAction::Run => ("run", GOOD),
            BackfillAction::Again => ("again", WARN),
            BackfillAction::Leave => ("leave", DIM),
        };
        Row::new(moment.planned)
            .cell(&moment.local)
            .cell(short(moment.planned))
            .styled(word, style)
            .cell(moment.run.map(|run| run.to_string()).unwrap_or_default())
    }))
}

fn table(backfills: &[Standing]) -> Table {
    Table::new(BACKFILLS, "no backfills").rows(backfills.iter().map(|one| {
        let style = match one.state {
            BackfillState::Running | BackfillState::Finishing => GOOD,
            BackfillState::Done if one.failed > 0 => BAD,
            BackfillState::Done => DIM,
            BackfillState::Stopped => WARN,
        };
        Row::new(one.id)
            .cell(one.id)
            .cell(&one.trigger)
            .styled(one.state.name(), style)
            .cell(short(one.from))
            .cell(short(one.until))
            .cell(one.cursor.map(short).unwrap_or_default())
            .cell(one.made)
            .cell(one.left)
            .cell(one.active.len())
            .cell(one.succeeded)
            .cell(one.failed)
            .cell(one.other)
            .cell(one.refused)
            .cell(&one.by)
            .cell(one.ended_at.map(short).unwrap_or_default())
    }))
}
