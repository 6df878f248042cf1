//! `cargo xtask up` and `cargo xtask demo`: build what is stale, then start everything on this machine (`mainspring up` or
//! `mainspring demo`, in release).
//!
//! Ctrl-C is the program's own to interpret; its exit code becomes ours.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::commands::db::exit_code;
use crate::console;
use crate::interrupt::Interrupted;
use crate::process;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace, role: &str, arguments: &[OsString]) -> Result<ExitCode> {
    build_console(workspace)?;
    process::run(&mut workspace.cargo(&["build", "--release", "--package", "mainspring-cli"]))
        .context("the program does not build")?;
    let target = workspace.target_directory()?;
    let mut command = process::command(target.join("release").join("mainspring"));
    command.arg(role).args(arguments);
    Ok(exit_code(process::run_attached(&mut command)?))
}

/// The console, where Node is there or can be had. Without it the program works as well: its page says what is missing.
fn build_console(workspace: &Workspace) -> Result<()> {
    match console::build(workspace) {
        Err(error) if error.is::<Interrupted>() => Err(error),
        Err(error) => {
            eprintln!("xtask: going on without the web console: {error:#}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
