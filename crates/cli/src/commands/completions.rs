//! `mainspring completions SHELL`: for `eval` in a shell's start file.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;

/// What `completions` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example: mainspring completions bash > /etc/bash_completion.d/mainspring")]
pub(crate) struct Completions {
    /// bash, zsh, fish, elvish or powershell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, output: Output) -> Result<ExitCode, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "mainspring", &mut script);
        output.raw(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
