//! The temporary folder of one server: its data, its log, its socket. Only the server's account can enter it, and it
//! goes when this is dropped. It holds passwords, so it is closed before anything is written.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use rustix::process::Signal;
use signal_hook::low_level::signal_name;
use tempfile::TempDir;

use super::account::Account;
use super::locate::program;
use crate::process;

const LOG_LINES_SHOWN: usize = 40;

/// A folder for one server.
pub(crate) struct Home {
    account: Account,
    folder: TempDir,
}

impl Home {
    /// A new folder for this kind of server, owned by its account.
    pub(crate) fn create(server: &str) -> Result<Self> {
        Self::create_for(Account::for_server(server)?, server)
    }

    /// A new folder that stays ours, for a server that may be whoever we are.
    pub(crate) fn create_as_ourselves(server: &str) -> Result<Self> {
        Self::create_for(Account::Ourselves, server)
    }

    fn create_for(account: Account, server: &str) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("mainspring-{server}-"))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .context("cannot make a temporary folder")?;
        account.give(folder.path())?;
        Ok(Self { account, folder })
    }

    /// A path inside the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that the server's account can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        self.account.give(&path)?;
        Ok(path)
    }

    /// A command that runs as the account, in the folder: the one we are in may be closed to it.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = process::command(program);
        self.account.apply(&mut command);
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command
    }

    /// The same for the server itself: the kernel sends it this signal when we die without a chance to stop it.
    pub(crate) fn server_command(&self, server: &Path, stop: Signal) -> Command {
        let Some(setpriv) = program("setpriv") else {
            return self.command(server);
        };
        let mut command = self.command(&setpriv);
        command.arg("--pdeathsig").arg(signal_name(stop.as_raw()).unwrap_or("SIGTERM")).arg("--").arg(server);
        command
    }

    /// A new file for what the server has to say.
    pub(crate) fn create_log(&self) -> Result<File> {
        File::create(self.log()).context("cannot make the server's log")
    }

    /// The server's last words.
    pub(crate) fn log_tail(&self) -> String {
        let text = fs::read(self.log()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
    }

    fn log(&self) -> PathBuf {
        self.path("server.log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_closed_to_others_and_goes_in_the_end() {
        let home = Home::create_as_ourselves("script").unwrap();
        let file = home.write("password", "secret").unwrap();
        let folder = file.parent().unwrap().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        drop(home);
        assert!(!folder.exists());
    }
}
