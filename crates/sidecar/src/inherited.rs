//! Files that whoever started the sidecar left open in it: a task would have them too, and hold a pipe or a lock of a stranger
//! for as long as it runs.

#![expect(unsafe_code, reason = "files that nobody in this process owns can only be named by their numbers")]

use std::fs;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::{FdFlags, fcntl_getfd};

/// Closes what is open beside the standard files and stays open on exec: what this process opens by itself does not. To be
/// called before anything else runs in it.
pub(crate) fn close() {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<RawFd> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // SAFETY: it is asked about within this statement; a number that is free by now is an error.
        let flags = fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) });
        if flags.is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) {
            // SAFETY: everything that was opened in this process closes on exec, so nobody here owns this one.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}
