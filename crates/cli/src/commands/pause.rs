//! `mainspring pause JOB` and `mainspring resume JOB`: whether a job's runs start. Runs that run are left alone.

use std::process::ExitCode;

use clap::Args;

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
        }
        for job in &self.jobs {
            context.client.pause_job(context.namespace(), job, &self.message).await?;
            context.output.say(format!("{job} is paused; `mainspring resume {job}` lets it go on"));
        }
        Ok(ExitCode::SUCCESS)
    }

    pub(crate) async fn resume(self, context: &Context) -> Result<ExitCode, Failure> {
        if let Some(cell) = self.cell {
            context.client.resume_cell(cell, &self.message).await?;
            context.output.say(format!("cell {cell} goes on"));
        }
        for job in &self.jobs {
            context.client.resume_job(context.namespace(), job, &self.message).await?;
            context.output.say(format!("{job} goes on"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
