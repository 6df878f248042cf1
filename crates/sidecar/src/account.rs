//! The account that a task runs as, if it is not the sidecar's own: who that is, and what may keep it from its program.
//! [`crate::child_setup`] has a process become it.
//!
//! A user is a name, or a number. A number needs no entry in the machine's list of users: its group is the same number.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Uid, User, getgrouplist};

use crate::attempt_dir::Owner;
use crate::passage;

/// A user with its groups.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// Its name, or its number if it has no entry.
    pub(crate) name: String,
    /// Its home directory; none without an entry.
    pub(crate) home: Option<PathBuf>,
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
    /// The account of that name or number; `None` if there is no user of that name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        if let Some(user) = User::from_name(name).ok().flatten() {
            return Some(Self::of(user));
        }
        let number = Self::number(name)?;
        match User::from_uid(Uid::from_raw(number)) {
            Ok(Some(user)) => Some(Self::of(user)),
            // A list of users that cannot be read must not make a stranger of somebody who is in it.
            Ok(None) => Some(Self::without_entry(number)),
            Err(_) => None,
        }
    }

    fn of(user: User) -> Self {
        let groups =
            CString::new(user.name.as_str()).ok().and_then(|name| getgrouplist(&name, user.gid).ok());
        let groups = groups.unwrap_or_else(|| vec![user.gid]);
        Self { name: user.name, home: Some(user.dir), ids: Ids { uid: user.uid, gid: user.gid, groups } }
    }

    fn without_entry(number: u32) -> Self {
        let (uid, gid) = (Uid::from_raw(number), Gid::from_raw(number));
        Self { name: number.to_string(), home: None, ids: Ids { uid, gid, groups: vec![gid] } }
    }

    /// The largest number is the kernel's word for "unchanged", in 16 bits too.
    fn number(name: &str) -> Option<u32> {
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let number = name.parse().ok().filter(|_| plain)?;
        (number != u32::MAX && number != u32::from(u16::MAX)).then_some(number)
    }

    /// Who owns what the task may write.
    pub(crate) fn owner(&self) -> Owner {
        Owner { uid: self.ids.uid.as_raw(), gid: self.ids.gid.as_raw() }
    }
}

/// Whether a user of the machine has this number, or it is not known.
pub fn has_account(uid: u32) -> bool {
    !matches!(User::from_uid(Uid::from_raw(uid)), Ok(None))
}

impl Ids {
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
    fn a_number_without_an_entry_is_a_user_and_a_group_of_its_own() {
        let uid = (60_706..61_184).find(|uid| !has_account(*uid)).unwrap();
        let account = Account::find(&uid.to_string()).unwrap();
        let gid = Gid::from_raw(uid);
        assert_eq!(account.ids, Ids { uid: Uid::from_raw(uid), gid, groups: vec![gid] });
        assert_eq!((account.home, account.name), (None, uid.to_string()));
    }

    #[test]
    fn a_number_with_an_entry_is_that_user_and_what_is_no_number_is_nobody() {
        let root = Account::find("0").unwrap();
        assert_eq!((root.name.as_str(), root.ids.uid.is_root()), ("root", true));
        for name in ["4294967295", "65535", "4294967296", "-1", "+60706", "60706 ", "", "no such user"] {
            assert!(Account::find(name).is_none(), "{name}");
        }
    }
}
