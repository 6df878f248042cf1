//! What the agent keeps on disk about itself: its credential, and the number of its last connection.
//!
//! The node's id is not here but in the sidecar's journal: a node that lost its journal is another node, and a credential
//! of the old one is of no use to it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use mainspring_model::NodeId;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The agent's own directory.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    directory: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Credential {
    node: NodeId,
    credential: String,
}

impl Identity {
    pub(crate) fn open(data: &Path) -> Result<Self, Error> {
        let directory = data.join("agent");
        // Tasks of other users pass through the data directory to their own; this one is private.
        mainspring_sidecar::make_passable(data).map_err(Error::file("make", data))?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        made.map_err(Error::file("make", &directory))?;
        Ok(Self { directory })
    }

    /// The directory is this process's alone until the answer is dropped.
    pub(crate) fn lock(&self) -> Result<File, Error> {
        let path = self.directory.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(Error::file("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(Error::InUse(self.directory.clone())),
            Err(TryLockError::Error(error)) => Err(Error::file("lock", &path)(error)),
        }
    }

    /// The agent's own directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The credential of `node`, if it has one.
    pub(crate) fn credential(&self, node: NodeId) -> Result<Option<String>, Error> {
        let path = self.directory.join("credential");
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::file("read", &path))?,
        };
        let known: Option<Credential> = serde_json::from_slice(&bytes).ok();
        Ok(known.filter(|known| known.node == node).map(|known| known.credential))
    }

    pub(crate) fn keep_credential(&self, node: NodeId, credential: &str) -> Result<(), Error> {
        let known = Credential { node, credential: credential.to_owned() };
        let bytes = serde_json::to_vec(&known).unwrap_or_default();
        self.replace("credential", &bytes)
    }

    /// What the next credential is made of, beside the join token. It is on disk before it is used: a node whose answer
    /// was lost, by a crash too, asks again with the same one and is given the same credential.
    pub(crate) fn nonce(&self) -> Result<String, Error> {
        let path = self.directory.join("nonce");
        match fs::read_to_string(&path) {
            Ok(nonce) => Ok(nonce),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let half = || uuid::Uuid::now_v7().simple().to_string();
                let nonce = half() + &half();
                self.replace("nonce", nonce.as_bytes())?;
                Ok(nonce)
            }
            Err(error) => Err(Error::file("read", &path)(error)),
        }
    }

    /// The number of the next connection, on disk before it is used. A lost file does not make it small again while the
    /// wall clock is roughly right: an owner ignores numbers that it has seen.
    pub(crate) fn next_session(&self) -> Result<u64, Error> {
        let path = self.directory.join("session");
        let last =
            fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let session = clock.max(last + 1);
        self.replace("session", session.to_string().as_bytes())?;
        Ok(session)
    }

    /// Writes a file for its owner alone, whole or not at all.
    fn replace(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let (path, fresh) = (self.directory.join(name), self.directory.join(format!("{name}.new")));
        let write = || {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        write().map_err(Error::file("write", &path))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_credential_is_for_one_node_and_for_its_owner() {
        let data = tempfile::tempdir().unwrap();
        let identity = Identity::open(data.path()).unwrap();
        let (node, other) = (NodeId::from_bytes([1; 16]), NodeId::from_bytes([2; 16]));
        assert_eq!(identity.credential(node).unwrap(), None);
        identity.keep_credential(node, "secret").unwrap();
        assert_eq!(identity.credential(node).unwrap().as_deref(), Some("secret"));
        assert_eq!(identity.credential(other).unwrap(), None);
        let mode = fs::metadata(data.path().join("agent/credential")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn others_pass_through_the_data_directory_and_see_nothing_of_the_agent() {
        let outer = tempfile::tempdir().unwrap();
        let data = outer.path().join("new/data");
        Identity::open(&data).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            [mode(&outer.path().join("new")), mode(&data), mode(&data.join("agent"))],
            [0o711, 0o711, 0o700]
        );
    }

    #[test]
    fn a_directory_is_of_one_agent_at_a_time() {
        let data = tempfile::tempdir().unwrap();
        let lock = || Identity::open(data.path()).unwrap().lock();
        let first = lock().unwrap();
        let said = lock().unwrap_err().to_string();
        assert!(said.starts_with("another agent uses ") && said.contains("--data"), "{said}");
        drop(first);
        lock().unwrap();
    }

    #[test]
    fn connections_are_numbered_upwards_whatever_is_lost() {
        let data = tempfile::tempdir().unwrap();
        let identity = Identity::open(data.path()).unwrap();
        let first = identity.next_session().unwrap();
        let second = Identity::open(data.path()).unwrap().next_session().unwrap();
        assert!(second > first);
        fs::write(data.path().join("agent/session"), (u64::MAX / 2).to_string()).unwrap();
        assert_eq!(identity.next_session().unwrap(), u64::MAX / 2 + 1, "the clock went back");
        fs::remove_file(data.path().join("agent/session")).unwrap();
        assert!(identity.next_session().unwrap() >= second);
    }
}
