//! `cargo xtask cron`: what is due next against other implementations, which is also a step of `cargo xtask test`.

use std::process::ExitCode;

use anyhow::Result;

use crate::oracle;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    oracle::check(workspace)?;
    println!("The schedules are right.");
    Ok(ExitCode::SUCCESS)
}
