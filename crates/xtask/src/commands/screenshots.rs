//! `cargo xtask screenshots`: pictures of every page of the console, of a demonstration, by a real browser.
//!
//! All of them are in `target/screenshots`; those that the README and the docs show are committed in `docs/images`.

use std::process::ExitCode;

use anyhow::Result;

use crate::console;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    console::build(workspace)?;
    console::photograph(workspace)?;
    Ok(ExitCode::SUCCESS)
}
