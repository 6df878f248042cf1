//! `mainspring retry RUN…`: a failed run is tried again now, without waiting for its back-off, and one of a quarantined job is let
//! go. A run that has failed for good is over: `rerun` makes a new one of it.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::Error;
use mainspring_client::api::BulkAction;
use mainspring_model::{ErrorCode, RunId};

use super::bulk::{self, Which};
use crate::context::Context;
use crate::failure::Failure;
use crate::find::Fit;

/// What `retry` takes.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The runs, by id; or a job's name, for its newest run that waits to be tried again
    #[arg(value_name = "RUN", required_unless_present_any = ["query", "all"])]
    runs: Vec<String>,
    /// Every run that this query finds, after showing how many
    #[arg(short = 'Q', long, value_name = "WORDS", conflicts_with = "runs")]
    query: Option<String>,
    /// Every failed run, in every namespace or in that of -n, after showing how many
    #[arg(long, conflicts_with_all = ["runs", "query"])]
    all: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(which) = Which::of(self.query.as_deref(), self.all)? {
            return bulk::act(context, BulkAction::Retry, "Retry", which, self.yes).await;
        }
        let mut runs = Vec::new();
        for word in &self.runs {
            let id = context.find_run_that(word, Fit::Failed).await?;
            let run = match context.client.retry(id).await {
                Ok(run) => run,
                Err(error) => return Err(refused(context, id, error).await),
            };
            context.output.say(format!("{id} is queued again"));
            runs.push(run);
        }
        if context.output.format.is_for_programs() {
            context.output.list(&runs, || super::runs::table(&runs))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The failure, with what can be done about a run that is over.
async fn refused(context: &Context, id: RunId, error: Error) -> Failure {
    let unfit = error.code() == Some(ErrorCode::IllegalState);
    let failure = Failure::from(error).about(id);
    // `rerun` refuses one that is not over.
    if !unfit || context.client.run(id).await.is_ok_and(|run| !run.state.is_terminal()) {
        return failure;
    }
    failure.hint(format!("`mainspring rerun {id}` makes a new run of it"))
}
