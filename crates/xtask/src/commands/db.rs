//! `cargo xtask db -- CMD...`: any command with the two test databases up and their URLs in its environment.
//!
//! For benches, for one test out of many, or for a look with a client. The command's exit code becomes ours.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::thread;

use anyhow::Result;

use crate::database::Databases;
use crate::{interrupt, process};

pub(crate) fn run(command: &[OsString]) -> Result<ExitCode> {
    let mut databases = Databases::start()?;
    let Some((program, arguments)) = command.split_first() else {
        return hold(&mut databases);
    };
    let mut command = process::command(program);
    command.args(arguments).envs(databases.environment());
    Ok(exit_code(process::run_attached(&mut command)?))
}

/// Keeps the databases up until somebody asks us to stop, which is the ordinary end here.
fn hold(databases: &mut Databases) -> Result<ExitCode> {
    for (name, url) in databases.environment() {
        println!("export {name}={url}");
    }
    println!("\nBoth databases are up. Press Ctrl-C to stop them and remove their data.");
    while interrupt::received().is_none() {
        databases.check_alive()?;
        thread::sleep(process::POLL_INTERVAL);
    }
    Ok(ExitCode::SUCCESS)
}

/// How another program ended, as our own end.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
