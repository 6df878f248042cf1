//! Removes directories of attempts on a thread of its own: a task may have left a million files, and even an empty
//! directory can take a file system milliseconds.
//!
//! A tree may be deeper than a stack or a path, so there is no recursion: every directory that is found inside
//! another is first moved up to the top. Links are never followed; what stands at the top is out of a task's reach.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::key::AttemptKey;
use crate::layout::Layout;

/// The handle of the thread.
pub(crate) struct Remover {
    orders: Sender<AttemptKey>,
    open: Arc<Mutex<FxHashSet<AttemptKey>>>,
}

impl Remover {
    /// Starts the thread; it sleeps until there is something to remove.
    pub(crate) fn start(layout: Layout) -> Result<Self, Error> {
        let (orders, receiver) = channel();
        let open = Arc::new(Mutex::new(FxHashSet::default()));
        let shared = Arc::clone(&open);
        let work = move || serve(&layout, &receiver, &shared);
        let thread = thread::Builder::new().name("remover".to_owned()).stack_size(128 * 1024).spawn(work);
        thread.map_err(Error::io("cannot start a thread"))?;
        Ok(Self { orders, open })
    }

    /// Removes the directory of an attempt, soon.
    pub(crate) fn remove(&self, key: AttemptKey) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        // The thread ends with the process only.
        let _ = self.orders.send(key);
    }

    /// Whether a directory is as good as gone.
    pub(crate) fn is_removing(&self, key: &AttemptKey) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

fn serve(layout: &Layout, orders: &Receiver<AttemptKey>, open: &Mutex<FxHashSet<AttemptKey>>) {
    while let Ok(key) = orders.recv() {
        // What cannot be removed is listed as retained again.
        let _ = remove(&layout.attempt(&key), &layout.work(&key));
        open.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

fn remove(directory: &Path, work: &Path) -> io::Result<()> {
    // The ordinary task left nothing.
    if fs::remove_dir(work).is_ok() && fs::remove_dir(directory).is_ok() {
        return Ok(());
    }
    let mut moved = 0_u64;
    loop {
        let mut empty = true;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            empty = false;
            if entry.file_type()?.is_dir() {
                clear(&entry.path(), directory, &mut moved)?;
                fs::remove_dir(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        if empty {
            return fs::remove_dir(directory);
        }
    }
}

/// Empties a directory that stands at the top: files are removed, directories are moved to the top.
fn clear(directory: &Path, top: &Path, moved: &mut u64) -> io::Result<()> {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            fs::remove_file(entry.path())?;
            continue;
        }
        // A directory that forbids it cannot be moved by its own user, because its parent is written in it.
        let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700));
        loop {
            *moved += 1;
            let place = top.join(format!(".removed-{moved}"));
            if !place.exists() {
                fs::rename(entry.path(), place)?;
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn trees_of_any_depth_go_and_links_are_not_followed() {
        // In memory where there is such a place: thousands of directories take a disk its time.
        let outer = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let kept = outer.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        let attempt = outer.path().join("attempt");
        let work = attempt.join("work");
        fs::create_dir_all(&work).unwrap();
        for branch in 0..3 {
            let mut at =
                rustix::fs::open(&work, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
            for depth in 0..1500 {
                let name = format!("d{}", branch * (depth % 2));
                match rustix::fs::mkdirat(&at, &*name, rustix::fs::Mode::RWXU) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => panic!("{error}"),
                }
                at =
                    rustix::fs::openat(&at, &*name, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
                        .unwrap();
            }
        }
        fs::write(work.join("file"), "x").unwrap();
        fs::create_dir(attempt.join(".removed-1")).unwrap();
        symlink(outer.path(), work.join("link")).unwrap();
        symlink(&kept, attempt.join("link")).unwrap();
        remove(&attempt, &work).unwrap();
        assert!(!attempt.exists());
        assert_eq!(fs::read_to_string(kept).unwrap(), "kept");
    }
}
