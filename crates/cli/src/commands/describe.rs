//! `mainspring describe THING`: all there is to know about a run, a job or a node.

use std::fmt::Write;
use std::process::ExitCode;

use anstyle::Style;
use clap::Args;
use mainspring_client::api::{Attempt, Job, Node, Run, Time, TimelineEntry, Why};
use mainspring_model::{NodeId, RunId};
use serde_json::json;

use super::nodes::{labels, running, state};
use super::runs::{attempt_of, took};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::language::{message, remedy};
use crate::narrator::percentage;
use crate::output::{BOLD, Paint, bytes, plain, plain_lines, span, state_style, yaml};

/// What `describe` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring describe run_01…\n  mainspring describe nightly-report\n  \
    mainspring describe node/worker-1")]
pub(crate) struct Describe {
    /// A run's id, a job's name or id, a node's id, or node/NAME
    thing: String,
}

impl Describe {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        if self.thing.starts_with("run_") {
            let id: RunId = context.find_run(&self.thing).await?;
            describe_run(context, id).await?;
        } else if self.thing.parse::<NodeId>().is_ok() || self.thing.starts_with("node/") {
            let word = self.thing.strip_prefix("node/").unwrap_or(&self.thing);
            let node = context.client.node(context.find_node(word).await?).await?;
            context.output.one(&node, || node_text(&node))?;
        } else {
            let name = self.thing.strip_prefix("job/").unwrap_or(&self.thing);
            let job = match context.job(name).await {
                Ok(job) => job,
                Err(failure) => return Err(or_node(context, failure, name).await),
            };
            let since = context.client.job_version(context.namespace(), name, job.version).await;
            let text = job_text(&job, since.ok().map(|version| version.created_at))?;
            context.output.one(&job, || text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A word that is no job may be a node.
async fn or_node(context: &Context, failure: Failure, word: &str) -> Failure {
    if failure.exit != Exit::NotFound || context.find_node(word).await.is_err() {
        return failure;
    }
    failure.hint(format!("a node is called so: `mainspring describe node/{word}`"))
}

async fn describe_run(context: &Context, id: RunId) -> Result<(), Failure> {
    let client = &context.client;
    let (run, why) = (client.run(id).await?, client.why(id).await?);
    let (attempts, timeline) = (client.attempts(id).await?, client.timeline(id).await?);
    let whole = json!({ "run": run, "why": why, "attempts": attempts, "timeline": timeline });
    context.output.one(&whole, || run_text(&run, &why, &attempts, &timeline))
}

fn run_text(run: &Run, why: &Why, attempts: &[Attempt], timeline: &[TimelineEntry]) -> String {
    let mut text = String::new();
    let mut styled = |name: &str, value: String, style: Style| {
        if !value.is_empty() {
            let _ = writeln!(text, "{:<12} {}", format!("{name}:"), plain(&value).paint(style));
        }
    };
    styled("Run", run.id.to_string(), BOLD);
    let job = format!("{} version {}", run.job_name.as_deref().unwrap_or("-"), run.job_version);
    styled("Job", job, Style::new());
    styled("Namespace", run.namespace.to_string(), Style::new());
    styled("State", run.state.name().to_owned(), state_style(run.state));
    let mut line = |name: &str, value: String| styled(name, value, Style::new());
    line("Why", why.reason.as_ref().map_or(why.summary.as_str(), message).to_owned());
    line("Next step", why.reason.as_ref().map(remedy).unwrap_or_default().to_owned());
    line("Attempt", attempt_of(run));
    line("Node", node_of(run.node_name.as_deref(), run.node));
    line("Submitted", format!("{} by {}", run.created_at, run.submitted_by));
    if let Some(progress) = &run.progress {
        line("Progress", percentage(progress));
    }
    line("Took", took(run));
    if let Some(usage) = run.usage {
        let cpu = span(std::time::Duration::from_micros(usage.cpu_us));
        let memory = Some(usage.memory_peak_bytes).filter(|bytes| *bytes > 0);
        let memory = memory.map(|peak| format!(", {} of memory", bytes(peak))).unwrap_or_default();
        line("Used", format!("{cpu} of CPU{memory}"));
    }
    line("Labels", labels(&run.labels));
    line("Parameters", run.params.as_ref().map(ToString::to_string).unwrap_or_default());
    line("Result", run.result.as_ref().map(ToString::to_string).unwrap_or_default());
    if run.maybe_doubled {
        line("Note", "two attempts may have executed at once".to_owned());
    }
    if attempts.len() > 1 {
        text.push_str("\nAttempts:\n");
        for attempt in attempts {
            let cause = attempt.cause.as_ref().map_or("under way", |cause| &cause.message);
            let node = node_of(attempt.node_name.as_deref(), attempt.node);
            let _ = writeln!(text, "  {} on {}: {}", attempt.number, plain(&node), plain(cause));
        }
    }
    text.push_str("\nTimeline:\n");
    for entry in timeline {
        let _ = writeln!(text, "  {}  {}", entry.at, plain(&entry.message));
    }
    text
}

/// What people call it, and its id.
fn node_of(name: Option<&str>, id: Option<NodeId>) -> String {
    match (name, id) {
        (Some(name), Some(id)) => format!("{name} ({id})"),
        (None, Some(id)) => id.to_string(),
        (_, None) => String::new(),
    }
}

fn job_text(job: &Job, since: Option<Time>) -> Result<String, Failure> {
    let mut text = String::new();
    let _ = writeln!(text, "Job:         {}", plain(&job.name).paint(BOLD));
    let _ = writeln!(text, "Id:          {}", job.id);
    let _ = writeln!(text, "Namespace:   {}", job.namespace);
    let since = since.map(|since| format!(" (since {since})")).unwrap_or_default();
    let _ = writeln!(text, "Version:     {}{since}", job.version);
    match &job.pause {
        Some(pause) => {
            let note = if pause.note.is_empty() { String::new() } else { format!(": {}", pause.note) };
            let _ = writeln!(
                text,
                "State:       paused by {} since {}{}",
                plain(&pause.by),
                pause.at,
                plain(&note)
            );
        }
        None => text.push_str("State:       active\n"),
    }
    if let Some(spec) = &job.spec {
        let _ = write!(text, "\n{}", plain_lines(&yaml(spec)?));
    }
    Ok(text)
}

fn node_text(node: &Node) -> String {
    let mut text = String::new();
    let (state, style) = state(node);
    let _ = writeln!(text, "Node:        {}", plain(&node.name).paint(BOLD));
    let _ = writeln!(text, "Id:          {}", node.id);
    let _ = writeln!(text, "Pool:        {}", plain(&node.pool));
    let _ = writeln!(text, "State:       {}", state.paint(style));
    if let Some(deadline) = node.drain_deadline {
        let _ = writeln!(text, "Empty by:    {deadline}");
    }
    let _ = writeln!(text, "Running:     {} slots", running(node));
    let _ =
        writeln!(text, "Cores:       {}", mainspring_model::quantity::format_milli(node.capacity.cpu_milli));
    let _ = writeln!(text, "Memory:      {}", bytes(node.capacity.memory_bytes));
    let _ = writeln!(text, "Labels:      {}", plain(&labels(&node.labels)));
    if !node.handlers.is_empty() {
        let _ = writeln!(text, "Handlers:    {}", plain(&node.handlers.join(", ")));
    }
    let _ = writeln!(text, "Joined:      {}", node.joined_at);
    if let Some(seen) = node.seen_at {
        let _ = writeln!(text, "Last seen:   {seen}");
    }
    text
}
