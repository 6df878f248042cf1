//! `mainspring apply` and `mainspring plan`: job files made true. The server tells what would change; that is shown, and then
//! done under the condition that nothing changed in between.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use mainspring_client::PutJob;
use mainspring_client::api::{Job, PutOutcome};
use mainspring_model::JobSpec;
use mainspring_model::spec::{self, Format};

use super::difference;
use crate::ask::confirm;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// What `apply` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mainspring apply jobs/\n  mainspring apply --yes etl.yaml report.toml")]
pub(crate) struct Apply {
    #[command(flatten)]
    files: Files,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
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
    /// Job files, directories of them, or `-` for standard input (YAML)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A job as a file wants it, and what that would change.
struct Planned {
    spec: JobSpec,
    namespace: Option<String>,
    would: Job,
}

impl Plan {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let planned = plan(context, self.files.read()?).await?;
        show(context, &planned)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Apply {
    pub(crate) async fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        make_true(context, self.files.read()?, self.yes).await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Shows what changes, asks, and makes jobs what these say.
pub(super) async fn make_true(context: &Context, specs: Vec<JobSpec>, yes: bool) -> Result<(), Failure> {
    let planned = plan(context, specs).await?;
    let changes = show(context, &planned)?;
    if changes == 0 {
        return Ok(());
    }
    confirm(&format!("Apply {}?", count(changes, "change")), yes)?;
    let mut applied = Vec::new();
    for planned in planned.iter().filter(|planned| planned.would.outcome != Some(PutOutcome::Unchanged)) {
        let created = planned.would.outcome == Some(PutOutcome::Created);
        let put = PutJob {
            dry_run: false,
            // The plan told what the job would become: only if nobody changed it since.
            if_revision: (!created).then_some(planned.would.revision.saturating_sub(1)),
            only_create: created,
        };
        let (namespace, name) = (planned.namespace.as_deref(), planned.spec.name.as_str());
        let job = context.client.put_job(namespace, name, &planned.spec, put).await;
        let job = job.map_err(|error| {
            let failure = Failure::from(error).about(name);
            let moved = failure.exit == Exit::Conflict;
            if moved {
                failure.hint("it changed meanwhile; `mainspring plan` shows the difference now")
            } else {
                failure
            }
        })?;
        context.output.say(format!("{name} is at version {}", job.version));
        applied.push(job);
    }
    if context.output.format.is_for_programs() {
        context.output.value(&serde_json::json!({ "items": applied }))?;
    }
    Ok(())
}

/// Asks the server what these would change.
async fn plan(context: &Context, specs: Vec<JobSpec>) -> Result<Vec<Planned>, Failure> {
    let mut planned = Vec::new();
    for spec in specs {
        let namespace = spec.namespace.as_ref().map(ToString::to_string);
        let namespace = namespace.or_else(|| context.namespace().map(str::to_owned));
        let put = PutJob { dry_run: true, ..PutJob::default() };
        let would = context.client.put_job(namespace.as_deref(), spec.name.as_str(), &spec, put).await;
        let would = would.map_err(|error| Failure::from(error).about(&spec.name))?;
        planned.push(Planned { spec, namespace, would });
    }
    Ok(planned)
}

impl Files {
    /// Every job of every file, or everything that is wrong with any of them.
    fn read(&self) -> Result<Vec<JobSpec>, Failure> {
        let (mut specs, mut problems) = (Vec::new(), Vec::new());
        for file in &self.files {
            for path in expand(file)? {
                let format = Format::of_file(&path.to_string_lossy()).unwrap_or(Format::Yaml);
                match read_file(&path, format) {
                    Ok(spec) => specs.push(spec),
                    Err(failure) => problems.push(failure.message),
                }
            }
        }
        if problems.is_empty() {
            return Ok(specs);
        }
        Err(Failure::usage(problems.join("\n"))
            .hint("nothing was changed; docs/spec.md describes every field"))
    }
}

/// Shows what would change; gives how many jobs do.
fn show(context: &Context, planned: &[Planned]) -> Result<usize, Failure> {
    let changes =
        planned.iter().filter(|planned| planned.would.outcome != Some(PutOutcome::Unchanged)).count();
    if context.output.format.is_for_programs() {
        return Ok(changes);
    }
    for planned in planned {
        let text = difference::text(&planned.would, &planned.spec)?;
        if !text.is_empty() {
            context.output.line(text.trim_end())?;
        }
    }
    let same = planned.len() - changes;
    context.output.say(format!("{} to change, {same} unchanged", count(changes, "job")));
    Ok(changes)
}

/// A job file, with every problem that it has.
pub(crate) fn read_file(path: &Path, format: Format) -> Result<JobSpec, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        fs::read_to_string(path).map(|read| text = read)
    };
    read.map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    spec::parse(&text, format).map_err(|errors| {
        let problems = errors.to_string().replace('\n', "\n  ");
        Failure::usage(format!("{}:\n  {problems}", path.display()))
            .hint("docs/spec.md describes every field")
    })
}

/// The job files of a directory, in order of name, or the file itself.
fn expand(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot = |error| Failure::usage(format!("cannot list {}: {error}", path.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot)? {
        let entry = entry.map_err(cannot)?.path();
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && (entry.is_dir() || Format::of_file(&entry.to_string_lossy()).is_some()) {
            found.push(entry);
        }
    }
    found.sort();
    let mut files = Vec::new();
    for entry in found {
        files.extend(expand(&entry)?);
    }
    Ok(files)
}

/// A number of things, in words.
pub(super) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
