//! Programs of this workspace, built once: binaries and examples, with the profile and the features of the test build.
//!
//! Cargo unifies features over the packages that a command selects, and leaves out those of development dependencies unless
//! a test or an example is built. A command with `--package` would therefore compile many dependencies a second time.
//! Everything that `cargo xtask test` runs comes from here, so that one compilation serves all of its steps.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// The arguments of the one build: what `cargo nextest run --workspace` and `cargo test --doc` need, and every program.
const BUILD_ALL: &[&str] = &["build", "--workspace", "--all-targets"];
/// The smallest example. Naming it makes cargo use the features of the test build, also for a binary.
const SMALLEST_EXAMPLE: Program = Program::Example("states_md");

/// A program of the workspace, by the name of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Binary(&'static str),
    Example(&'static str),
}

/// `mainspring` itself.
pub(crate) const MAINSPRING: Program = Program::Binary("mainspring");

/// Where built programs are.
pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Builds every target of the workspace.
    pub(crate) fn build_all(workspace: &Workspace) -> Result<Self> {
        Self::build_with(workspace, BUILD_ALL.to_vec())
    }

    /// Builds these programs only; after [`Programs::build_all`] there is nothing to do.
    pub(crate) fn build(workspace: &Workspace, programs: &[Program]) -> Result<Self> {
        Self::build_with(workspace, arguments(programs))
    }

    fn build_with(workspace: &Workspace, arguments: Vec<&str>) -> Result<Self> {
        process::run(&mut workspace.cargo(&arguments)).context("the workspace does not build")?;
        Ok(Self { folder: workspace.target_directory()?.join("debug") })
    }

    /// The executable.
    pub(crate) fn path(&self, program: Program) -> PathBuf {
        match program {
            Program::Binary(name) => self.folder.join(name),
            Program::Example(name) => self.folder.join("examples").join(name),
        }
    }

    /// A command that runs it.
    pub(crate) fn command(&self, program: Program) -> Command {
        process::command(self.path(program))
    }
}

fn arguments(programs: &[Program]) -> Vec<&'static str> {
    let mut arguments = vec!["build", "--quiet"];
    for program in programs.iter().chain([&SMALLEST_EXAMPLE]) {
        match program {
            Program::Binary(name) => arguments.extend(["--bin", name]),
            Program::Example(name) => arguments.extend(["--example", name]),
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_is_built_with_the_features_of_the_whole_workspace() {
        let arguments = arguments(&[MAINSPRING]);
        assert!(!arguments.contains(&"--package"), "{arguments:?}");
        assert_eq!(arguments, ["build", "--quiet", "--bin", "mainspring", "--example", "states_md"]);
    }
}
