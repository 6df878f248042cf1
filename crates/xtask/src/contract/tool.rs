//! Schemathesis in a Python environment of its own, below the target directory: nothing is installed for the whole
//! machine. `requirements.txt` names every version; while it stays the same, so does the environment.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{packages, process};

const REQUIREMENTS: &str = include_str!("requirements.txt");
/// Written last: with this in it, an environment is whole.
const STAMP: &str = "installed.txt";

/// An installed schemathesis.
pub(super) struct Tool {
    folder: PathBuf,
}

impl Tool {
    /// The environment below this folder; made when it is missing, broken or of other versions.
    pub(super) fn ensure(target: &Path) -> Result<Self> {
        fs::create_dir_all(target).with_context(|| format!("cannot make {}", target.display()))?;
        // Two runs at once share the environment; the lock ends with this function.
        let lock = File::create(target.join("contract-python.lock")).context("cannot open a lock")?;
        lock.lock().context("cannot wait for another installation")?;
        let tool = Self { folder: target.join("contract-python") };
        if !tool.is_whole() {
            tool.install()?;
        }
        Ok(tool)
    }

    /// Schemathesis as a command.
    pub(super) fn command(&self) -> Command {
        process::command(self.folder.join("bin").join("schemathesis"))
    }

    fn is_whole(&self) -> bool {
        let stamp = fs::read_to_string(self.folder.join(STAMP));
        // The system's Python may have gone since.
        stamp.is_ok_and(|stamp| stamp == REQUIREMENTS)
            && process::output_of(self.command().arg("--version")).is_ok()
    }

    fn install(&self) -> Result<()> {
        packages::ensure("the check of the API runs on Python", missing)?;
        println!("    installing schemathesis into {}", self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).context("cannot remove an old Python environment")?;
        }
        process::output_of(process::command("python3").args(["-m", "venv"]).arg(&self.folder))
            .context("cannot make a Python environment")?;
        let requirements = self.folder.join("requirements.txt");
        fs::write(&requirements, REQUIREMENTS).context("cannot write the list of Python packages")?;
        let mut pip = process::command(self.folder.join("bin").join("python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--no-deps",
        ]);
        process::output_of(pip.arg("--requirement").arg(&requirements)).context(
            "cannot install schemathesis: the package index that pip is configured with must be reachable and have \
             the versions of crates/xtask/src/contract/requirements.txt",
        )?;
        fs::write(self.folder.join(STAMP), REQUIREMENTS).context("cannot finish the Python environment")
    }
}

/// The Debian packages without which there is no environment.
fn missing() -> Vec<&'static str> {
    let works = |code: &str| process::output_of(process::command("python3").args(["-c", code])).is_ok();
    match (works(""), works("import ensurepip, venv")) {
        (_, true) => Vec::new(),
        (true, false) => vec!["python3-venv"],
        (false, false) => vec!["python3", "python3-venv"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_one_version() {
        let lines: Vec<&str> = REQUIREMENTS.lines().collect();
        assert!(lines.iter().any(|line| line.starts_with("schemathesis==")));
        assert!(lines.iter().all(|line| line.split("==").count() == 2), "{lines:?}");
    }
}
