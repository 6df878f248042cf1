//! The connection to the sidecar: found by its socket, started when nobody answers there.
//!
//! Bytes only: what the events mean is decided in `tasks`. Nothing here waits for an answer, so a slow sidecar never stops
//! heartbeats.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mainspring_sidecar::protocol::{Event, Request, VERSION, frame};
use mainspring_sidecar::{Error as SidecarError, Layout, start_detached};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::options::SidecarCommand;

/// The most bytes of a path that every system takes as a socket address.
const ADDRESS_BYTES_MAX: usize = 100;
/// Bytes asked of the socket at once.
const READ_BYTES: usize = 256 * 1024;
/// The first and the longest wait between two tries to find or start a sidecar.
pub(crate) const RETRY_MIN: Duration = Duration::from_millis(50);
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(5);

/// An open connection.
#[derive(Debug)]
pub(crate) struct Link {
    stream: UnixStream,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

impl Link {
    /// As [`Self::dial`], and asks for everything that the sidecar knows and will.
    pub(crate) async fn open(command: SidecarCommand, layout: Layout) -> Self {
        let mut link = Self::dial(command, layout).await;
        link.send(&Request::Hello { version: VERSION, subscribe: true });
        link.send(&Request::List);
        link
    }

    /// Connects, starting the sidecar if nobody answers; tries until it works.
    pub(crate) async fn dial(command: SidecarCommand, layout: Layout) -> Self {
        let mut wait = RETRY_MIN;
        loop {
            match connect_or_start(&command, &layout).await {
                Ok(stream) => return Self { stream, incoming: Vec::new(), outgoing: Vec::new() },
                Err(error) => tracing::warn!(%error, "no sidecar; trying again"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    /// Ends a sidecar that does not answer.
    pub(crate) fn kill(&self) {
        let peer = self.stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(Pid::from_raw);
        let Some(pid) = peer else { return };
        tracing::error!(pid = pid.as_raw_nonzero(), "the sidecar does not answer; it is replaced");
        if let Err(error) = kill_process(pid, Signal::KILL) {
            tracing::error!(%error, "the sidecar cannot be ended");
        }
    }

    /// Puts a request into the next write.
    pub(crate) fn send(&mut self, request: &Request) {
        frame::encode([request], &mut self.outgoing);
    }

    /// Returns when there is something to read, or room for what is to be written.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        let interest = if self.outgoing.is_empty() {
            Interest::READABLE
        } else {
            Interest::READABLE | Interest::WRITABLE
        };
        self.stream.ready(interest).await.map(drop)
    }

    /// Writes as much as there is room for.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.stream.try_write(&self.outgoing) {
                Ok(written) => drop(self.outgoing.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes what has arrived. An error when the other end is gone or speaks nonsense.
    pub(crate) fn receive(&mut self, events: &mut Vec<Event>) -> io::Result<()> {
        let mut ended = false;
        loop {
            self.incoming.reserve(READ_BYTES);
            match self.stream.try_read_buf(&mut self.incoming) {
                Ok(0) => ended = true,
                Ok(read) if read >= READ_BYTES => continue,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            break;
        }
        let mut taken = 0;
        while let Some((batch, length)) = frame::decode(&self.incoming[taken..]).map_err(io::Error::other)? {
            events.extend(batch);
            taken += length;
        }
        self.incoming.drain(..taken);
        if self.incoming.is_empty() && self.incoming.capacity() > 4 * READ_BYTES {
            self.incoming = Vec::new();
        }
        if ended { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Writes what is left and reads until the other end is gone, or says that it stays.
    pub(crate) async fn read_to_end(&mut self) -> io::Result<()> {
        let mut events = Vec::new();
        while !events.contains(&Event::ShuttingDown { accepted: false }) {
            events.clear();
            self.flush()?;
            self.ready().await?;
            self.receive(&mut events)?;
        }
        Ok(())
    }
}

async fn connect_or_start(command: &SidecarCommand, layout: &Layout) -> Result<UnixStream, SidecarError> {
    let path = layout.socket();
    let refused =
        |source| SidecarError::Io { context: format!("cannot connect to {}", path.display()), source };
    match connect(&path).await {
        Ok(stream) => return Ok(stream),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {}
        Err(error) => return Err(refused(error)),
    }
    let (command, data) = (command.clone(), layout.data().to_owned());
    let started = tokio::task::spawn_blocking(move || start(&command, &data)).await;
    match started.map_err(|error| refused(io::Error::other(error)))? {
        Ok(pid) => tracing::info!(pid, "started a sidecar"),
        Err(SidecarError::AlreadyRunning(_)) => {}
        Err(error) => return Err(error),
    }
    connect(&layout.socket()).await.map_err(refused)
}

fn start(command: &SidecarCommand, data: &Path) -> Result<u32, SidecarError> {
    let context = "cannot tell which program this is".to_owned();
    let program = match &command.program {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(|source| SidecarError::Io { context, source })?,
    };
    start_detached(Command::new(program).args(&command.args).arg(data), data)
}

/// A path may be longer than a socket address holds; the way then goes through a descriptor of its directory.
async fn connect(path: &Path) -> io::Result<UnixStream> {
    if path.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return UnixStream::connect(path).await;
    }
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let directory = File::open(directory)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
    UnixStream::connect(short).await
}
