//! `mainspring doctor`: what is wrong here or there, and what to do about it.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{Doctor as Report, Severity};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{BAD, BOLD, DIM, GOOD, Paint, WARN, plain};

/// What `doctor` takes.
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let readiness = context.client.readiness().await?;
        if !readiness.ready {
            context
                .output
                .say(format!("the server is not ready; it waits for {}", readiness.waits_for.join(", ")));
        }
        let report = context.client.doctor().await?;
        context.output.one(&report, || text(context, &report))?;
        if report.healthy { Ok(ExitCode::SUCCESS) } else { Err(Failure::silent(Exit::Failed)) }
    }
}

fn text(context: &Context, report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let (word, style) = match finding.severity {
            Severity::Failure => ("failure", BAD),
            Severity::Warning => ("warning", WARN),
            Severity::Note => ("note", DIM),
        };
        text.push_str(&format!(
            "{} {}\n  {} {}\n",
            format!("{word}:").paint(style),
            plain(&finding.message),
            "next:".paint(BOLD),
            plain(&finding.remedy)
        ));
    }
    if report.healthy {
        text.push_str(&format!("{} {} is well", "ok".paint(GOOD), context.client.url()));
        text.push_str(&format!(" ({})", report.checked.join(", ")));
    }
    text
}
