//! `mainspring wait RUN…`: until they have ended; ends with the exit code of the task.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::Run;

use crate::context::Context;
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::flag;
use crate::follow::sentence;

/// What `wait` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example: mainspring wait run_01… --timeout 10m")]
pub(crate) struct Wait {
    /// The runs, by id; or a job's name, for its newest run
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// How long at most, such as 10m; then the exit code is 124
    #[arg(long, value_name = "DURATION", value_parser = flag::duration)]
    timeout: Option<String>,
}

impl Wait {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let limit = self.timeout.as_deref().map(mainspring_model::duration_text::parse).transpose();
        let limit = limit.map_err(|error| Failure::usage(format!("--timeout: {error}")))?;
        let work = async {
            let mut worst = 0;
            let mut ended: Vec<Run> = Vec::new();
            for word in &self.runs {
                let id = context.find_run(word).await?;
                let run = context.client.wait(id).await?;
                if !context.output.format.is_for_programs() {
                    context.output.say(sentence(&run));
                }
                worst = worst.max(exit::of_cause(run.state, run.cause.as_ref()));
                ended.push(run);
            }
            if context.output.format.is_for_programs() {
                context.output.list(&ended, || super::runs::table(&ended))?;
            }
            Ok::<ExitCode, Failure>(ExitCode::from(worst))
        };
        let late = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            done = work => done,
            () = late => Err(Failure::new(Exit::Timeout, "not ended in time")
                .hint("`mainspring why RUN` says what it waits for")),
            _ = tokio::signal::ctrl_c() => Err(Failure::silent(Exit::Interrupted)),
        }
    }
}
