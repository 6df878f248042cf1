//! `mainspring priority RUN… PRIORITY`: runs are made more or less important after they were asked for.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{BulkAction, PriorityRequest};
use serde_json::Value;

use super::bulk::{self, Which};
use crate::context::Context;
use crate::failure::Failure;
use crate::find::Fit;

/// What `priority` takes.
#[derive(Debug, Args)]
pub(crate) struct Priority {
    /// The class: service, standard, deferrable or spare; or a level from 0 to 100 within standard
    #[arg(value_name = "PRIORITY")]
    priority: String,
    /// The runs, by id; or a job's name, for its newest run that is not over
    #[arg(value_name = "RUN", required_unless_present_any = ["query", "all"])]
    runs: Vec<String>,
    /// Every run that this query finds, after showing how many
    #[arg(short = 'Q', long, value_name = "WORDS", conflicts_with = "runs")]
    query: Option<String>,
    /// Every run that is not over, in every namespace or in that of -n, after showing how many
    #[arg(long, conflicts_with_all = ["runs", "query"])]
    all: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Priority {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let priority = match self.priority.parse::<u32>() {
            Ok(level) => Value::from(level),
            Err(_) => Value::from(self.priority.as_str()),
        };
        if let Some(which) = Which::of(self.query.as_deref(), self.all)? {
            let action = bulk::Deed { action: BulkAction::Prioritise, priority: Some(priority) };
            return bulk::act(context, action, "Change the priority of", which, self.yes).await;
        }
        let request = PriorityRequest { priority };
        let mut runs = Vec::new();
        for word in &self.runs {
            let id = context.find_run_that(word, Fit::Active).await?;
            let run = context.client.prioritise(id, &request).await;
            let run = run.map_err(|error| Failure::from(error).about(id))?;
            context.output.say(format!("{id} has the priority {}", self.priority));
            runs.push(run);
        }
        if context.output.format.is_for_programs() {
            context.output.list(&runs, || super::runs::table(&runs))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
