//! `mainspring apply` and `mainspring plan`: job files made true. The server tells what would change; that is shown, and then
//! done under the condition that nothing changed in between.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mainspring_client::api::{Job, PutOutcome, VersionOrigin};
use mainspring_client::{JobText, PutJob};
use mainspring_model::JobSpec;
use mainspring_model::spec::Format;
use serde::Serialize;

use super::difference;
use crate::ask::confirm;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job_file::{self, FileJob};
use crate::output::{Paint, WARN, count, plain};

/// What `apply` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring apply jobs/\n  mainspring apply --yes etl.yaml report.toml")]
pub(crate) struct Apply {
    #[command(flatten)]
    files: Files,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Why, for those who come after: stands beside the new versions
    #[arg(short, long, value_name = "NOTE", default_value = "", hide_default_value = true)]
    message: String,
}

/// What `plan` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example: mainspring plan jobs/")]
pub(crate) struct Plan {
    #[command(flatten)]
    files: Files,
}

#[derive(Debug, Args)]
struct Files {
    /// Job files, each of one job or several, directories of them, or `-` for standard input (YAML or JSON)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A job as a file wants it, and what that would change.
struct Planned {
    spec: JobSpec,
    text: Option<(String, Format)>,
    namespace: Option<String>,
    would: Job,
}

impl Planned {
    fn is_same(&self) -> bool {
        self.would.outcome == Some(PutOutcome::Unchanged)
    }
}

impl Plan {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let planned = plan(context, job_file::read_all(&self.files.files)?).await?;
        if context.output.format.is_for_programs() {
            warn(context, &planned);
            let would: Vec<&Job> = planned.iter().map(|planned| &planned.would).collect();
            return print(context, &would).map(|()| ExitCode::SUCCESS);
        }
        show(context, &planned)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Apply {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        make_true(context, job_file::read_all(&self.files.files)?, &self.message, self.yes).await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Shows what changes, asks, and makes jobs what these say.
pub(super) async fn make_true(
    context: &Context,
    jobs: Vec<FileJob>,
    note: &str,
    yes: bool,
) -> Result<(), Failure> {
    let planned = plan(context, jobs).await?;
    let changes = show(context, &planned)?;
    if changes > 0 {
        confirm(&format!("Apply {}?", count(changes, "change")), yes)?;
    }
    let mut applied = Vec::new();
    let bar = context.output.things_bar(Some(planned.len() as u64), "jobs applied");
    for planned in planned {
        bar.inc(1);
        if planned.is_same() {
            applied.push(planned.would);
            continue;
        }
        let created = planned.would.outcome == Some(PutOutcome::Created);
        let put = PutJob {
            dry_run: false,
            // The plan told what the job would become: only if nobody changed it since.
            if_revision: (!created).then_some(planned.would.revision.saturating_sub(1)),
            only_create: created,
        };
        let (namespace, name) = (planned.namespace.as_deref(), planned.spec.name.as_str());
        let (text, format) = match &planned.text {
            Some((text, format)) => (text.clone(), *format),
            None => (as_json(&planned.spec)?, Format::Json),
        };
        let text = JobText { text: &text, format, note, origin: VersionOrigin::Cli };
        let job = context.client.put_job_text(namespace, name, text, put).await;
        let job = job.map_err(|error| {
            let failure = Failure::from(error).about(name);
            let moved = failure.exit == Exit::Conflict;
            if moved {
                failure.hint("it changed meanwhile; `mainspring plan` shows the difference now")
            } else {
                failure
            }
        })?;
        bar.suspend(|| context.output.say(format!("{name} is at version {}", job.version)));
        applied.push(job);
    }
    bar.finish_and_clear();
    if context.output.format.is_for_programs() {
        print(context, &applied)?;
    }
    Ok(())
}

/// The jobs as programs read them, each with what was done to it or would be.
fn print(context: &Context, jobs: &[impl Serialize]) -> Result<(), Failure> {
    context.output.value(&serde_json::json!({ "items": jobs }))
}

/// Asks the server what these would change.
async fn plan(context: &Context, jobs: Vec<FileJob>) -> Result<Vec<Planned>, Failure> {
    let (mut planned, mut names) = (Vec::new(), HashSet::new());
    let bar = context.output.things_bar(Some(jobs.len() as u64), "jobs compared");
    for FileJob { spec, text } in jobs {
        bar.inc(1);
        let namespace = spec.namespace.as_ref().map(ToString::to_string);
        let namespace = namespace.or_else(|| context.namespace().map(str::to_owned));
        let put = PutJob { dry_run: true, ..PutJob::default() };
        let would = context.client.put_job(namespace.as_deref(), spec.name.as_str(), &spec, put).await;
        let would = would.map_err(|error| Failure::from(error).about(&spec.name))?;
        if !names.insert((would.namespace.clone(), spec.name.clone())) {
            return Err(Failure::usage(format!("`{}/{}` is described twice", would.namespace, spec.name))
                .hint("leave one of the two out; nothing was changed"));
        }
        planned.push(Planned { spec, text, namespace, would });
    }
    bar.finish_and_clear();
    Ok(planned)
}

/// A specification as the text of a job file.
fn as_json(spec: &JobSpec) -> Result<String, Failure> {
    serde_json::to_string_pretty(spec).map_err(|error| Failure::usage(error.to_string()))
}

/// Shows what would change; gives how many jobs do.
fn show(context: &Context, planned: &[Planned]) -> Result<usize, Failure> {
    let changes = planned.iter().filter(|planned| !planned.is_same()).count();
    if context.output.format.is_for_programs() {
        warn(context, planned);
        return Ok(changes);
    }
    for planned in planned {
        let text = difference::text(&planned.would, &planned.spec)?;
        if !text.is_empty() {
            context.output.text(&text)?;
        }
    }
    warn(context, planned);
    let same = planned.len() - changes;
    context.output.say(format!("{} to change, {same} unchanged", count(changes, "job")));
    Ok(changes)
}

/// Tells what is accepted although it is probably a mistake. A job that another of these files makes is not missing.
fn warn(context: &Context, planned: &[Planned]) {
    let is_made = |place: &Job, name: &str| {
        planned.iter().any(|other| other.would.namespace == place.namespace && other.would.name == name)
    };
    for Planned { would, .. } in planned {
        let told = would
            .warnings
            .iter()
            .filter(|warning| warning.missing_job.as_deref().is_none_or(|name| !is_made(would, name)));
        for warning in told {
            context.output.say(format!(
                "{} {}/{}: {}: {}",
                "warning:".paint(WARN),
                would.namespace,
                would.name,
                plain(&warning.path),
                plain(&warning.message)
            ));
        }
    }
}
