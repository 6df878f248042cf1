//! Waiting for a run at the terminal: its output as it is written, what it waits for, and its exit code at the end.

use std::convert::Infallible;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use mainspring_client::api::{Progress, Run};
use mainspring_client::{LogFollow, LogQuery};
use mainspring_model::{RunId, RunState};

use crate::commands::runs::attempt_of;
use crate::context::Context;
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::output::{DIM, Output, Paint, state_style};
use crate::task_output::TaskOutput;

/// How long a run may be silent before the person is told what it waits for.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often the progress of a run is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long the rest of the log may take once the run has ended.
const REST_MAX: Duration = Duration::from_secs(10);

/// Streams the output of a run until it has ended; gives the run.
pub(crate) async fn to_end(context: &Context, id: RunId, limit: Option<Duration>) -> Result<Run, Failure> {
    let work = async {
        let mut log = context.client.follow_logs(id, &LogQuery::default());
        let mut printer = TaskOutput::new(context.output, false);
        let ended = context.client.wait(id);
        tokio::pin!(ended);
        let patience = tokio::time::sleep(PATIENCE);
        tokio::pin!(patience);
        let mut told = false;
        let mut log_open = true;
        loop {
            tokio::select! {
                event = log.next(), if log_open => {
                    told = true;
                    match event? {
                        Some(event) => printer.show(&event)?,
                        None => log_open = false,
                    }
                }
                run = &mut ended => {
                    let run = run?;
                    if log_open {
                        rest(context.output, &mut log, &mut printer).await?;
                    }
                    return Ok::<Run, Failure>(run);
                }
                () = &mut patience, if !told => {
                    told = true;
                    tell_why(context, id).await;
                }
            }
        }
    };
    let stopped = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        run = work => run,
        never = tell_progress(context, id) => match never {},
        () = stopped => Err(Failure::new(Exit::Timeout, format!("{id} has not ended in time"))
            .hint(format!("it goes on; `mainspring wait {id}` waits again, `mainspring cancel {id}` ends it"))),
        _ = tokio::signal::ctrl_c() => Err(Failure::new(Exit::Interrupted, format!("{id} goes on without you"))
            .hint(format!("`mainspring logs -f {id}` follows it again, `mainspring cancel {id}` ends it"))),
    }
}

/// Tells a person at a terminal what the task says about its progress, in a line whenever it differs. Never ends by itself.
async fn tell_progress(context: &Context, id: RunId) -> Infallible {
    let output = context.output;
    if output.quiet || output.format.is_for_programs() || !std::io::stderr().is_terminal() {
        return std::future::pending().await;
    }
    let mut last = String::new();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        // A look that fails is made up for by the next; what is wrong with the server, the wait for the end tells.
        let Ok(run) = context.client.run(id).await else { continue };
        if let Some(progress) = run.progress.filter(|_| run.state == RunState::Running) {
            let words = percentage(&progress);
            if words != last {
                output.say((&words).paint(DIM));
                last = words;
            }
        }
    }
}

/// How far a task is: `40 % reading`.
pub(crate) fn percentage(progress: &Progress) -> String {
    format!("{:.0} % {}", progress.fraction * 100.0, progress.message).trim_end().to_owned()
}

/// The exit code for a run that has ended, said to the person unless all went well.
pub(crate) fn verdict(output: Output, run: &Run) -> ExitCode {
    if run.state != RunState::Success {
        output.say(sentence(run));
    }
    ExitCode::from(exit::of_cause(run.state, run.cause.as_ref()))
}

/// How a run ended, in a line.
pub(crate) fn sentence(run: &Run) -> String {
    let mut words = format!("{} {}", run.id, run.state.name().paint(state_style(run.state)));
    if let Some(cause) = &run.cause {
        words.push_str(&format!(": {}", cause.message));
    }
    if run.attempt > 1 {
        words.push_str(&format!(" (attempt {})", attempt_of(run)));
    }
    words
}

async fn rest(output: Output, log: &mut LogFollow, printer: &mut TaskOutput) -> Result<(), Failure> {
    let all = async {
        while let Some(event) = log.next().await? {
            printer.show(&event)?;
        }
        Ok::<(), Failure>(())
    };
    match tokio::time::timeout(REST_MAX, all).await {
        Ok(done) => done,
        Err(_) => {
            output.say("the rest of the output has not arrived yet; `mainspring logs` shows it later");
            Ok(())
        }
    }
}

async fn tell_why(context: &Context, id: RunId) {
    if let Ok(why) = context.client.why(id).await
        && !why.state.is_terminal()
        && why.state != RunState::Running
    {
        context.output.say(format!("{}: {}", why.state.name(), why.summary).paint(DIM));
        if let Some(reason) = &why.reason {
            context.output.say(format!("next: {}", reason.remedy).paint(DIM));
        }
    }
}
