//! `mainspring why RUN`: why a run is where it is, and what would unblock it.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::Why as Answer;
use mainspring_model::RunState;

use crate::context::Context;
use crate::failure::Failure;
use crate::language::{message, of_both, remedy};
use crate::output::{BOLD, DIM, Paint, plain, state_style};

/// What `why` takes.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The run, by id; or a job's name, for its newest run
    run: String,
}

impl Why {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let id = context.find_run(&self.run).await?;
        let why = context.client.why(id).await?;
        context.output.one(&why, || text(&why))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn text(why: &Answer) -> String {
    let reason = why.reason.as_ref().map_or_else(|| of_both(&why.summary, &why.summary_zh), message);
    let mut text = format!("{}: {}", why.state.name().paint(state_style(why.state)), plain(reason));
    if !why.state.is_terminal()
        && let Some(reason) = &why.reason
    {
        text.push_str(&format!("\n{} {}", "next:".paint(BOLD), plain(remedy(reason))));
    }
    if why.state == RunState::FinalFailed {
        let id = why.id;
        let next =
            format!("`mainspring logs {id}` shows what it wrote; `mainspring rerun {id}` runs it again");
        text.push_str(&format!("\n{} {next}", "next:".paint(BOLD)));
    }
    if !why.live && !why.state.is_terminal() {
        text.push_str(&format!("\n{}", "(as last written: no scheduler owns its cell right now)".paint(DIM)));
    }
    text
}
