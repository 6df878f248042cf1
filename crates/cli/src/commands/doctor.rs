//! `mainspring doctor`: what is wrong here or there, and what to do about it.

use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{Doctor as Report, Finding, Severity};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::language::of_both;
use crate::output::{BAD, BOLD, DIM, GOOD, Paint, WARN, clock, plain};

/// What `doctor` takes.
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let readiness = context.client.readiness().await?;
        let report = match context.client.doctor().await {
            Err(error) if !readiness.ready && error.is_transient() => unready(&readiness.waits_for),
            report => report?,
        };
        context.output.one(&report, || text(context, &report))?;
        if report.healthy { Ok(ExitCode::SUCCESS) } else { Err(Failure::silent(Exit::Failed)) }
    }
}

/// What is known of a server that cannot look around.
fn unready(waits_for: &[String]) -> Report {
    let remedy = match waits_for.iter().any(|what| what == "store") {
        true => "look whether the database is up and reached from the server; its log says more",
        false => "wait a few seconds for a takeover; if it lasts, start a server with the role scheduler",
    };
    let message = format!("the server is not ready: it waits for {}", waits_for.join(", "));
    let severity = Severity::Failure;
    let finding = Finding {
        severity,
        check: "ready".into(),
        message,
        remedy: remedy.into(),
        message_zh: String::new(),
        remedy_zh: String::new(),
        subject: None,
        since: None,
    };
    Report { at: clock().into(), healthy: false, findings: vec![finding], checked: vec!["ready".into()] }
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
            plain(of_both(&finding.message, &finding.message_zh)),
            "next:".paint(BOLD),
            plain(of_both(&finding.remedy, &finding.remedy_zh))
        ));
    }
    if report.healthy {
        text.push_str(&format!("{} {} is well", "ok".paint(GOOD), context.client.url()));
        text.push_str(&format!(" ({})", report.checked.join(", ")));
    }
    text
}
