//! `cargo xtask api`: the running API against its committed schema, which is also a step of `cargo xtask test`.

use std::process::ExitCode;

use anyhow::Result;

use crate::contract;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    contract::check(workspace)?;
    println!("The API does what its schema says.");
    Ok(ExitCode::SUCCESS)
}
