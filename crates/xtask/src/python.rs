//! Python programs in environments of their own, below the target directory: nothing is installed for the whole machine.
//! A list of requirements names every version; while it stays the same, so does the environment.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{packages, process};

/// Written last: with this in it, an environment is whole.
const STAMP: &str = "installed.txt";

/// What an environment is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The name of its folder.
    pub(crate) name: &'static str,
    /// What it is for, in words that go before "runs on Python".
    pub(crate) purpose: &'static str,
    /// Every package with its version.
    pub(crate) requirements: &'static str,
    /// Where that list is.
    pub(crate) list: &'static str,
}

/// An environment that is there.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The environment below this folder; made when it is missing, broken or of other versions.
    pub(crate) fn ensure(target: &Path, wanted: &Wanted) -> Result<Self> {
        fs::create_dir_all(target).with_context(|| format!("cannot make {}", target.display()))?;
        // Two runs at once share the environment; the lock ends with this function.
        let lock =
            File::create(target.join(format!("{}.lock", wanted.name))).context("cannot open a lock")?;
        lock.lock().context("cannot wait for another installation")?;
        let environment = Self { folder: target.join(wanted.name) };
        if !environment.is_whole(wanted) {
            environment.install(wanted)?;
        }
        Ok(environment)
    }

    /// A program of the environment.
    pub(crate) fn program(&self, name: &str) -> Command {
        process::command(self.folder.join("bin").join(name))
    }

    fn is_whole(&self, wanted: &Wanted) -> bool {
        let stamp = fs::read_to_string(self.folder.join(STAMP));
        // The system's Python may have gone since.
        stamp.is_ok_and(|stamp| stamp == wanted.requirements)
            && process::output_of(self.program("python").arg("--version")).is_ok()
    }

    fn install(&self, wanted: &Wanted) -> Result<()> {
        packages::ensure(&format!("{} runs on Python", wanted.purpose), missing)?;
        println!("    installing Python packages into {}", self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).context("cannot remove an old Python environment")?;
        }
        process::output_of(process::command("python3").args(["-m", "venv"]).arg(&self.folder))
            .context("cannot make a Python environment")?;
        let requirements = self.folder.join("requirements.txt");
        fs::write(&requirements, wanted.requirements).context("cannot write the list of Python packages")?;
        let mut pip = self.program("python");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--no-deps",
        ]);
        process::output_of(pip.arg("--requirement").arg(&requirements)).with_context(|| {
            format!(
                "cannot install Python packages: the package index that pip is configured with must be reachable and \
                 have the versions of {}",
                wanted.list
            )
        })?;
        fs::write(self.folder.join(STAMP), wanted.requirements)
            .context("cannot finish the Python environment")
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
    #[test]
    fn every_package_has_one_version() {
        for wanted in [crate::console::PYTHON, crate::contract::PYTHON, crate::oracle::PYTHON] {
            let lines: Vec<&str> = wanted.requirements.lines().collect();
            assert!(!lines.is_empty() && lines.iter().all(|line| line.split("==").count() == 2), "{lines:?}");
        }
    }
}
