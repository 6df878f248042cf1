//! Who this worker is: its node id, its credential and the number of its last connection, in one file for its owner alone.
//!
//! The file is locked while the worker lives: two processes with one identity could execute one attempt at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use mainspring_model::{NodeId, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::Error;

#[derive(Debug)]
pub(super) struct Identity {
    path: PathBuf,
    file: File,
    known: Known,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    node: NodeId,
    #[serde(default)]
    credential: Option<String>,
    #[serde(default)]
    session: u64,
    /// What the credential is made of, beside the join token: asking again gives the same one.
    #[serde(default = "nonce")]
    nonce: String,
}

fn nonce() -> String {
    let half = || uuid::Uuid::now_v7().simple().to_string();
    half() + &half()
}

impl Identity {
    /// Opens the file, or begins a new identity in it.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::Identity { path: path.to_owned(), why };
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| wrong(error.to_string()))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(|error| wrong(error.to_string()))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                wrong("another process uses it; give each worker a file of its own".into())
            }
            TryLockError::Error(error) => wrong(error.to_string()),
        })?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
        let known = if text.trim().is_empty() {
            let random = u128::from_be_bytes(uuid::Uuid::now_v7().into_bytes());
            Known { node: NodeId::new(wall_clock(), random), credential: None, session: 0, nonce: nonce() }
        } else {
            serde_json::from_str(&text)
                .map_err(|error| wrong(format!("it is damaged: {error}; remove it to join anew")))?
        };
        Ok(Self { path: path.to_owned(), file, known })
    }

    pub(super) fn node(&self) -> NodeId {
        self.known.node
    }

    pub(super) fn credential(&self) -> Option<&str> {
        self.known.credential.as_deref()
    }

    pub(super) fn nonce(&self) -> &str {
        &self.known.nonce
    }

    pub(super) fn keep_credential(&mut self, credential: String) -> Result<(), Error> {
        self.known.credential = Some(credential);
        self.write()
    }

    /// The number of the next connection, larger than every earlier one of this node.
    pub(super) fn next_session(&mut self) -> Result<u64, Error> {
        self.known.session += 1;
        self.write()?;
        Ok(self.known.session)
    }

    fn write(&mut self) -> Result<(), Error> {
        let text = serde_json::to_string(&self.known).unwrap_or_default();
        let mut put = || {
            // In place, because the lock is on this very file.
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(text.as_bytes())?;
            self.file.set_len(text.len() as u64)?;
            self.file.sync_data()
        };
        put().map_err(|error| Error::Identity { path: self.path.clone(), why: error.to_string() })
    }
}

/// The machine's clock, for ids and the times of log lines.
pub(super) fn wall_clock() -> Timestamp {
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    Timestamp::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_stays_and_is_used_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sub/node");
        let mut first = Identity::open(&path).unwrap();
        assert_eq!(first.next_session().unwrap(), 1);
        first.keep_credential("secret".into()).unwrap();
        assert!(Identity::open(&path).unwrap_err().to_string().contains("another process uses it"));
        let node = first.node();
        drop(first);
        let mut again = Identity::open(&path).unwrap();
        assert_eq!((again.node(), again.credential()), (node, Some("secret")));
        assert_eq!(again.next_session().unwrap(), 2);
    }
}
