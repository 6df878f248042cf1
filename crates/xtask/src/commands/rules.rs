//! `cargo xtask rules`: every house rule over the whole checkout.
//!
//! All rules are run, so that one visit shows everything there is to mend; any failure fails the command.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::interrupt::{self, Interrupted};
use crate::rules::{Findings, OF_PROGRAMS, OF_SOURCES, Rule, Subject};
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    check(workspace, OF_SOURCES.iter().chain(OF_PROGRAMS))?;
    Ok(ExitCode::SUCCESS)
}

/// Fails when any of these rules is broken, after all of them were checked.
pub(crate) fn check(workspace: &Workspace, rules: impl IntoIterator<Item = &'static Rule>) -> Result<()> {
    let subject = Subject { workspace, sources: workspace.sources()? };
    let mut broken = Vec::new();
    for rule in rules {
        interrupt::check()?;
        let findings = look(rule, &subject)?;
        println!("  {} {}", if findings.failures.is_empty() { "ok    " } else { "BROKEN" }, rule.name);
        for failure in &findings.failures {
            println!("           {failure}");
        }
        for note in &findings.notes {
            println!("           note: {note}");
        }
        if !findings.failures.is_empty() {
            println!("           => {}", rule.remedy);
            broken.push(rule.name);
        }
    }
    if !broken.is_empty() {
        bail!("house rules broken: {}", broken.join(", "));
    }
    Ok(())
}

/// A rule that cannot look is broken, not silent; only an interruption ends the round early.
fn look(rule: &Rule, subject: &Subject<'_>) -> Result<Findings> {
    match (rule.check)(subject) {
        Err(error) if error.is::<Interrupted>() => Err(error),
        Err(error) => Ok(Findings::failures([format!("{error:#}")])),
        Ok(findings) => Ok(findings),
    }
}
