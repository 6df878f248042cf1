//! Removes directories of attempts on a thread of its own: a task may have left a million files, and even an empty
//! directory can take a file system milliseconds.
//!
//! An emptied directory is kept for another attempt ([`crate::spare`]).
//!
//! A tree may be deeper than a stack or a path, so there is no recursion: every directory that is found inside
//! another is first moved up to the top. Links are never followed; what stands at the top is out of a task's reach.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustc_hash::FxHashSet;
use rustix::fs::{Mode, OFlags};

use crate::error::Error;
use crate::key::AttemptKey;
use crate::layout::{Layout, PROGRESS};
use crate::spare::{Spares, progress_file};

/// Attempts whose directories are being removed.
type Open = Mutex<FxHashSet<AttemptKey>>;

/// The handle of the thread.
pub(crate) struct Remover {
    layout: Layout,
    spares: Arc<Spares>,
    orders: Sender<AttemptKey>,
    open: Arc<Open>,
}

impl Remover {
    /// Starts the thread; it sleeps until there is something to remove.
    pub(crate) fn start(layout: Layout, spares: Arc<Spares>) -> Result<Self, Error> {
        let (orders, receiver) = channel();
        let open = Arc::new(Open::default());
        let shared = (layout.clone(), Arc::clone(&spares), Arc::clone(&open));
        let work = move || {
            // Ends of children are the loop's business: every one would wake this thread as well.
            let _ = nix::sys::signal::SigSet::all().thread_block();
            serve(&shared.0, &shared.1, &receiver, &shared.2);
        };
        let thread = thread::Builder::new().name("remover".to_owned()).stack_size(128 * 1024).spawn(work);
        thread.map_err(Error::io("cannot start a thread"))?;
        Ok(Self { layout, spares, orders, open })
    }

    /// Removes the directory of an attempt: at once if it was left empty, else soon.
    pub(crate) fn remove(&self, key: AttemptKey) {
        if self.spares.give(&self.layout.attempt(&key), &self.layout.work(&key)) {
            return;
        }
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        // The thread ends with the process only.
        let _ = self.orders.send(key);
    }

    /// Whether a directory is as good as gone.
    pub(crate) fn is_removing(&self, key: &AttemptKey) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

fn serve(layout: &Layout, spares: &Spares, orders: &Receiver<AttemptKey>, open: &Open) {
    while let Ok(key) = orders.recv() {
        // What cannot be removed is listed as retained again.
        let _ = remove(&layout.attempt(&key), &layout.work(&key), spares);
        open.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

/// Empties the directory, and then keeps it for another attempt or removes it.
fn remove(directory: &Path, work: &Path, spares: &Spares) -> io::Result<()> {
    let mut moved = 0;
    loop {
        let mut empty = true;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                empty &= clear(&path, directory, &mut moved)? && path == work;
                if path != work {
                    fs::remove_dir(path)?;
                }
            } else if !is_kept(&path) {
                empty = false;
                fs::remove_file(path)?;
            }
        }
        if empty {
            break;
        }
    }
    if spares.give(directory, work) {
        return Ok(());
    }
    let _ = fs::remove_file(directory.join(PROGRESS));
    match fs::remove_dir(work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_dir(directory),
    }
}

/// Whether it is a progress file for another attempt. One that was written to is not: whoever did may have it open still, and
/// would report for that attempt.
fn is_kept(path: &Path) -> bool {
    progress_file(path).is_some_and(|file| file.len() == 0)
}

/// Empties a directory that stands at the top: files are removed, directories are moved to the top. Answers whether
/// there was nothing to move.
fn clear(directory: &Path, top: &Path, moved: &mut u64) -> io::Result<bool> {
    let before = *moved;
    let _ = open_up(directory);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
            continue;
        }
        // A directory that forbids it cannot be moved by its own user, because its parent is written in it.
        let _ = open_up(&entry.path());
        loop {
            *moved += 1;
            let place = top.join(format!(".removed-{moved}"));
            if !place.exists() {
                fs::rename(entry.path(), place)?;
                break;
            }
        }
    }
    Ok(*moved == before)
}

/// Lets us into a directory. Whoever owns its parent may put a link in its place at any moment: the mode is changed by a
/// descriptor of the directory itself, which needs no right to read it.
fn open_up(directory: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", opened.as_raw_fd());
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn directory(branch: usize, depth: usize) -> String {
        format!("d{}", branch * (depth % 2))
    }

    #[test]
    fn trees_of_any_depth_go_and_links_are_not_followed() {
        // In memory where there is such a place: thousands of directories take a disk its time.
        let outer = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let kept = outer.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        let attempt = outer.path().join("attempt");
        let work = attempt.join("work");
        fs::create_dir_all(&work).unwrap();
        fs::set_permissions(&attempt, fs::Permissions::from_mode(0o700)).unwrap();
        for branch in 0..3 {
            let (flags, mode) = (rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty());
            let mut at = rustix::fs::open(&work, flags, mode).unwrap();
            for depth in 0..1500 {
                let name = directory(branch, depth);
                match rustix::fs::mkdirat(&at, &*name, rustix::fs::Mode::RWXU) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => panic!("{error}"),
                }
                at = rustix::fs::openat(&at, &*name, flags, mode).unwrap();
            }
        }
        fs::write(work.join("file"), "x").unwrap();
        fs::create_dir(attempt.join(".removed-1")).unwrap();
        symlink(outer.path(), work.join("link")).unwrap();
        symlink(&kept, attempt.join("link")).unwrap();
        let spares = Spares::find(outer.path().to_owned());
        remove(&attempt, &work, &spares).unwrap();
        assert!(!attempt.exists());
        assert!(spares.take(&attempt), "an emptied directory is kept for another");
        // A progress file that nobody wrote to stays in it.
        let progress = attempt.join(PROGRESS);
        for (content, stays) in [("", true), ("1\n", false)] {
            fs::write(&progress, content).unwrap();
            fs::set_permissions(&progress, fs::Permissions::from_mode(0o600)).unwrap();
            remove(&attempt, &work, &spares).unwrap();
            assert!(spares.take(&attempt));
            assert_eq!(progress.exists(), stays);
        }
        fs::set_permissions(&attempt, fs::Permissions::from_mode(0o755)).unwrap();
        remove(&attempt, &work, &spares).unwrap();
        assert!(!attempt.exists());
        assert_eq!(fs::read_to_string(kept).unwrap(), "kept");
    }

    #[test]
    fn a_link_that_is_put_in_place_of_a_directory_changes_no_mode() {
        let outer = tempfile::tempdir().unwrap();
        let [closed, foreign, link] = ["closed", "foreign", "link"].map(|name| outer.path().join(name));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        for path in [&closed, &foreign] {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o011)).unwrap();
        }
        symlink(&foreign, &link).unwrap();
        assert!(open_up(&link).is_err());
        assert_eq!(mode(&foreign), 0o011);
        open_up(&closed).unwrap();
        assert_eq!(mode(&closed), 0o700);
    }
}
