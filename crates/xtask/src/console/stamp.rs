//! Whether something that was made from files is still of these files: a hash of their names and contents.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// The hash of some files, and where the one of the last time is written.
pub(super) struct Stamp {
    hash: String,
    path: PathBuf,
}

impl Stamp {
    /// Of files, and of all that is below folders.
    pub(super) fn of(workspace: &Workspace, sources: &[&str]) -> Result<Self> {
        let mut files = Vec::new();
        for source in sources {
            collect(&workspace.path(source), &mut files)?;
        }
        files.sort();
        let mut hasher = DefaultHasher::new();
        for file in &files {
            let content = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            (file, content).hash(&mut hasher);
        }
        Ok(Self { hash: format!("{:016x}", hasher.finish()), path: PathBuf::new() })
    }

    /// Kept in this file.
    pub(super) fn at(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    pub(super) fn is_current(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|written| written == self.hash)
    }

    pub(super) fn write(&self) -> Result<()> {
        fs::write(&self.path, &self.hash).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
        collect(&entry.with_context(|| format!("cannot list {}", path.display()))?.path(), files)?;
    }
    Ok(())
}
