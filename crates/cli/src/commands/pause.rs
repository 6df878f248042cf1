//! `mainspring pause JOB` and `mainspring resume JOB`: whether a job's runs start. Runs that run are left alone.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::Job;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

/// What `pause` and `resume` take.
#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// The jobs, by name or id
    #[arg(value_name = "JOB", required_unless_present = "cell")]
    jobs: Vec<String>,
    /// Why, for those who come after
    #[arg(short, long, default_value = "")]
    message: String,
    /// A whole cell instead of a job
    #[arg(long, value_name = "NUMBER", conflicts_with = "jobs")]
    cell: Option<u16>,
}

impl Pause {
    pub(crate) async fn pause(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(cell) = self.cell {
            context.client.pause_cell(cell, &self.message).await?;
            context.output.say(format!("cell {cell} starts nothing until it is resumed"));
            context.output.changed(&json!({ "cell": cell, "paused": true }))?;
        }
        let mut changed = Vec::new();
        for job in &self.jobs {
            match context.client.pause_job(context.namespace(), job, &self.message).await {
                Ok(after) => changed.push(after),
                Err(error) => return Err(context.about_job(error, job).await),
            }
            context.output.say(format!("{job} is paused; `mainspring resume {job}` lets it go on"));
        }
        self.print(context, &changed)
    }

    pub(crate) async fn resume(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(cell) = self.cell {
            context.client.resume_cell(cell, &self.message).await?;
            context.output.say(format!("cell {cell} goes on"));
            context.output.changed(&json!({ "cell": cell, "paused": false }))?;
        }
        let mut changed = Vec::new();
        for job in &self.jobs {
            match context.client.resume_job(context.namespace(), job, &self.message).await {
                Ok(after) => changed.push(after),
                Err(error) => return Err(context.about_job(error, job).await),
            }
            context.output.say(format!("{job} goes on"));
        }
        self.print(context, &changed)
    }

    /// The jobs after the change, for programs.
    fn print(&self, context: &Context, jobs: &[Job]) -> Result<ExitCode, Failure> {
        if self.cell.is_none() {
            context.output.changed(&json!({ "items": jobs }))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
