//! The account that a task runs as, if it is not the sidecar's own: who that is, and how a process becomes it.
//!
//! The library's own `uid` and `gid` leave a process without the other groups of its user, so the process takes them on by
//! itself, between the fork and the exec, and enters its directory last: as the user, who may not be allowed to.

#![expect(unsafe_code, reason = "the standard library has no stable call for supplementary groups")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::{Gid, Uid, User, getgrouplist, setgid, setgroups, setuid};

use crate::attempt_dir::Owner;
use crate::passage;

/// A user with its groups.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) ids: Ids,
}

/// What a process becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) uid: Uid,
    pub(crate) gid: Gid,
    pub(crate) groups: Vec<Gid>,
}

impl Account {
    /// The account of that name; `None` if there is none.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let user = User::from_name(name).ok().flatten()?;
        let groups = CString::new(name).ok().and_then(|name| getgrouplist(&name, user.gid).ok());
        let groups = groups.unwrap_or_else(|| vec![user.gid]);
        Some(Self { ids: Ids { uid: user.uid, gid: user.gid, groups }, user })
    }

    /// Who owns what the task may write.
    pub(crate) fn owner(&self) -> Owner {
        Owner { uid: self.user.uid.as_raw(), gid: self.user.gid.as_raw() }
    }
}

impl Ids {
    /// As an argument of a program, for [`Ids::parse`].
    pub(crate) fn to_argument(&self) -> String {
        let groups: Vec<String> = self.groups.iter().map(Gid::to_string).collect();
        format!("{}:{}:{}", self.uid, self.gid, groups.join(","))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let mut number = || parts.next()?.parse().ok();
        let (uid, gid) = (Uid::from_raw(number()?), Gid::from_raw(number()?));
        let groups = parts.next()?.split(',').filter(|group| !group.is_empty());
        let groups = groups.map(|group| group.parse().ok().map(Gid::from_raw)).collect::<Option<_>>()?;
        Some(Self { uid, gid, groups })
    }

    /// Has the process of `command` become this account and then enter `directory`.
    pub(crate) fn lend_to(self, command: &mut Command, directory: &Path) -> io::Result<()> {
        let directory = CString::new(directory.as_os_str().as_bytes())?;
        // SAFETY: between fork and exec only system calls are made, on memory that was filled before.
        unsafe { command.pre_exec(move || self.take_on(&directory)) };
        Ok(())
    }

    fn take_on(&self, directory: &CStr) -> io::Result<()> {
        setgroups(&self.groups)?;
        setgid(self.gid)?;
        setuid(self.uid)?;
        Ok(rustix::process::chdir(directory)?)
    }

    /// What keeps this account from executing `program` in `directory`, in words.
    pub(crate) fn obstacle(&self, directory: &Path, program: &Path, error: &io::Error) -> Option<String> {
        let name = User::from_uid(self.uid).ok().flatten().map_or(self.uid.to_string(), |user| user.name);
        match rustix::io::Errno::from_io_error(error) {
            Some(rustix::io::Errno::PERM) => Some(missing_right(&name)),
            Some(rustix::io::Errno::ACCESS) => {
                let groups: Vec<u32> = self.groups.iter().copied().map(Gid::as_raw).collect();
                let closed = |path| passage::closed_to(path, self.uid.as_raw(), &groups);
                if let Some(at) = closed(directory) {
                    let (at, directory) = (at.display(), directory.display());
                    return Some(format!(
                        "the user `{name}` may not pass {at} on the way to its working directory {directory}; `chmod a+x {at}` lets it"
                    ));
                }
                let at = closed(program)?;
                Some(format!(
                    "the user `{name}` may not execute {}: {} is closed to it",
                    program.display(),
                    at.display()
                ))
            }
            _ => None,
        }
    }
}

/// Why nothing can be done in the name of a user.
pub(crate) fn missing_right(name: &str) -> String {
    format!("tasks cannot run as the user `{name}` here: the agent needs to run as root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_travel_as_an_argument() {
        for groups in [vec![], vec![2, 30]] {
            let groups = groups.into_iter().map(Gid::from_raw).collect();
            let ids = Ids { uid: Uid::from_raw(7), gid: Gid::from_raw(8), groups };
            assert_eq!(Ids::parse(&ids.to_argument()), Some(ids));
        }
        assert_eq!(Ids::parse(""), None);
        assert_eq!(Ids::parse("1:2:x"), None);
    }
}
