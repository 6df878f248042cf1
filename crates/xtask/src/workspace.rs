//! The checkout we look after: where it is and the source files of its crates.
//!
//! Rules and commands get their files from here, so that all of them see the same set: every `.rs` and `.sql` file
//! below `crates/`, tracked by git or not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The root of the checkout.
pub(crate) struct Workspace {
    root: PathBuf,
}

/// One file of one crate.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// From the root of the checkout, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Workspace {
    /// The checkout this command was started from.
    pub(crate) fn find() -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .context("CARGO_MANIFEST_DIR is not set; start this through `cargo xtask`")?;
        let root =
            Path::new(&manifest).ancestors().nth(2).context("the xtask crate lives in crates/xtask")?;
        Ok(Self { root: root.to_owned() })
    }

    /// A path inside the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// `cargo` with these arguments, at the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = process::cargo(arguments);
        command.current_dir(&self.root);
        command
    }

    /// What `cargo metadata` says, with these further arguments.
    pub(crate) fn metadata(&self, arguments: &[&str]) -> Result<Value> {
        let mut command = self.cargo(&["metadata", "--format-version", "1"]);
        let text = process::output_of(command.args(arguments))?;
        serde_json::from_str(&text).context("cannot read what `cargo metadata` wrote")
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target_directory(&self) -> Result<PathBuf> {
        let metadata = self.metadata(&["--no-deps"])?;
        let target = metadata["target_directory"].as_str();
        target.map(PathBuf::from).context("`cargo metadata` names the target directory")
    }

    /// Every `.rs` and `.sql` file of every crate, in order of path.
    pub(crate) fn sources(&self) -> Result<Vec<SourceFile>> {
        let mut files = Vec::new();
        self.collect("crates", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    fn collect(&self, folder: &str, files: &mut Vec<SourceFile>) -> Result<()> {
        let entries = fs::read_dir(self.path(folder)).with_context(|| format!("cannot list {folder}"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {folder}"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            let kind = entry.file_type().with_context(|| format!("cannot look at {path}"))?;
            if kind.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    self.collect(&path, files)?;
                }
            } else if name.ends_with(".rs") || name.ends_with(".sql") {
                let text = fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
                files.push(SourceFile { path, text });
            }
        }
        Ok(())
    }
}

impl SourceFile {
    /// The crate's folder: `engine` for `crates/engine/src/lib.rs`.
    pub(crate) fn crate_name(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }

    /// Whether this is a module of the crate itself, rather than a test, an example or a bench beside it.
    pub(crate) fn is_module(&self) -> bool {
        self.path.ends_with(".rs") && self.path.split('/').nth(2) == Some("src")
    }

    /// A file that exists only in a test.
    #[cfg(test)]
    pub(crate) fn sample(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}
