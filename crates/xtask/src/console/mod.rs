//! The web console's own tools: Node, the packages of `console/`, and its build, checks and browser tests.
//!
//! Nothing here runs inside `cargo build`: the crate `mainspring-console` embeds what was built before, or nothing.

mod browser;
mod node;
mod stamp;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

#[cfg(test)]
pub(crate) use node::PYTHON;

use crate::process;
use crate::programs::{Program, Programs};
use crate::workspace::Workspace;
use node::Node;
use stamp::Stamp;

/// What the built files are made from, below the root of the checkout.
const SOURCES: &[&str] = &[
    "console/index.html",
    "console/package.json",
    "console/package-lock.json",
    "console/public",
    "console/scripts",
    "console/src",
    "console/tsconfig.json",
    "console/vite.config.ts",
];

const PROGRAM: Program = Program::Binary("mainspring");

/// The folder `console/` with the Node that works on it.
struct Project {
    folder: PathBuf,
    node: Node,
}

/// Builds the files that the binary embeds, if their sources changed.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let built = Stamp::of(workspace, SOURCES)?.at(workspace.path("console/dist/.stamp"));
    if built.is_current() && workspace.path("console/dist/index.html").is_file() {
        return Ok(());
    }
    println!("    building the console");
    Project::open(workspace)?.npm(&["run", "build"])?;
    built.write()
}

/// Types, format, lints, words and logic.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let project = Project::open(workspace)?;
    project.npm(&["run", "check"])?;
    project.npm(&["test"])
}

/// The flows of a person in a real browser, against the real binary.
pub(crate) fn browse(workspace: &Workspace) -> Result<()> {
    process::run(&mut in_browser(workspace, "browser")?)
}

/// Pictures of every page, of a demonstration.
pub(crate) fn photograph(workspace: &Workspace) -> Result<()> {
    let mut command = in_browser(workspace, "screenshots")?;
    command.env("SCREENSHOTS", workspace.target_directory()?.join("screenshots"));
    process::run(command.env("DOCS_IMAGES", workspace.path("docs/images")))
}

/// A script of the console that needs the binary and a browser.
fn in_browser(workspace: &Workspace, script: &str) -> Result<Command> {
    let chromium = browser::ensure()?;
    let binary = Programs::build(workspace, &[PROGRAM])?.path(PROGRAM);
    let mut command = Project::open(workspace)?.command(&["run", script]);
    command.env("MAINSPRING_BINARY", binary).env("CHROMIUM", chromium);
    Ok(command)
}

impl Project {
    /// Finds Node, and installs the packages of the lock file if they are not those that are there.
    fn open(workspace: &Workspace) -> Result<Self> {
        let node = Node::find(workspace)?;
        let project = Self { folder: workspace.path("console"), node };
        let modules = project.folder.join("node_modules");
        let installed = Stamp::of(workspace, &["console/package-lock.json"])?.at(modules.join(".stamp"));
        if !installed.is_current() {
            println!("    installing the console's packages");
            // Not `npm ci`: it refuses a lock file without the optional programs of other systems, which a mirror may lack.
            project.npm(&["install", "--no-save", "--no-audit", "--no-fund"])?;
            fs::create_dir_all(&modules).context("cannot make the folder of the console's packages")?;
            installed.write()?;
        }
        Ok(project)
    }

    fn npm(&self, arguments: &[&str]) -> Result<()> {
        process::run(&mut self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.node.npm();
        command.args(arguments).current_dir(&self.folder);
        command
    }
}
