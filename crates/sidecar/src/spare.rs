//! Directories of attempts that are over, emptied and kept for later ones.
//!
//! Making and removing a directory costs a file system more than starting a process: 250 µs of CPU and milliseconds
//! of waiting for two levels on ext4, against 7 µs for two renames. So a directory that a task left empty becomes the
//! next task's by its name. An empty progress file stays in it, because a new one costs as much as all the rest of it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::layout::PROGRESS;

/// Spare directories that are kept.
const SPARES_MAX: usize = 256;
/// A directory that once held many files stays long and slow; it is not kept.
const DIRECTORY_BYTES_MAX: u64 = 64 * 1024;
const PREFIX: &str = ".spare-";
const STICKY: u32 = 0o1000;

/// The spare directories beside those of the attempts.
pub(crate) struct Spares {
    attempts: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    names: Vec<u64>,
    last: u64,
}

impl Spares {
    /// Takes over what an earlier sidecar kept.
    pub(crate) fn find(attempts: PathBuf) -> Self {
        let entries = fs::read_dir(&attempts).into_iter().flatten().flatten();
        let number = |name: &OsStr| name.to_str()?.strip_prefix(PREFIX)?.parse().ok();
        let names: Vec<u64> = entries.filter_map(|entry| number(&entry.file_name())).collect();
        let last = names.iter().copied().max().unwrap_or(0);
        Self { attempts, state: Mutex::new(State { names, last }) }
    }

    /// Gives a spare one the name `directory`; it has an empty `work`, perhaps an empty progress file, and nothing else.
    pub(crate) fn take(&self, directory: &Path) -> bool {
        let spare = self.state.lock().unwrap_or_else(PoisonError::into_inner).names.pop();
        spare.is_some_and(|spare| fs::rename(self.path(spare), directory).is_ok())
    }

    /// Keeps a directory if it is as good as new.
    pub(crate) fn give(&self, directory: &Path, work: &Path) -> bool {
        if !is_pristine(directory, work).unwrap_or(false) {
            return false;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.names.len() >= SPARES_MAX {
            return false;
        }
        state.last += 1;
        let name = state.last;
        let kept = fs::rename(directory, self.path(name)).is_ok();
        state.names.extend(kept.then_some(name));
        kept
    }

    fn path(&self, number: u64) -> PathBuf {
        self.attempts.join(format!("{PREFIX}{number}"))
    }
}

/// Keeps a directory from ever being another attempt's: somebody of its own may still be in it, or have its progress file
/// open. The mark outlasts this sidecar, and means nothing else: only our own user may write there.
pub(crate) fn spoil(directory: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(directory)?.permissions().mode();
    fs::set_permissions(directory, fs::Permissions::from_mode(mode | STICKY))
}

fn is_pristine(directory: &Path, work: &Path) -> io::Result<bool> {
    for path in [directory, work] {
        let metadata = fs::symlink_metadata(path)?;
        let ours = metadata.is_dir() && metadata.uid() == rustix::process::getuid().as_raw();
        if !ours || metadata.len() > DIRECTORY_BYTES_MAX || metadata.permissions().mode() & 0o7777 != 0o700 {
            return Ok(false);
        }
    }
    if fs::read_dir(work)?.next().is_some() {
        return Ok(false);
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let is_work = Some(entry.file_name().as_os_str()) == work.file_name();
        if !is_work && progress_file(&entry.path()).is_none_or(|file| file.len() > 0) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is known of a progress file that may be another attempt's: a plain one of our own that has no other name.
pub(crate) fn progress_file(path: &Path) -> Option<fs::Metadata> {
    path.file_name().filter(|name| *name == PROGRESS)?;
    let metadata = fs::symlink_metadata(path).ok()?;
    let ours = metadata.is_file() && metadata.uid() == rustix::process::getuid().as_raw();
    let good = ours && metadata.nlink() == 1 && metadata.permissions().mode() & 0o7777 == 0o600;
    good.then_some(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spoil: impl FnOnce(&Path), kept: bool) {
        let attempts = tempfile::tempdir().unwrap();
        let (old, new) = (attempts.path().join("old"), attempts.path().join("new"));
        fs::create_dir_all(old.join("work")).unwrap();
        for path in [&old, &old.join("work")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        spoil(&old);
        let spares = Spares::find(attempts.path().to_owned());
        assert_eq!(spares.give(&old, &old.join("work")), kept);
        // A later sidecar finds it.
        let spares = Spares::find(attempts.path().to_owned());
        assert_eq!(spares.take(&new), kept);
        assert_eq!(new.join("work").exists(), kept);
        assert!(!spares.take(&attempts.path().join("third")));
    }

    #[test]
    fn only_what_is_as_good_as_new_is_kept() {
        check(|_| {}, true);
        check(|old| fs::write(old.join("log"), "").unwrap(), false);
        check(|old| fs::write(old.join("work/file"), "").unwrap(), false);
        check(|old| fs::set_permissions(old.join("work"), fs::Permissions::from_mode(0o755)).unwrap(), false);
        check(|old| fs::remove_dir(old.join("work")).unwrap(), false);
        check(|old| spoil(old).unwrap(), false);
        let progress = |old: &Path, content: &str, mode: u32| {
            fs::write(old.join("progress"), content).unwrap();
            fs::set_permissions(old.join("progress"), fs::Permissions::from_mode(mode)).unwrap();
        };
        check(|old| progress(old, "", 0o600), true);
        check(|old| progress(old, "1", 0o600), false);
        check(|old| progress(old, "", 0o644), false);
        check(|old| std::os::unix::fs::symlink("/dev/null", old.join("progress")).unwrap(), false);
        let linked = |old: &Path| {
            progress(old, "", 0o600);
            fs::hard_link(old.join("progress"), old.with_file_name("other")).unwrap();
        };
        check(linked, false);
    }
}
