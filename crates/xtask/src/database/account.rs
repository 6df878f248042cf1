//! Who a server runs as. Database servers refuse to be root, so when we are root they run as the account that their
//! package created; otherwise as ourselves.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// Whether we may install packages and become another user.
pub(crate) fn we_are_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// An account to run a server as.
#[derive(Clone, Copy)]
pub(super) enum Account {
    Ourselves,
    Other { user: u32, group: u32 },
}

impl Account {
    /// The account with this name when we are root, else our own.
    pub(super) fn for_server(name: &str) -> Result<Self> {
        if !we_are_root() {
            return Ok(Self::Ourselves);
        }
        let number = |option: &str| -> Result<u32> {
            let text = process::output_of(process::command("id").args([option, name]))
                .with_context(|| format!("a server cannot run as root and there is no user `{name}`"))?;
            text.trim().parse().with_context(|| format!("`id {option} {name}` is not a number: {text}"))
        };
        Ok(Self::Other { user: number("-u")?, group: number("-g")? })
    }

    /// Makes a command run as this account.
    pub(super) fn apply(self, command: &mut Command) {
        if let Self::Other { user, group } = self {
            command.uid(user).gid(group);
        }
    }

    /// Gives a file or folder to this account.
    pub(super) fn give(self, path: &Path) -> Result<()> {
        if let Self::Other { user, group } = self {
            chown(path, Some(user), Some(group))
                .with_context(|| format!("cannot give {} to user {user}", path.display()))?;
        }
        Ok(())
    }
}
