//! As whom tasks run on this machine, in one line, and the user that `up` of root gives them: a number without an account.
//!
//! One number for all tasks of a data folder, not one for each attempt: a later attempt, or another job, finds what an earlier
//! one left outside its own directory (a cache, a checkpoint), as it does where tasks have an account. The number follows from
//! the folder's path, so that it is the same after a restart, and two folders of one machine rarely share one.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use mainspring_agent::Options;
use mainspring_sidecar::{closed_to, has_account, make_passable, own_user};

use crate::failure::Failure;

/// Numbers that neither distributions nor systemd give away: those of systemd's `DynamicUser=` begin at 61184.
const UIDS: RangeInclusive<u32> = 60_706..=61_183;

/// Where the agent's folder is made when the data folder is out of reach of other users.
const ELSEWHERE: &str = "/var/lib/mainspring-up";

/// How many folders there may be for equal paths: each is left behind by a data folder that was removed.
const PLACES_MAX: u32 = 1000;

/// As whom tasks of these options run.
pub(crate) fn words(options: &Options) -> String {
    let own = own_user().unwrap_or_else(|| "this program's user".to_owned());
    match &options.task_user {
        Some(user) if *user != own => format!("Tasks run as {user}."),
        _ => format!(
            "Tasks run as {own}, as this program does: they can read and change its files, its credentials too."
        ),
    }
}

/// Chooses the user of the tasks of `up`, if it is root's and was told none. Says as whom tasks run. The data folder is there.
pub(crate) fn settle(options: &mut Options, data: &Path) -> Result<String, Failure> {
    // Made elsewhere by an earlier start.
    if let Ok(place) = fs::read_link(&options.data) {
        options.data = place;
    }
    if !options.lacks_task_user() {
        return Ok(words(options));
    }
    let data = data.canonicalize()?;
    let uid = reserved_uid(&data).ok_or_else(|| {
        Failure::failed(format!("every uid of {}–{} has an account", UIDS.start(), UIDS.end()))
            .hint("say as whom tasks run, with MAINSPRING_AGENT__TASK_USER")
    })?;
    options.task_user = Some(uid.to_string());
    let mut said = format!(
        "Tasks run as uid {uid}, which has no account, and not as root (MAINSPRING_AGENT__TASK_USER=root would have it so)."
    );
    let way = options.data.canonicalize().unwrap_or_else(|_| data.clone());
    if let Some(closed) = closed_to(&way, uid, &[uid]) {
        options.data = elsewhere(&options.data, hash(&data)).map_err(|error| {
            Failure::failed(format!("uid {uid} cannot reach {}: {} is closed to other users, and {error}", data.display(), closed.display()))
                .hint("name a folder that other users can pass, with --data, or have tasks run as root, with MAINSPRING_AGENT__TASK_USER=root")
        })?;
        said = format!(
            "{said} Their folder is {}, because {} is closed to other users.",
            options.data.display(),
            closed.display()
        );
    }
    Ok(said)
}

/// A number of the range without an account, by the folder.
fn reserved_uid(data: &Path) -> Option<u32> {
    let count = UIDS.end() - UIDS.start() + 1;
    let first = (hash(data) % u64::from(count)) as u32;
    (0..count).map(|step| UIDS.start() + (first + step) % count).find(|uid| !has_account(*uid))
}

/// FNV-1a: the same in every version of this program.
fn hash(path: &Path) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Makes a new folder for the agent that others can pass, and a link to it where the folder would have been.
fn elsewhere(link: &Path, hash: u64) -> io::Result<PathBuf> {
    if link.exists() {
        let words = format!("{} was made for tasks of root", link.display());
        return Err(io::Error::new(ErrorKind::AlreadyExists, words));
    }
    make_passable(Path::new(ELSEWHERE))?;
    for number in 0..PLACES_MAX {
        let place = Path::new(ELSEWHERE).join(format!("agent-{hash:016x}-{number}"));
        match DirBuilder::new().mode(0o711).create(&place) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return symlink(&place, link).map(|()| place),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, format!("{ELSEWHERE} is full")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_number_without_an_account() {
        let of = |path: &str| reserved_uid(Path::new(path)).unwrap();
        assert_eq!(of("/srv/a"), of("/srv/a"));
        assert_ne!(of("/srv/a"), of("/srv/b"));
        for uid in ["/srv/a", "/srv/b", "/home/ann/mainspring-data", ""].map(of) {
            assert!(UIDS.contains(&uid) && !has_account(uid), "{uid}");
        }
    }

    #[test]
    fn tasks_of_the_same_user_are_said_to_reach_our_files() {
        let mut options = Options::new("data", vec!["http://a".to_owned()]);
        options.task_user = own_user();
        assert!(words(&options).contains("can read and change its files"));
        options.task_user = Some("somebody-else".to_owned());
        assert_eq!(words(&options), "Tasks run as somebody-else.");
    }
}
