//! `mainspring cancel RUN…`: ends runs; the task is asked first, then killed with all its children.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::BulkAction;

use super::bulk::{self, Which};
use crate::context::Context;
use crate::failure::Failure;
use crate::find::Fit;
use crate::follow::sentence;

/// What `cancel` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring cancel run_01…\n  \
    mainspring cancel --query 'job:etl state:waiting'")]
pub(crate) struct Cancel {
    /// The runs, by id; or a job's name, for its newest run that is not over
    #[arg(value_name = "RUN", required_unless_present_any = ["query", "all"])]
    runs: Vec<String>,
    /// Every run that this query finds, after showing how many
    #[arg(short = 'Q', long, value_name = "WORDS", conflicts_with = "runs")]
    query: Option<String>,
    /// Every run that is not over, in every namespace or in that of -n, after showing how many
    #[arg(long, conflicts_with_all = ["runs", "query"])]
    all: bool,
    /// Without time to stop by itself
    #[arg(long)]
    kill: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Cancel {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(which) = Which::of(self.query.as_deref(), self.all)? {
            let action = if self.kill { BulkAction::Kill } else { BulkAction::Cancel };
            return bulk::act(context, action, "Cancel", which, self.yes).await;
        }
        let mut runs = Vec::new();
        for word in &self.runs {
            let id = context.find_run_that(word, Fit::Active).await?;
            let run =
                context.client.cancel(id, self.kill).await.map_err(|error| Failure::from(error).about(id))?;
            if run.state.is_terminal() {
                context.output.say(sentence(&run));
            } else {
                context.output.say(format!("{id} is asked to stop"));
            }
            runs.push(run);
        }
        if context.output.format.is_for_programs() {
            context.output.list(&runs, || super::runs::table(&runs))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
