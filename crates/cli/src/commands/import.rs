//! `mainspring import`: job files from crontabs and systemd timers. A thin shell: the translation is in `import/`.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainspring_model::{JobSpec, Namespace};
use serde_json::json;

use super::apply;
use crate::arguments::Global;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::import::{self, Imported, Kind, Settings, Zone, is_zone};
use crate::job_file::FileJob;
use crate::machine_zone;
use crate::output::{Format, Output, Paint, WARN, count};

/// What `import` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Whatever behaves differently, or has no equal, is told on standard error with its file, line and text, and stands in\n\
                  the job file as a comment. As before, nothing is tried again and nothing missed is made up for, unless a timer is\n\
                  persistent. Ends with 1 when something could not be read and was left out"
)]
pub(crate) struct Import {
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, Subcommand)]
enum Source {
    /// One job for each entry of a crontab
    Crontab(Crontab),
    /// One job for each timer of a directory, with the service that it starts
    Systemd(Systemd),
}

/// What `import crontab` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  crontab -l | mainspring import crontab -\n  mainspring import crontab --system /etc/crontab --out jobs/\n  mainspring import crontab shop.cron --zone Europe/Berlin --apply"
)]
struct Crontab {
    /// The crontab, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A user stands before each command [default: in /etc/crontab and /etc/cron.d]
    #[arg(long)]
    system: bool,
    #[command(flatten)]
    target: Target,
}

/// What `import systemd` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mainspring import systemd /etc/systemd/system\n  mainspring import systemd units/ --out jobs/ --force"
)]
struct Systemd {
    /// The directory with timers, their services and their drop-ins
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Args)]
struct Target {
    /// Where times without a zone are read [default: this machine's]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Write one file for each job into this directory, instead of all to standard output
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
    /// Write over files that are there
    #[arg(long, requires = "out")]
    force: bool,
    /// Show what would change on the server, ask, and apply it
    #[arg(long)]
    apply: bool,
    /// Do not ask
    #[arg(short, long, requires = "apply")]
    yes: bool,
}

impl Import {
    /// Whether a server is needed.
    pub(crate) fn applies(&self) -> bool {
        self.source.target().apply
    }

    /// Translates and writes.
    pub(crate) fn run(self, global: &Global, output: Output) -> Result<ExitCode, Failure> {
        let import = self.translate(global)?;
        let target = self.source.target();
        show_notes(&import, output);
        match &target.out {
            Some(directory) => write_files(directory, &import.jobs, target.force, output)?,
            None => print(&import, output)?,
        }
        Ok(end(&import))
    }

    /// The same, and then what `apply` does.
    pub(crate) async fn apply(self, global: &Global, context: &Context) -> Result<ExitCode, Failure> {
        let import = self.translate(global)?;
        let target = self.source.target();
        show_notes(&import, context.output);
        if let Some(directory) = &target.out {
            write_files(directory, &import.jobs, target.force, context.output)?;
        }
        let code = end(&import);
        let jobs = import.jobs.into_iter().map(|job| FileJob { spec: job.spec, text: None }).collect();
        apply::make_true(context, jobs, "", target.yes).await?;
        Ok(code)
    }

    fn translate(&self, global: &Global) -> Result<import::Import, Failure> {
        let settings = self.source.target().settings(global)?;
        match &self.source {
            Source::Crontab(crontab) => crontab.translate(&settings),
            Source::Systemd(systemd) => systemd.translate(&settings),
        }
    }
}

impl Source {
    fn target(&self) -> &Target {
        match self {
            Self::Crontab(crontab) => &crontab.target,
            Self::Systemd(systemd) => &systemd.target,
        }
    }
}

impl Target {
    fn settings(&self, global: &Global) -> Result<Settings, Failure> {
        let zone = match &self.zone {
            Some(name) if is_zone(name) => Zone { name: name.clone(), is_machines: false },
            Some(name) => {
                return Err(Failure::usage(format!("`{name}` is not a zone"))
                    .hint("write one such as Europe/Berlin, Asia/Shanghai or UTC"));
            }
            None => Zone { name: machine_zone::find()?, is_machines: true },
        };
        if let Some(namespace) = &global.namespace {
            let wrong = |error| Failure::usage(format!("`{namespace}` is not a namespace: {error}"));
            namespace.parse::<Namespace>().map_err(wrong)?;
        }
        Ok(Settings { zone, namespace: global.namespace.clone() })
    }
}

impl Crontab {
    fn translate(&self, settings: &Settings) -> Result<import::Import, Failure> {
        let is_stdin = self.file == Path::new("-");
        let text = if is_stdin { read_stdin()? } else { read(&self.file)? };
        let file = if is_stdin { "crontab".to_owned() } else { self.file.display().to_string() };
        let is_system = self.system
            || self.file == Path::new("/etc/crontab")
            || self.file.parent() == Some(Path::new("/etc/cron.d"));
        let crontab = import::crontab::Crontab { file: &file, text: &text, is_system };
        Ok(import::crontab::translate(crontab, settings))
    }
}

impl Systemd {
    fn translate(&self, settings: &Settings) -> Result<import::Import, Failure> {
        let mut files = import::systemd::Files::new();
        for (name, path) in list(&self.directory)? {
            if name.ends_with(".timer") || name.ends_with(".service") {
                files.insert(name, read(&path)?);
            } else if (name.ends_with(".timer.d") || name.ends_with(".service.d")) && path.is_dir() {
                for (inner, path) in list(&path)?.into_iter().filter(|(inner, _)| inner.ends_with(".conf")) {
                    files.insert(format!("{name}/{inner}"), read(&path)?);
                }
            }
        }
        if !files.keys().any(|name| name.ends_with(".timer")) {
            return Err(Failure::new(
                Exit::NotFound,
                format!("there is no timer in {}", self.directory.display()),
            )
            .hint("the directory holds files such as backup.timer and backup.service"));
        }
        Ok(import::systemd::translate(&files, settings))
    }
}

/// Done; or failed, when something could not be read, for others rely on what is not there now.
fn end(import: &import::Import) -> ExitCode {
    let left_out = import.all_notes().iter().any(|note| note.kind == Kind::LeftOut);
    if left_out { Exit::Failed.into() } else { ExitCode::SUCCESS }
}

fn show_notes(import: &import::Import, output: Output) {
    for note in import.all_notes() {
        output.say(format!("{} {note}", "note:".paint(WARN)));
    }
    if import.jobs.is_empty() {
        output.say("nothing to import");
    }
}

fn print(import: &import::Import, output: Output) -> Result<(), Failure> {
    match output.format {
        Format::Json | Format::Yaml => {
            let specs: Vec<&JobSpec> = import.jobs.iter().map(|job| &job.spec).collect();
            output.value(&json!({ "items": specs, "notes": import.all_notes() }))
        }
        Format::Name => import.jobs.iter().try_for_each(|job| output.line(&job.spec.name)),
        Format::Table | Format::Wide if import.jobs.is_empty() => Ok(()),
        Format::Table | Format::Wide => {
            let texts: Vec<&str> = import.jobs.iter().map(|job| job.text.as_str()).collect();
            output.line(texts.join("---\n").trim_end())
        }
    }
}

/// Writes every file, or none when one of them is there already.
fn write_files(directory: &Path, jobs: &[Imported], force: bool, output: Output) -> Result<(), Failure> {
    let there: Vec<String> = jobs
        .iter()
        .map(|job| directory.join(&job.file))
        .filter(|path| !force && path.exists())
        .map(|path| path.display().to_string())
        .collect();
    if !there.is_empty() {
        let message = format!("nothing was written: there is {} already", there.join(", "));
        return Err(Failure::new(Exit::Conflict, message).hint("`--force` writes over it"));
    }
    fs::create_dir_all(directory)
        .map_err(|error| Failure::failed(format!("cannot make {}: {error}", directory.display())))?;
    for job in jobs {
        let path = directory.join(&job.file);
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).create_new(!force);
        let written = options.open(&path).and_then(|mut file| file.write_all(job.text.as_bytes()));
        written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
    }
    output.say(format!("{} written to {}", count(jobs.len(), "job"), directory.display()));
    Ok(())
}

/// The entries of a directory by name.
fn list(directory: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let cannot = |error| Failure::usage(format!("cannot list {}: {error}", directory.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        found.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
    }
    found.sort();
    Ok(found)
}

/// A file; what is not UTF-8 in it is replaced, for comments have seen many encodings.
fn read(path: &Path) -> Result<String, Failure> {
    let bytes =
        fs::read(path).map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
