//! How a process ended whose parent is somebody else: the kernel tells whoever watched it, from Linux 6.15 on.
//!
//! Only tasks of an earlier sidecar are asked about like this; our own are waited for. What is told is how the first thread
//! ended, which is how the process did unless that thread left the others behind.

#![expect(unsafe_code, reason = "no crate wraps this call; its argument is a plain struct of our own")]

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::ioctl::{Updater, ioctl, opcode};

/// `struct pidfd_info` as it was first published; later kernels know by the size what we know.
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    cgroup_id: u64,
    /// The process, its group, its parent, and eight kinds of users and groups.
    ids: [u32; 11],
    exit_code: i32,
}

/// `PIDFD_INFO_EXIT`: asked for, and set in the answer if it is known.
const EXIT: u64 = 1 << 3;
/// `PIDFD_GET_INFO`.
const GET_INFO: u32 = opcode::read_write::<Info>(0xff, 11);

/// What is known of a process that was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It ended like this.
    Known(ExitStatus),
    /// It lives, or its parent has not taken note of its end.
    Pending,
    /// The kernel does not tell.
    Unknown,
}

/// How the process behind `pidfd` ended.
pub(crate) fn exit(pidfd: impl AsFd) -> Exit {
    let mut info = Info { mask: EXIT, ..Info::default() };
    // SAFETY: the call reads and writes a `struct pidfd_info` of the size that is part of its number, which `Info` is.
    let told = unsafe { ioctl(pidfd, Updater::<GET_INFO, Info>::new(&mut info)) };
    match told {
        Ok(()) if info.mask & EXIT != 0 => Exit::Known(ExitStatus::from_raw(info.exit_code)),
        Ok(()) => Exit::Pending,
        Err(_) => Exit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;

    #[test]
    fn the_end_of_a_process_is_told_after_its_parent_took_note_of_it() {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", "read line; exit 7"]).stdin(Stdio::piped()).spawn().unwrap();
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
        let before = exit(&pidfd);
        drop(child.stdin.take());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(7));
        // Kernels before 6.15 say nothing, or nothing of one that is over.
        let told = (before, exit(&pidfd));
        let known = [Exit::Pending, Exit::Unknown].map(|before| (before, Exit::Unknown));
        assert!(told == (Exit::Pending, Exit::Known(status)) || known.contains(&told), "{told:?}");
    }
}
