//! `mainspring delete JOB…`: removes jobs; the history of their runs stays.

use std::process::ExitCode;

use clap::Args;

use crate::ask::confirm;
use crate::context::Context;
use crate::failure::Failure;

/// What `delete` takes.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The jobs, by name or id
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        confirm(&format!("Delete {}?", self.jobs.join(", ")), self.yes)?;
        for job in &self.jobs {
            if let Err(error) = context.client.delete_job(context.namespace(), job).await {
                return Err(context.about_job(error, job).await);
            }
            context.output.say(format!("{job} is deleted"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
