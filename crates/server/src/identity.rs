//! Who this process is among the members: an id in its data folder, locked while the process lives.
//!
//! The lock is what makes a quick restart safe: whoever holds it knows that the last process with this id is dead, so its
//! leases may be taken at once instead of being watched until they are stale.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mainspring_model::{MemberId, Timestamp};

use crate::error::Error;

/// The identity; the lock is held as long as it lives.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) member: MemberId,
    _lock: File,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Another process uses the folder.
    #[error("another server uses this data folder")]
    Taken,
    /// The folder cannot be used.
    #[error("the data folder cannot be used")]
    Io(#[from] io::Error),
}

impl Identity {
    pub(crate) fn take(folder: &Path, now: Timestamp) -> Result<Self, IdentityError> {
        // Logs, artifacts and perhaps the store are in it: they are nobody else's.
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = open_own(&folder.join("member"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(IdentityError::Taken),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let member = match text.trim().parse() {
            Ok(member) => member,
            Err(_) => {
                let member = MemberId::new(now, random()?);
                file.set_len(0)?;
                file.rewind()?;
                writeln!(file, "{member}")?;
                file.sync_all()?;
                member
            }
        };
        Ok(Self { member, _lock: file })
    }
}

/// The file of a store that only one server may use at a time, locked as long as this lives: a server that has it alone need
/// not renew its leases quickly, nor look for others.
#[derive(Debug)]
pub(crate) struct StoreFile {
    _lock: File,
}

impl StoreFile {
    /// The file of a store that is one.
    pub(crate) fn path(url: &str) -> Option<PathBuf> {
        let path = url.strip_prefix("sqlite:")?;
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        Some(path.strip_prefix("//").unwrap_or(path).into())
    }

    /// Locks the file, if the store is one.
    pub(crate) fn lock(url: &str) -> Result<Option<Self>, Error> {
        let Some(path) = Self::path(url) else { return Ok(None) };
        let mut name = path.into_os_string();
        name.push(".lock");
        let path = PathBuf::from(name);
        let unusable = |source| Error::Folder { folder: path.clone(), source };
        let file = open_own(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: file })),
            Err(TryLockError::WouldBlock) => Err(Error::StoreTaken { url: url.to_owned() }),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }
}

/// Opens a file that nobody else may open: whoever can open it can lock it, and keep the next server from starting. Earlier
/// versions left it open to others.
fn open_own(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Chance from the system.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(u128::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_store_is_for_one_server() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!("sqlite:{}/a.db?readers=2", folder.path().display());
        let first = StoreFile::lock(&url).expect("nobody has it");
        assert!(first.is_some());
        assert!(matches!(StoreFile::lock(&url), Err(Error::StoreTaken { .. })));
        drop(first);
        assert!(StoreFile::lock(&url).expect("nobody has it any more").is_some());
        assert!(StoreFile::lock("postgres://host/db").expect("it is no file").is_none());
    }

    #[test]
    fn a_folder_is_one_member_for_one_process() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().join("data");
        let first = Identity::take(&folder, Timestamp::ZERO).expect("nobody has it");
        let mode = folder.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "for its owner alone");
        let member = first.member;
        assert!(matches!(Identity::take(&folder, Timestamp::ZERO), Err(IdentityError::Taken)));
        drop(first);
        let again = Identity::take(&folder, Timestamp::ZERO).expect("nobody has it any more");
        assert_eq!(again.member, member);
    }
}
