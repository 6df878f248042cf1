//! Starting a sidecar that outlives whoever starts it.
//!
//! The starter learns from a pipe that the sidecar listens, or that it gave up, and needs neither to poll nor to wait
//! for a time. The sidecar leaves the session of its starter by itself.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::layout::Layout;
use crate::open_files::tell_former;
use crate::passage::make_passable;

/// What a sidecar writes to its standard output when it listens.
pub(crate) const READY: &[u8] = b"ready\n";
const WAITER_STACK_BYTES: usize = 64 * 1024;

/// Starts `command`, a program that calls [`crate::run`] for the directory `data`, and waits until it listens.
/// Also good when another sidecar already serves the directory: [`Error::AlreadyRunning`] says so.
pub fn start_detached(command: &mut Command, data: &Path) -> Result<u32, Error> {
    let layout = Layout::new(data);
    make_directories(&layout)?;
    let path = layout.complaints();
    let complaints = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&path)
        .map_err(Error::at("open", &path))?;
    let length = complaints.metadata().map_or(0, |metadata| metadata.len());
    tell_former(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(complaints)
        .spawn()
        .map_err(Error::io("cannot start a sidecar"))?;
    let mut answer = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut answer).map_err(Error::io("cannot hear from the sidecar"))?;
    }
    if answer == READY {
        let pid = child.id();
        // It may end long before its starter does, and then somebody has to take note of that.
        let waiter = std::thread::Builder::new().name("sidecar".to_owned()).stack_size(WAITER_STACK_BYTES);
        let _ = waiter.spawn(move || child.wait());
        return Ok(pid);
    }
    let _ = child.wait();
    let said = fs::read(&path).unwrap_or_default();
    let said = String::from_utf8_lossy(said.get(length as usize..).unwrap_or_default()).trim().to_owned();
    if answer.is_empty() && said.contains("already serves") {
        return Err(Error::AlreadyRunning(data.to_owned()));
    }
    Err(Error::Io { context: "the sidecar ended at once".to_owned(), source: std::io::Error::other(said) })
}

/// The directories of a sidecar: others may pass through the outer ones, nobody else may look into the inner one.
pub(crate) fn make_directories(layout: &Layout) -> Result<(), Error> {
    make_passable(&layout.attempts()).map_err(Error::at("make", &layout.attempts()))?;
    let private = layout.private();
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&private);
    made.map_err(Error::at("make", &private))
}
