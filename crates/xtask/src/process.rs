//! Running other programs so that an interruption reaches them and everything they started.
//!
//! A child gets a process group of its own; when we are told to stop, the whole group is told, and killed after a
//! grace period. Long-lived servers are not here: see `database::server`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{IsTerminal, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::interrupt;

/// How often a waiting loop looks again.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a child that was told to stop may take before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// A command without the variables that `cargo run` sets for us: they describe this crate and would only mislead a
/// nested cargo or its build scripts.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    command
}

/// `cargo` with these arguments.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// Runs a command to its end; its output goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let mut child = spawn(command.stdin(Stdio::null()).process_group(0))?;
    let status = wait(&mut child, Reach::Group)?;
    expect_success(command, status)
}

/// Runs a command which must not be broken off half-way (a package installation): an interruption is acted upon
/// after its end.
pub(crate) fn run_unbroken(command: &mut Command) -> Result<()> {
    let mut child = spawn(command.stdin(Stdio::null()).process_group(0))?;
    let status = child.wait().context("cannot wait for a child process")?;
    interrupt::check()?;
    expect_success(command, status)
}

/// Runs a command for the person at the terminal: it may read the keyboard, and Ctrl-C is its own to interpret.
pub(crate) fn run_attached(command: &mut Command) -> Result<ExitStatus> {
    if std::io::stdin().is_terminal() {
        wait(&mut spawn(command)?, Reach::ChildAtTerminal)
    } else {
        wait(&mut spawn(command.process_group(0))?, Reach::Group)
    }
}

/// What a finished command wrote, and how it ended.
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command and keeps what it wrote, whatever its exit status.
pub(crate) fn capture(command: &mut Command, input: Option<File>) -> Result<Captured> {
    command.stdin(input.map_or_else(Stdio::null, Stdio::from));
    keep_output(command, None)
}

/// A guard against a command that hangs has ended it. This says nothing about what the command was to find out.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{command}` was ended by the time limit of {} s, a guard against a hang: it had not finished, which is no verdict; \
     it wrote:\n{output}", limit.as_secs()
)]
pub(crate) struct TimeLimit {
    command: String,
    limit: Duration,
    output: String,
}

/// The same with a guard against a hang: after `limit` the command is stopped, which is a [`TimeLimit`] error.
pub(crate) fn capture_within(command: &mut Command, limit: Duration) -> Result<Captured> {
    keep_output(command.stdin(Stdio::null()), Some(limit))
}

fn keep_output(command: &mut Command, limit: Option<Duration>) -> Result<Captured> {
    // Files rather than pipes: a full pipe would block the child while we poll.
    let mut stdout = tempfile::tempfile().context("cannot make a temporary file")?;
    let mut stderr = tempfile::tempfile().context("cannot make a temporary file")?;
    command.stdout(stdout.try_clone().context("cannot share a temporary file")?);
    command.stderr(stderr.try_clone().context("cannot share a temporary file")?);
    let mut child = spawn(command.process_group(0))?;
    let status = wait_until(&mut child, Reach::Group, limit.map(|limit| Instant::now() + limit))?;
    let (stdout, stderr) = (read_back(&mut stdout)?, read_back(&mut stderr)?);
    match (status, limit) {
        (Some(status), _) => Ok(Captured { status, stdout, stderr }),
        (None, limit) => Err(TimeLimit {
            command: describe(command),
            limit: limit.unwrap_or_default(),
            output: stdout + &stderr,
        }
        .into()),
    }
}

/// What a command wrote to its standard output; fails with what it wrote to standard error.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let captured = capture(command, None)?;
    if !captured.status.success() {
        bail!("`{}` ended with {}\n{}", describe(command), captured.status, captured.stderr.trim_end());
    }
    Ok(captured.stdout)
}

/// The command as a person would type it.
pub(crate) fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str()).to_string_lossy()];
    words.extend(command.get_args().map(OsStr::to_string_lossy));
    words.join(" ")
}

/// The process id of a child that has not been waited for.
pub(crate) fn pid(child: &Child) -> Result<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child has a positive process id")
}

/// Waits at most this long for a child to end.
pub(crate) fn wait_at_most(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a child process")? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    interrupt::check()?;
    command.spawn().with_context(|| format!("cannot start `{}`", describe(command)))
}

/// Whom an interruption is passed on to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The child leads a group of its own.
    Group,
    /// The child shares the terminal with us: the keyboard's SIGINT reached it already.
    ChildAtTerminal,
}

fn wait(child: &mut Child, reach: Reach) -> Result<ExitStatus> {
    wait_until(child, reach, None)?.context("a wait without an end has ended")
}

/// None when the child was stopped because its time was over.
fn wait_until(child: &mut Child, reach: Reach, deadline: Option<Instant>) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a child process")? {
            return Ok(Some(status));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            stop(child, reach, Signal::TERM)?;
            return Ok(None);
        }
        match interrupt::received() {
            Some(Signal::INT) if reach == Reach::ChildAtTerminal => {}
            Some(signal) => {
                stop(child, reach, signal)?;
                return Err(interrupt::Interrupted(signal).into());
            }
            None => {}
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn stop(child: &mut Child, reach: Reach, signal: Signal) -> Result<()> {
    let pid = pid(child)?;
    let send = |signal| match reach {
        Reach::Group => kill_process_group(pid, signal),
        Reach::ChildAtTerminal => kill_process(pid, signal),
    };
    // Failure means that it ended by itself just now, which is what we want.
    let _ = send(signal);
    let ended = wait_at_most(child, GRACE)?;
    if ended.is_none() || reach == Reach::Group {
        // Also after an orderly end: a grandchild that ignored the signal must not outlive us.
        let _ = send(Signal::KILL);
    }
    child.wait().context("cannot wait for a child process")?;
    Ok(())
}

fn expect_success(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` ended with {status}", describe(command));
    }
    Ok(())
}

fn read_back(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.read_to_end(&mut bytes))
        .context("cannot read a command's output back")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_captured_beyond_the_size_of_a_pipe() {
        let text =
            output_of(Command::new("sh").args(["-c", "head -c 300000 /dev/zero | tr '\\0' x"])).unwrap();
        assert_eq!(text.len(), 300_000);
    }

    #[test]
    fn a_failure_names_the_command_and_shows_its_words() {
        let error = output_of(Command::new("sh").args(["-c", "echo broken >&2; exit 3"])).unwrap_err();
        let words = error.to_string();
        assert!(
            words.contains("sh -c") && words.contains("exit status: 3") && words.contains("broken"),
            "{words}"
        );
    }

    #[test]
    fn a_command_that_takes_too_long_is_stopped() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo begun; sleep 600"]);
        let error = capture_within(&mut command, Duration::from_millis(200)).err().unwrap();
        let words = error.to_string();
        assert!(error.is::<TimeLimit>() && words.contains("time limit"), "{words}");
    }

    #[test]
    fn waiting_has_a_limit() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(wait_at_most(&mut child, Duration::from_millis(50)).unwrap().is_none());
        kill_process(pid(&child).unwrap(), Signal::KILL).unwrap();
        assert!(wait_at_most(&mut child, Duration::from_secs(120)).unwrap().is_some());
    }
}
