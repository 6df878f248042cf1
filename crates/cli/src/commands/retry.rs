//! `mainspring retry RUN…`: a failed run is tried again now, without waiting for its back-off. A run that has failed for good
//! is over: `rerun` makes a new one of it.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::BulkAction;
use mainspring_model::{ErrorCode, RunId};

use crate::context::Context;
use crate::failure::Failure;

/// What `retry` takes.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The runs, by id
    #[arg(value_name = "RUN", required_unless_present = "query")]
    runs: Vec<RunId>,
    /// Every run that this query finds, after showing how many
    #[arg(short = 'Q', long, value_name = "WORDS", conflicts_with = "runs")]
    query: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(query) = &self.query {
            return super::bulk::act(context, BulkAction::Retry, "Retry", query, self.yes).await;
        }
        for id in self.runs {
            context.client.retry(id).await.map_err(|error| {
                let over = error.code() == Some(ErrorCode::IllegalState);
                let failure = Failure::from(error).about(id);
                if over {
                    failure.hint(format!("`mainspring rerun {id}` makes a new run of it"))
                } else {
                    failure
                }
            })?;
            context.output.say(format!("{id} is queued again"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
