//! Waiting for a run at the terminal: its output as it is written, what it waits for, and its exit code at the end.

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mainspring_client::api::Run;
use mainspring_client::{LogEvent, LogFollow, LogQuery};
use mainspring_model::{RunId, RunState};
use tokio::sync::Notify;

use crate::commands::runs::attempt_of;
use crate::context::Context;
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::narrator::Narrator;
use crate::output::{Output, Paint, plain, state_style};
use crate::task_output::TaskOutput;

/// How long the rest of the log may take once the run has ended.
const REST_MAX: Duration = Duration::from_secs(10);

/// How long a server that took the run may be away.
const AWAY_MAX: Duration = Duration::from_secs(120);
/// How long a server that is away is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Streams the output of a run until it has ended; gives the run. A server that goes away meanwhile is waited for, from the
/// start: it took the run.
pub(crate) async fn to_end(context: &Context, id: RunId, limit: Option<Duration>) -> Result<Run, Failure> {
    let stopped = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        run = watch(context, id) => run,
        () = stopped => Err(Failure::new(Exit::Timeout, format!("{id} has not ended in time"))
            .hint(format!("it goes on; `mainspring wait {id}` waits again, `mainspring cancel {id}` ends it"))),
        _ = tokio::signal::ctrl_c() => Err(Failure::new(Exit::Interrupted, format!("{id} goes on without you"))
            .hint(format!("`mainspring logs -f {id}` follows it again, `mainspring cancel {id}` ends it"))),
    }
}

async fn watch(context: &Context, id: RunId) -> Result<Run, Failure> {
    let narrator = RefCell::new(Narrator::new(context.output));
    let speaks = !context.output.quiet && !context.output.format.is_for_programs();
    let (seen_at, looked) = (Cell::new(Instant::now()), Notify::new());
    let see = |run: &Run| {
        seen_at.set(Instant::now());
        looked.notify_one();
        if speaks {
            narrator.borrow_mut().see(run);
        }
    };
    let mut log = context.client.follow_logs(id, &LogQuery::default());
    let mut printer = TaskOutput::new(context.output, false);
    let ended = async {
        loop {
            match context.client.wait_seeing(id, see).await {
                // It took the run a moment ago: it is away, not missing.
                Err(error) if error.is_transient() && seen_at.get().elapsed() < AWAY_MAX => {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                ended => return ended,
            }
        }
    };
    tokio::pin!(ended);
    let (mut log_open, mut log_away, mut told_away) = (true, false, false);
    loop {
        let waits_since = narrator.borrow().waits_since().filter(|_| speaks);
        tokio::select! {
            event = log.next(), if log_open && !log_away => match event {
                Ok(Some(event)) => {
                    let bar = narrator.borrow().bar();
                    bar.suspend(|| printer.show(&event))?;
                }
                Ok(None) => log_open = false,
                Err(error) if error.is_transient() => {
                    log_away = true;
                    if !std::mem::replace(&mut told_away, true) {
                        let bar = narrator.borrow().bar();
                        bar.suspend(|| printer.show(&LogEvent::Away))?;
                    }
                }
                Err(error) => return Err(error.into()),
            },
            // The server is there again; the log goes on where it was.
            () = looked.notified(), if log_away => log_away = false,
            run = &mut ended => {
                let run = run?;
                if log_open {
                    rest(context.output, &mut log, &mut printer).await?;
                }
                return Ok(run);
            }
            () = Narrator::patience(waits_since) => {
                let why = context.client.why(id).await.ok();
                narrator.borrow_mut().explain(why.as_ref());
            }
        }
    }
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
        words.push_str(&format!(": {}", plain(&cause.message)));
    }
    if run.attempt > 1 {
        words.push_str(&format!(" (attempt {})", attempt_of(run)));
    }
    words
}

async fn rest(output: Output, log: &mut LogFollow, printer: &mut TaskOutput) -> Result<(), Failure> {
    let all = async {
        loop {
            match log.next().await {
                Ok(Some(event)) => printer.show(&event)?,
                Ok(None) => return Ok::<(), Failure>(()),
                Err(error) if error.is_transient() => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => return Err(error.into()),
            }
        }
    };
    match tokio::time::timeout(REST_MAX, all).await {
        Ok(done) => done,
        Err(_) => {
            output.say("the rest of the output has not arrived yet; `mainspring logs` shows it later");
            Ok(())
        }
    }
}
