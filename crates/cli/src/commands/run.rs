//! `mainspring run JOB`: a run of a job, now or later.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{Submit as Request, Time};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Failure;
use crate::parameter::{Pair, values_for};

/// What `run` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example: mainspring run nightly-report -p day=2026-01-31 --wait")]
pub(crate) struct Run {
    /// The job, by name or id
    job: String,
    /// A parameter's value, `key=value`; may be repeated
    #[arg(short, long = "param", value_name = "KEY=VALUE")]
    params: Vec<Pair>,
    /// A version of the job instead of the current one
    #[arg(long)]
    version: Option<u32>,
    /// service, standard, deferrable or spare, instead of the job's own
    #[arg(long)]
    priority: Option<String>,
    /// Not before this moment, such as 2026-01-31T08:00:00Z
    #[arg(long, value_name = "TIME")]
    not_before: Option<Time>,
    /// Give up after this moment
    #[arg(long, value_name = "TIME")]
    deadline: Option<Time>,
    /// The same key is the same run, however often it is submitted
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Begin beside other runs of the job, whatever its overlap policy and limit say
    #[arg(long)]
    force: bool,
    /// Stream the output, and end with the task's exit code; with -o json, the output goes to standard error
    #[arg(short, long)]
    wait: bool,
}

impl Run {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let namespace = context.namespace().map(str::parse).transpose();
        let params = values_for(context, &self.job, &self.params).await?;
        let request = Request {
            namespace: namespace.map_err(|error| Failure::usage(format!("--namespace: {error}")))?,
            job: Some(self.job.clone()),
            version: self.version,
            params,
            priority: self.priority.map(Value::from),
            not_before: self.not_before,
            deadline: self.deadline,
            force: self.force,
            idempotency_key: self.key,
            ..Request::default()
        };
        match context.client.submit(&request).await {
            Ok(submitted) => super::submit::report(context, &submitted, self.wait).await,
            Err(error) => Err(context.about_job(error, &self.job).await),
        }
    }
}
