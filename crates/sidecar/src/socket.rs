//! The Unix socket: made for its owner alone, and every peer's user is checked as well.
//!
//! A path may be longer than a socket address holds; both ends then go through a descriptor of the directory.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The most bytes of a path that every system takes as a socket address.
const ADDRESS_BYTES_MAX: usize = 100;

/// Listens at `path`, in place of whatever a dead sidecar left there. The caller holds the directory's lock.
pub(crate) fn listen(path: &Path) -> Result<UnixListener, Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::at("remove", path)(error));
        }
        _ => {}
    }
    let listener = with_address(path, UnixListener::bind).map_err(Error::at("listen at", path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(Error::at("protect", path))?;
    listener.set_nonblocking(true).map_err(Error::at("listen at", path))?;
    Ok(listener)
}

/// Connects to a sidecar.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    with_address(path, UnixStream::connect)
}

/// The next peer that is this user or root; `None` when nobody waits.
pub(crate) fn accept(listener: &UnixListener) -> Option<UnixStream> {
    loop {
        let (stream, _) = listener.accept().ok()?;
        let peer = rustix::net::sockopt::socket_peercred(&stream);
        let own = rustix::process::getuid();
        let welcome = peer.is_ok_and(|peer| peer.uid == own || peer.uid.is_root());
        if welcome && stream.set_nonblocking(true).is_ok() {
            return Some(stream);
        }
    }
}

fn with_address<T>(path: &Path, act: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if path.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return act(path.to_owned());
    }
    let directory = File::open(directory)?;
    act(Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name))
}
