//! `cargo xtask console`: builds the web console if its sources changed, for the next build of the program to embed. With
//! `--test`, runs the console's steps of `cargo xtask test` as well.

use std::process::ExitCode;

use anyhow::Result;

use crate::console;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Check the sources too, and run the flows in a browser against the program.
    #[arg(long)]
    test: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<ExitCode> {
    console::build(workspace)?;
    if arguments.test {
        console::check(workspace)?;
        console::browse(workspace)?;
    } else {
        println!("The console is built; the next build of the program carries it.");
    }
    Ok(ExitCode::SUCCESS)
}
