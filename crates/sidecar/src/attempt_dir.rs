//! The directory of an attempt: made before the task, read after it; `remover` removes it.
//!
//! The directory belongs to the sidecar, so that a task of another user cannot put a link where the sidecar will
//! write; only `work`, `inputs`, `output` and `progress` belong to the task. Whatever a task leaves there is opened as a plain
//! file or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, chown};
use std::path::Path;

use rustix::fs::OFlags;

use crate::key::AttemptKey;
use crate::layout::Layout;
use crate::protocol::{Output, Start};
use crate::spare::Spares;

/// Names in the directory that a `File` of an order may not take.
const OWN_NAMES: &[&str] = &["work", "output", "progress", "log", "stdin"];

/// The directory of what an agent fetched for the task before it ordered it.
const INPUTS: &str = "inputs";

/// Who owns what the task may write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Owner {
    /// Becomes the owner of an open file.
    pub(crate) fn take(self, file: impl AsFd) -> io::Result<()> {
        let (uid, gid) = (rustix::fs::Uid::from_raw(self.uid), rustix::fs::Gid::from_raw(self.gid));
        Ok(rustix::fs::fchown(file, Some(uid), Some(gid))?)
    }
}

/// Whether a name may be given to a file of an order.
pub(crate) fn is_file_name(name: &str) -> bool {
    let plain =
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']) && name.len() <= 128;
    plain && !name.starts_with("tail-") && !OWN_NAMES.contains(&name)
}

/// Makes the directory with everything that the order brings.
pub(crate) fn create(
    layout: &Layout,
    spares: &Spares,
    start: &Start,
    owner: Option<Owner>,
) -> io::Result<()> {
    let directory = layout.attempt(&start.key);
    let work = layout.work(&start.key);
    if owner.is_some() || !spares.take(&directory) {
        make(&directory, if owner.is_some() { 0o711 } else { 0o700 })?;
        make(&work, 0o700)?;
    }
    for file in &start.files {
        place(&directory.join(&file.name), &file.content, file.mode, owner)?;
    }
    if let Some(owner) = owner {
        chown(&work, Some(owner.uid), Some(owner.gid))?;
        take_inputs(&directory.join(INPUTS), owner)?;
        place(&layout.output(&start.key), b"", 0o600, Some(owner))?;
        place(&layout.progress(&start.key), b"", 0o600, Some(owner))?;
    }
    Ok(())
}

/// Inputs that the agent fetched are closed to others, as `work` is: the directory around them may be passed by everybody.
fn take_inputs(path: &Path, owner: Owner) -> io::Result<()> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits() as i32;
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(directory) => owner.take(directory),
        // Most tasks have none.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The progress file, for a task to append to.
pub(crate) fn open_progress(layout: &Layout, key: &AttemptKey) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(layout.progress(key))
}

/// The content of the output file, unless there is none or it is empty, and what became of it.
pub(crate) fn read_output(layout: &Layout, key: &AttemptKey, limit: u32) -> (Option<Vec<u8>>, Output) {
    let file = match open_plain(&layout.output(key)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return (None, Output::Taken),
        Err(_) => return (None, Output::Unreadable),
    };
    let mut content = Vec::new();
    match file.take(u64::from(limit) + 1).read_to_end(&mut content) {
        Ok(0) => (None, Output::Taken),
        Ok(length) if length > limit as usize => (None, Output::TooLong),
        Ok(_) => (Some(content), Output::Taken),
        Err(_) => (None, Output::Unreadable),
    }
}

/// Opens a file that a task controls: no link is followed, and nothing but a plain file is taken, so that the open
/// never blocks.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(ErrorKind::InvalidInput.into()),
    }
}

/// Writes a file that must not be there yet.
pub(crate) fn place(path: &Path, content: &[u8], mode: u32, owner: Option<Owner>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content)?;
    owner.map_or(Ok(()), |owner| owner.take(&file))
}

fn make(path: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }
}
