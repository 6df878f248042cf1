//! `mainspring rerun RUN`: the same again, as a new run.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{BulkAction, RerunRequest};

use super::bulk::{self, Which};
use crate::context::Context;
use crate::failure::Failure;
use crate::find::Fit;
use crate::parameter::{Pair, typed};

/// What `rerun` takes.
#[derive(Debug, Args)]
pub(crate) struct Rerun {
    /// The run, by id; or a job's name, for its newest run
    #[arg(required_unless_present_any = ["query", "all"])]
    run: Option<String>,
    /// Every run that this query finds, after showing how many
    #[arg(short = 'Q', long, value_name = "WORDS", conflicts_with_all = ["run", "params", "wait", "latest", "force"])]
    query: Option<String>,
    /// Every run that is over, in every namespace or in that of -n, after showing how many
    #[arg(long, conflicts_with_all = ["run", "query", "params", "wait", "latest", "force"])]
    all: bool,
    /// With the job's current version instead of the run's
    #[arg(long)]
    latest: bool,
    /// A parameter's value instead of the run's, `key=value`; may be repeated
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    params: Vec<Pair>,
    /// Begin beside other runs of the job, whatever its overlap policy and limit say
    #[arg(long)]
    force: bool,
    /// Stream the output, and end with the task's exit code; with -o json, the output goes to standard error
    #[arg(short, long)]
    wait: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Rerun {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(which) = Which::of(self.query.as_deref(), self.all)? {
            return bulk::act(context, BulkAction::Rerun, "Rerun", which, self.yes).await;
        }
        let id = context.find_run_that(self.run.as_deref().unwrap_or_default(), Fit::Ended).await?;
        let params = if self.params.is_empty() {
            None
        } else {
            // Values that are not named stay as they were.
            let old = context.client.run(id).await?.params;
            let mut values = old.and_then(|old| old.as_object().cloned()).unwrap_or_default();
            values.extend(typed(&context.client.run_spec(id).await?, &self.params));
            Some(values)
        };
        let request = RerunRequest { latest: self.latest, params, force: self.force, idempotency_key: None };
        let submitted = context.client.rerun(id, &request).await?;
        super::submit::report(context, &submitted, self.wait).await
    }
}
