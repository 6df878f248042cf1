//! From an order to a process: who it runs as, which program it is, its environment, its files.
//!
//! The ordinary case is one `posix_spawn` of a process group of its own, whose cost does not grow with the sidecar.
//! Another user and limits cost a fork and steps between it and the exec ([`crate::child_setup`]). Either way the only
//! program that gets the task's environment is the task's own, which runs with the task's rights.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::unistd::User;
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::account::{Account, Ids, missing_right};
use crate::attempt_dir;
use crate::child_setup::{ChildSetup, Report, Step, limit_words};
use crate::layout::Layout;
use crate::open_files::TaskLimit;
use crate::pipe;
use crate::procfs;
use crate::progress_fd::ProgressFd;
use crate::protocol::{Refusal, Rlimit, Start, Stdin};
use crate::spare::Spares;

const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A process that was started, with our ends of its output.
pub(crate) struct Spawned {
    pub(crate) child: Child,
    /// When it started, in the unit of process start times.
    pub(crate) start_ticks: u64,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// Why it was not.
pub(crate) struct SpawnError {
    pub(crate) refusal: Refusal,
    pub(crate) message: String,
}

impl SpawnError {
    fn new(refusal: Refusal, message: impl Into<String>) -> Self {
        Self { refusal, message: message.into() }
    }

    fn io(context: &str, error: &io::Error) -> Self {
        Self::new(Refusal::NoRoom, format!("{context}: {error}"))
    }
}

/// What the sidecar gives to every task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    /// How many files it may have open.
    pub(crate) limit: TaskLimit,
    /// The number of its progress file.
    pub(crate) progress_fd: i32,
}

/// An order that is ready to be executed: its directory is made, its program found.
pub(crate) struct Prepared {
    command: Command,
    program: PathBuf,
    cwd: PathBuf,
    umask: Option<u32>,
    setup: Setup,
    progress: File,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// How the process gets its limits and its ids.
enum Setup {
    /// It has those of the sidecar. The limit of open files is given to it when it is there.
    Inherited(TaskLimit),
    /// It sets these by itself.
    Own { report: Report, rlimits: Vec<Rlimit>, ids: Option<Ids>, limited: bool },
}

/// The output pipes of a task. They are there before its order is journalled, so that the journal says which they are
/// before there is a process that writes to them.
pub(crate) struct Outputs {
    account: Option<Account>,
    stdout: Pipe,
    stderr: Pipe,
}

/// Our end of a pipe, then the task's.
type Pipe = (OwnedFd, OwnedFd);

impl Outputs {
    /// Makes the pipes; they belong to the user that the task runs as.
    pub(crate) fn open(start: &Start) -> Result<Self, SpawnError> {
        let account = account(start)?;
        let owner = account.as_ref().map(Account::owner);
        let pipe = || {
            pipe::create(owner).map_err(|error| match &account {
                Some(account) if Errno::from_io_error(&error) == Some(Errno::PERM) => {
                    SpawnError::new(Refusal::CannotExecute, missing_right(&account.name))
                }
                _ => SpawnError::io("cannot make a pipe", &error),
            })
        };
        let (stdout, stderr) = (pipe()?, pipe()?);
        Ok(Self { account, stdout, stderr })
    }

    /// What names the pipes within a boot.
    pub(crate) fn inodes(&self) -> [u64; 2] {
        [&self.stdout.0, &self.stderr.0].map(pipe::inode)
    }
}

/// Makes everything else that the process needs.
pub(crate) fn prepare(
    layout: &Layout,
    spares: &Spares,
    start: &Start,
    means: Means,
    outputs: Outputs,
) -> Result<Prepared, SpawnError> {
    let Outputs { account, stdout: (stdout, stdout_theirs), stderr: (stderr, stderr_theirs) } = outputs;
    let owner = account.as_ref().map(Account::owner);
    if let Some(file) = start.files.iter().find(|file| !attempt_dir::is_file_name(&file.name)) {
        return Err(SpawnError::new(
            Refusal::Invalid,
            format!("`{}` is no name for a file of an attempt", file.name),
        ));
    }
    attempt_dir::create(layout, spares, start, owner).map_err(|error| match &account {
        Some(account) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
            SpawnError::new(Refusal::CannotExecute, missing_right(&account.name))
        }
        _ => SpawnError::io("cannot make its directory", &error),
    })?;
    let progress = attempt_dir::open_progress(layout, &start.key)
        .map_err(|error| SpawnError::io("cannot make its progress file", &error))?;
    let mut environment = environment(layout, start, account.as_ref());
    environment.push(("MAINSPRING_PROGRESS_FD".to_owned(), means.progress_fd.to_string()));
    let cwd = start.cwd.as_ref().map_or_else(|| layout.work(&start.key), PathBuf::from);
    if start.cwd.is_some() && !cwd.is_dir() {
        let words = format!("its working directory {} is not a directory here", cwd.display());
        return Err(SpawnError::new(Refusal::CannotExecute, words));
    }
    let program = program(start, &environment, &cwd)?;
    let mut command = Command::new(&program);
    command.arg0(&start.argv[0]).args(&start.argv[1..]);
    command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    let setup = setup(start, &mut command, &cwd, account.map(|account| account.ids), means.limit)?;
    command.process_group(0).stdin(stdin(layout, start)?);
    command.stdout(stdout_theirs).stderr(stderr_theirs);
    Ok(Prepared { command, program, cwd, umask: start.umask, setup, progress, stdout, stderr })
}

/// Chooses how the process is set up, and where it begins.
fn setup(
    start: &Start,
    command: &mut Command,
    cwd: &Path,
    ids: Option<Ids>,
    limit: TaskLimit,
) -> Result<Setup, SpawnError> {
    if start.rlimits.is_empty() && ids.is_none() {
        command.current_dir(cwd);
        return Ok(Setup::Inherited(limit));
    }
    if let Some(limit) =
        start.rlimits.iter().find(|limit| limit.soft.or(Some(u64::MAX)) > limit.hard.or(Some(u64::MAX)))
    {
        let words = format!("the limit {} is higher than the most it may be raised to", limit_words(limit));
        return Err(SpawnError::new(Refusal::Invalid, words));
    }
    // Its own limit of open files comes later and holds.
    let rlimits: Vec<Rlimit> = limit.rlimit().into_iter().chain(start.rlimits.iter().copied()).collect();
    let report = ChildSetup::new(&rlimits, ids.as_ref(), cwd)
        .map_err(|error| SpawnError::new(Refusal::Invalid, format!("{}: {error}", cwd.display())))?;
    let report = report.attach(command).map_err(|error| SpawnError::io("cannot make a pipe", &error))?;
    Ok(Setup::Own { report, rlimits, ids, limited: !start.rlimits.is_empty() })
}

impl Prepared {
    /// Starts the process.
    pub(crate) fn spawn(mut self, progress_fd: &mut ProgressFd) -> Result<Spawned, SpawnError> {
        // The other thread makes no files, so the mask of the whole process can be lent to the child.
        let previous = self.umask.map(|mask| rustix::process::umask(Mode::from_raw_mode(mask & 0o777)));
        let before_ticks = procfs::now_ticks();
        let spawned = progress_fd.lend(&self.progress, || self.command.spawn()).flatten();
        let after_ticks = procfs::now_ticks();
        previous.map(rustix::process::umask);
        let child = spawned.map_err(|error| self.obstacle(&error))?;
        if let Setup::Inherited(limit) = self.setup {
            limit.give(child.id());
        }
        // Within one tick there is no doubt, and nothing to look up.
        let start_ticks = if before_ticks == after_ticks {
            before_ticks
        } else {
            procfs::process(child.id()).map_or(0, |process| process.start_ticks)
        };
        Ok(Spawned { child, start_ticks, stdout: self.stdout, stderr: self.stderr })
    }

    /// Why there is no process, in words, and whether another try may help.
    fn obstacle(&self, error: &io::Error) -> SpawnError {
        let passing = matches!(Errno::from_io_error(error), Some(Errno::AGAIN | Errno::NOMEM));
        let program = self.program.display();
        let cannot_execute = format!("cannot execute {program}: {error}");
        let Setup::Own { report, rlimits, ids, limited } = &self.setup else {
            let refusal = if passing { Refusal::NoRoom } else { Refusal::CannotExecute };
            return SpawnError::new(refusal, cannot_execute);
        };
        let step = report.failed_step();
        let words = match step {
            Some(Step::Limit(number)) => {
                let limit = rlimits.get(usize::from(number)).map(limit_words).unwrap_or_default();
                Some(format!("cannot set the limit {limit}: {error}"))
            }
            None => None,
            Some(Step::Ids | Step::Directory | Step::Exec) => {
                let obstacle = ids.as_ref().and_then(|ids| ids.obstacle(&self.cwd, &self.program, error));
                let directory = (step == Some(Step::Directory))
                    .then(|| format!("cannot enter its working directory {}: {error}", self.cwd.display()));
                obstacle.or(directory)
            }
        };
        // Without a child, or without limits of its own, it is the machine that has no room.
        let passing = passing && (step.is_none() || !limited);
        let refusal = if passing { Refusal::NoRoom } else { Refusal::CannotExecute };
        SpawnError::new(refusal, words.unwrap_or(cannot_execute))
    }
}

/// The name of the user that this process runs as.
pub fn own_user() -> Option<String> {
    User::from_uid(nix::unistd::geteuid()).ok().flatten().map(|user| user.name)
}

fn account(start: &Start) -> Result<Option<Account>, SpawnError> {
    let Some(name) = &start.user else { return Ok(None) };
    match Account::find(name) {
        Some(account) if account.ids.uid == nix::unistd::getuid() => Ok(None),
        Some(account) => Ok(Some(account)),
        None => Err(SpawnError::new(Refusal::Invalid, format!("there is no user `{name}`"))),
    }
}

fn environment(layout: &Layout, start: &Start, account: Option<&Account>) -> Vec<(String, String)> {
    let key = &start.key;
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let home = account.and_then(|account| account.home.clone());
    let mut variables = vec![
        ("PATH".to_owned(), DEFAULT_PATH.to_owned()),
        ("HOME".to_owned(), text(home.clone().unwrap_or_else(|| layout.work(key)))),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
    ];
    if let Some(account) = account.filter(|_| home.is_some()) {
        variables.extend(["USER", "LOGNAME"].map(|name| (name.to_owned(), account.name.clone())));
    }
    variables.extend(start.env.iter().cloned());
    for file in &start.files {
        variables
            .extend(file.variable.clone().map(|name| (name, text(layout.attempt(key).join(&file.name)))));
    }
    variables.push(("MAINSPRING_RUN_ID".to_owned(), key.run_id().to_string()));
    variables.push(("MAINSPRING_ATTEMPT".to_owned(), key.attempt.to_string()));
    variables.push(("MAINSPRING_OUTPUT".to_owned(), text(layout.output(key))));
    variables.push(("MAINSPRING_PROGRESS".to_owned(), text(layout.progress(key))));
    variables
}

/// Looks the program up in the task's own `PATH`, as a shell would. Doing it here keeps the spawn cheap and lets a
/// missing program be refused by name.
fn program(start: &Start, environment: &[(String, String)], cwd: &Path) -> Result<PathBuf, SpawnError> {
    let name = start.argv.first().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| SpawnError::new(Refusal::Invalid, "the command is empty"))?;
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let path =
        environment.iter().rev().find(|(name, _)| name == "PATH").map_or(DEFAULT_PATH, |(_, path)| path);
    let found = std::env::split_paths(OsStr::new(path))
        .map(|directory| cwd.join(directory).join(name))
        .find(|file| rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file());
    found.ok_or_else(|| {
        SpawnError::new(Refusal::CannotExecute, format!("there is no program `{name}` in {path}"))
    })
}

/// Bytes are put into a file that has no name any more: the task reads at its own pace and nobody waits for it.
fn stdin(layout: &Layout, start: &Start) -> Result<Stdio, SpawnError> {
    match &start.stdin {
        Stdin::Empty => Ok(Stdio::null()),
        Stdin::File(path) => {
            let file = File::open(path);
            file.map(Stdio::from)
                .map_err(|error| SpawnError::new(Refusal::Invalid, format!("{path}: {error}")))
        }
        Stdin::Bytes(bytes) => {
            let path = layout.attempt(&start.key).join("stdin");
            let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
            let filled = file.and_then(|mut file| {
                std::fs::remove_file(&path)?;
                file.write_all(bytes)?;
                file.seek(SeekFrom::Start(0))?;
                Ok(file)
            });
            filled.map(Stdio::from).map_err(|error| SpawnError::io("cannot store its input", &error))
        }
    }
}
