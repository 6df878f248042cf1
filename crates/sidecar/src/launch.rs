//! The last step before a task that wants resource limits: this program, started again as the task's process, sets
//! them on itself and becomes the task.
//!
//! An ordinary task does not come here; it is spawned directly, which is several times cheaper. Words for this step
//! travel as arguments: `mainspring-launch ERROR-FILE UID:GID:GROUPS KIND=SOFT:HARD… -- PROGRAM ARGV0 ARGUMENTS…`.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use rustix::process::{Resource, Rlimit as Limit, setrlimit};

use crate::account::Ids;
use crate::protocol::{Rlimit, RlimitKind};

/// The name that this program is started under to launch a task.
const NAME: &str = "mainspring-launch";

/// Becomes a task if this program was started to do that; returns at once otherwise. The first call of `main`.
pub fn launch_if_asked() {
    let mut arguments = std::env::args_os();
    if arguments.next().as_deref() == Some(OsStr::new(NAME)) {
        let _ = launch(arguments.collect());
        std::process::exit(127);
    }
}

/// The command that launches `program` with limits.
pub(crate) fn command(
    program: &Path,
    argv: &[String],
    rlimits: &[Rlimit],
    ids: Option<&Ids>,
    error_file: &Path,
) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).arg(error_file);
    command.arg(ids.map_or(String::new(), Ids::to_argument));
    for limit in rlimits {
        command.arg(format!("{}={}:{}", kind_name(limit.kind), number(limit.soft), number(limit.hard)));
    }
    command.arg("--").arg(program).args(argv);
    command
}

/// Only comes back if it failed; the error file says why.
fn launch(arguments: Vec<OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter();
    let path = arguments.next()?;
    let mut errors =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).ok()?;
    let ids = Ids::parse(arguments.next()?.to_str()?);
    for word in arguments.by_ref() {
        if word == "--" {
            break;
        }
        if let Err(error) = limit(word.to_str()?) {
            return complain(&mut errors, &format!("cannot set the limit {}: {error}", word.display()));
        }
    }
    let program = arguments.next()?;
    let mut command = Command::new(&program);
    command.arg0(arguments.next()?).args(arguments);
    let directory = std::env::current_dir().ok()?;
    if let Some(ids) = ids.clone() {
        // The sidecar entered it for the task, which may not be allowed to.
        ids.lend_to(&mut command, &directory).ok()?;
    }
    let error = command.exec();
    let obstacle = ids.and_then(|ids| ids.obstacle(&directory, Path::new(&program), &error));
    let words = obstacle.unwrap_or_else(|| format!("cannot execute {}: {error}", program.display()));
    complain(&mut errors, &words)
}

fn complain(errors: &mut File, text: &str) -> Option<ExitCode> {
    let _ = errors.write_all(text.as_bytes());
    None
}

fn limit(word: &str) -> std::io::Result<()> {
    let parsed = word.split_once('=').and_then(|(kind, numbers)| {
        let (soft, hard) = numbers.split_once(':')?;
        let resource = KINDS.iter().find(|(_, name, _)| *name == kind)?.2;
        Some((resource, Limit { current: soft.parse().ok(), maximum: hard.parse().ok() }))
    });
    let (resource, limit) = parsed.ok_or(std::io::ErrorKind::InvalidInput)?;
    Ok(setrlimit(resource, limit)?)
}

const KINDS: [(RlimitKind, &str, Resource); 9] = [
    (RlimitKind::AddressSpace, "as", Resource::As),
    (RlimitKind::Core, "core", Resource::Core),
    (RlimitKind::Cpu, "cpu", Resource::Cpu),
    (RlimitKind::Data, "data", Resource::Data),
    (RlimitKind::FileSize, "fsize", Resource::Fsize),
    (RlimitKind::OpenFiles, "nofile", Resource::Nofile),
    (RlimitKind::Processes, "nproc", Resource::Nproc),
    (RlimitKind::Stack, "stack", Resource::Stack),
    (RlimitKind::LockedMemory, "memlock", Resource::Memlock),
];

fn kind_name(kind: RlimitKind) -> &'static str {
    KINDS.iter().find(|(known, ..)| *known == kind).map_or("", |(_, name, _)| name)
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string())
}
