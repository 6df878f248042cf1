//! The way of other users to what is theirs: a task of another user works in a directory below ours, so every directory
//! above it can be passed through, though not looked into. What is private below is closed by its own mode.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Passed through by everybody, listed and written by its owner.
const PASSABLE: u32 = 0o711;

/// Makes a directory, and those above it that are missing, so that others can pass through. One that is there stays as it
/// is: whoever closed it had a reason.
pub fn make_passable(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(PASSABLE).create(directory) {
        // The mask of this process may have closed what we made.
        Ok(()) => fs::set_permissions(directory, Permissions::from_mode(PASSABLE)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A parent that is there takes no directories, as in `/proc`.
            let parent = directory.parent().filter(|parent| !parent.is_dir()).ok_or(error)?;
            make_passable(parent)?;
            make_passable(directory)
        }
        Err(error) => Err(error),
    }
}

/// The first directory on the way to `path`, or that itself, that the modes close to a user.
pub fn closed_to(path: &Path, uid: u32, groups: &[u32]) -> Option<PathBuf> {
    let way: Vec<&Path> = path.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    let closed = |part: &&Path| {
        let Ok(metadata) = fs::metadata(part) else { return false };
        let shift = match () {
            () if metadata.uid() == uid => 6,
            () if groups.contains(&metadata.gid()) => 3,
            () => 0,
        };
        uid != 0 && metadata.mode() >> shift & 1 == 0
    };
    way.into_iter().rev().find(closed).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_can_be_passed_and_what_is_there_stays_closed() {
        let closed = Permissions::from_mode(0o700);
        let outer = tempfile::Builder::new().permissions(closed).tempdir_in("/tmp").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let inner = outer.path().join("new/agent");
        make_passable(&inner).unwrap();
        make_passable(&inner).unwrap();
        assert_eq!([&inner, inner.parent().unwrap()].map(mode), [0o711; 2]);
        assert_eq!(mode(outer.path()), 0o700);
        assert_eq!(closed_to(&inner, 65534, &[65534]).as_deref(), Some(outer.path()));
        fs::set_permissions(outer.path(), Permissions::from_mode(0o711)).unwrap();
        assert_eq!(closed_to(&inner, 65534, &[65534]), None);
        fs::write(inner.join("file"), "").unwrap();
        assert!(make_passable(&inner.join("file")).is_err());
        assert!(make_passable(&inner.join("file/below")).is_err());
    }
}
