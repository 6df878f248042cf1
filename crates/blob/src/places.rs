//! Which paths a `file:` URL that a stranger chose may name.
//!
//! What counts is where a path really leads, so links are followed first; and what was opened is looked at again, because
//! whoever may write there may put a link in its place meanwhile.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::flags::custom;

/// Directories that may be used, with everything below them, and those that may not although they lie in one. By default
/// there are none.
#[derive(Debug, Clone, Default)]
pub struct Places {
    allowed: Vec<PathBuf>,
    never: Vec<PathBuf>,
}

impl Places {
    /// Everything in `allowed` but nothing in `never`.
    pub fn new(allowed: Vec<PathBuf>, never: Vec<PathBuf>) -> Self {
        Self { allowed, never }
    }

    /// Opens a file to read it.
    pub(crate) fn open(&self, path: &Path) -> Result<File, Error> {
        self.check(path, &real(path)?)?;
        let file = File::options().read(true).custom_flags(custom(OFlags::NONBLOCK)).open(path);
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::NotFound { what: path.display().to_string() },
            _ => Error::file("read", path)(error),
        })?;
        self.check_opened(path, &file)?;
        Ok(file)
    }

    /// Opens a directory to write into it, and makes it if it is missing. While the handle lives, [`through`] leads to this
    /// directory and no other.
    pub(crate) fn open_directory(&self, path: &Path) -> Result<File, Error> {
        self.check(path, &real(path)?)?;
        let there = path.ancestors().find(|there| there.is_dir()).unwrap_or(path);
        let directory = File::options().read(true).custom_flags(custom(OFlags::DIRECTORY)).open(there);
        let directory = directory.map_err(Error::file("open", there))?;
        self.check_opened(path, &directory)?;
        let missing = path.strip_prefix(there).unwrap_or(Path::new(""));
        let directory = make_below(directory, missing).map_err(Error::file("make", path))?;
        self.check_opened(path, &directory)?;
        Ok(directory)
    }

    fn check_opened(&self, path: &Path, file: &File) -> Result<(), Error> {
        let real = std::fs::read_link(through(file)).map_err(Error::file("find", path))?;
        self.check(path, &real)
    }

    fn check(&self, path: &Path, real: &Path) -> Result<(), Error> {
        let within = |directories: &[PathBuf]| {
            let directories =
                directories.iter().filter_map(|directory| std::fs::canonicalize(directory).ok());
            directories.into_iter().any(|directory| real.starts_with(directory))
        };
        if within(&self.allowed) && !within(&self.never) {
            return Ok(());
        }
        // It is not made: whoever makes it decides where it leads.
        let missing =
            self.allowed.iter().find(|directory| path.starts_with(directory) && !directory.exists());
        Err(match missing {
            Some(directory) => {
                Error::NotFound { what: format!("the allowed directory {}", directory.display()) }
            }
            None => Error::Place { path: path.to_owned() },
        })
    }
}

/// Makes directories below one that was opened and checked. No link is followed, so nothing is made anywhere else.
fn make_below(mut directory: File, missing: &Path) -> io::Result<File> {
    for name in missing.components() {
        match rustix::fs::mkdirat(&directory, name.as_os_str(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        directory = rustix::fs::openat(&directory, name.as_os_str(), flags, Mode::empty())?.into();
    }
    Ok(directory)
}

/// The path that leads to an open file, whatever stands at its name by now.
pub(crate) fn through(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Where a path leads; of what is not there yet, where it would be.
fn real(path: &Path) -> Result<PathBuf, Error> {
    let outside = || Error::Outside { path: path.display().to_string() };
    if !path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_))) {
        return Err(outside());
    }
    for there in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(there) {
            let rest = path.strip_prefix(there).map_err(|_| outside())?;
            return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
        }
    }
    Err(outside())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_judged_by_where_it_leads() {
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        for directory in ["open/own", "secret"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        for file in ["open/file", "open/own/key", "secret/token"] {
            std::fs::write(at(file), file).unwrap();
        }
        symlink(at("secret/token"), at("open/to-token")).unwrap();
        symlink(at("secret"), at("open/to-secret")).unwrap();
        symlink(at("open"), at("to-open")).unwrap();
        let places = Places::new(vec![at("to-open"), at("missing")], vec![at("to-open/own")]);
        let refused =
            |done: Result<File, Error>| matches!(done, Err(Error::Place { .. } | Error::Outside { .. }));
        for good in ["open/file", "to-open/file"] {
            assert!(places.open(&at(good)).is_ok(), "{good}");
            assert!(refused(Places::default().open(&at(good))), "{good}");
        }
        for missing in ["open/none", "missing/file"] {
            assert!(matches!(places.open(&at(missing)), Err(Error::NotFound { .. })), "{missing}");
        }
        assert!(matches!(places.open_directory(&at("missing/new")), Err(Error::NotFound { .. })));
        for bad in [
            "secret/token",
            "secret/none",
            "open/to-token",
            "open/to-secret/token",
            "open/own/key",
            "to-open/own/key",
            "open/../secret/token",
            "openly",
        ] {
            assert!(refused(places.open(&at(bad))), "{bad}");
        }
        assert!(places.open_directory(&at("open/new/deep")).is_ok());
        for bad in ["open/to-secret/new", "secret/new", "open/own/new", "open/new/../../secret"] {
            assert!(refused(places.open_directory(&at(bad))), "{bad}");
        }
        assert!(!at("secret/new").exists());
    }

    #[test]
    fn nothing_is_made_behind_a_link_that_came_meanwhile() {
        let ground = tempfile::tempdir().unwrap();
        let at = |name: &str| ground.path().join(name);
        std::fs::create_dir_all(at("open")).unwrap();
        std::fs::create_dir_all(at("secret")).unwrap();
        // The name was free when the path was looked at.
        symlink(at("secret"), at("open/new")).unwrap();
        let open = || File::open(at("open")).unwrap();
        assert!(make_below(open(), Path::new("new/deep")).is_err());
        assert!(!at("secret/deep").exists());
        assert!(make_below(open(), Path::new("other/deep")).is_ok());
        assert!(make_below(open(), Path::new("other/deep/er")).is_ok());
        assert!(at("open/other/deep/er").is_dir());
    }
}
