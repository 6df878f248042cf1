//! Child setup: what the process of a task does between fork and exec. Limits first, while it still has the right to
//! raise them; then the ids and `no_new_privs`; then its directory, as the user that it runs as.
//!
//! There is no program of ours between the fork and the task's own exec, so the task's environment reaches no loader
//! that has more rights than the task. Every step that fails ends the start: no task runs with fewer limits or more
//! rights than its order says. The child makes system calls only, on memory that was filled before the fork.

#![expect(
    unsafe_code,
    reason = "the standard library has no stable call for limits and supplementary groups"
)]

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Gid, Resource, Rlimit as Limit, Uid, chdir, setrlimit};
use rustix::thread::{set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::account::Ids;
use crate::protocol::{Rlimit, RlimitKind};

/// The steps, with everything that they need.
pub(crate) struct ChildSetup {
    limits: Vec<(Resource, Limit)>,
    ids: Option<(Uid, Gid, Vec<Gid>)>,
    directory: CString,
}

/// A step of the setup, told by the child when it fails. The exec is told when it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Limit(u8),
    Ids,
    Directory,
    Exec,
}

/// Where the child says how far it came.
pub(crate) struct Report(OwnedFd);

impl ChildSetup {
    pub(crate) fn new(rlimits: &[Rlimit], ids: Option<&Ids>, directory: &Path) -> io::Result<Self> {
        let ids = ids.map(|ids| {
            let groups = ids.groups.iter().map(|group| Gid::from_raw(group.as_raw())).collect();
            (Uid::from_raw(ids.uid.as_raw()), Gid::from_raw(ids.gid.as_raw()), groups)
        });
        let limits = rlimits
            .iter()
            .map(|limit| (resource(limit.kind), Limit { current: limit.soft, maximum: limit.hard }));
        let directory = CString::new(directory.as_os_str().as_bytes())?;
        Ok(Self { limits: limits.collect(), ids, directory })
    }

    /// Has the process of `command` take these steps, the last of them the exec.
    pub(crate) fn attach(self, command: &mut Command) -> io::Result<Report> {
        let (report, steps) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let take_steps = move || {
            let (step, outcome) = match self.take() {
                Ok(()) => (Step::Exec, Ok(())),
                Err((step, error)) => (step, Err(error)),
            };
            rustix::io::write(&steps, &step.bytes())?;
            Ok(outcome?)
        };
        // SAFETY: the closure makes system calls only; it neither allocates nor takes a lock.
        unsafe { command.pre_exec(take_steps) };
        Ok(Report(report))
    }

    fn take(&self) -> Result<(), (Step, Errno)> {
        for (number, (resource, limit)) in self.limits.iter().enumerate() {
            setrlimit(*resource, *limit).map_err(|error| (Step::Limit(number as u8), error))?;
        }
        if let Some((uid, gid, groups)) = &self.ids {
            let became = set_thread_groups(groups)
                .and_then(|()| set_thread_res_gid(*gid, *gid, *gid))
                .and_then(|()| set_thread_res_uid(*uid, *uid, *uid))
                .and_then(|()| set_no_new_privs(true));
            became.map_err(|error| (Step::Ids, error))?;
        }
        chdir(&self.directory).map_err(|error| (Step::Directory, error))
    }
}

impl Report {
    /// The step that failed; `None` if there was no child.
    pub(crate) fn failed_step(&self) -> Option<Step> {
        let mut bytes = [0; 2];
        let read = rustix::io::read(&self.0, &mut bytes).ok()?;
        (read == bytes.len()).then(|| Step::from_bytes(bytes))
    }
}

impl Step {
    fn bytes(self) -> [u8; 2] {
        match self {
            Self::Limit(number) => [0, number],
            Self::Ids => [1, 0],
            Self::Directory => [2, 0],
            Self::Exec => [3, 0],
        }
    }

    fn from_bytes([kind, number]: [u8; 2]) -> Self {
        match kind {
            0 => Self::Limit(number),
            1 => Self::Ids,
            2 => Self::Directory,
            _ => Self::Exec,
        }
    }
}

/// A limit in words, as `open files 50:60`.
pub(crate) fn limit_words(limit: &Rlimit) -> String {
    let number = |value: Option<u64>| value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string());
    let name = match limit.kind {
        RlimitKind::AddressSpace => "address space",
        RlimitKind::Core => "core",
        RlimitKind::Cpu => "cpu time",
        RlimitKind::Data => "data",
        RlimitKind::FileSize => "file size",
        RlimitKind::OpenFiles => "open files",
        RlimitKind::Processes => "processes",
        RlimitKind::Stack => "stack",
        RlimitKind::LockedMemory => "locked memory",
    };
    format!("{name} {}:{}", number(limit.soft), number(limit.hard))
}

fn resource(kind: RlimitKind) -> Resource {
    match kind {
        RlimitKind::AddressSpace => Resource::As,
        RlimitKind::Core => Resource::Core,
        RlimitKind::Cpu => Resource::Cpu,
        RlimitKind::Data => Resource::Data,
        RlimitKind::FileSize => Resource::Fsize,
        RlimitKind::OpenFiles => Resource::Nofile,
        RlimitKind::Processes => Resource::Nproc,
        RlimitKind::Stack => Resource::Stack,
        RlimitKind::LockedMemory => Resource::Memlock,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step that fails, as the parent hears of it.
    fn check(rlimits: &[Rlimit], directory: &str, program: &str, expected: Option<Step>) {
        let mut command = Command::new(program);
        let setup = ChildSetup::new(rlimits, None, Path::new(directory)).unwrap();
        let report = setup.attach(&mut command).unwrap();
        match command.spawn() {
            Ok(mut child) => assert!(expected.is_none() && child.wait().unwrap().success()),
            Err(_) => assert_eq!(report.failed_step(), expected),
        }
    }

    #[test]
    fn the_step_that_failed_is_known() {
        let good = Rlimit { kind: RlimitKind::Core, soft: Some(0), hard: Some(0) };
        let bad = Rlimit { kind: RlimitKind::OpenFiles, soft: Some(60), hard: Some(50) };
        check(&[good], "/", "/bin/true", None);
        check(&[good, bad], "/", "/bin/true", Some(Step::Limit(1)));
        check(&[good], "/no/such/directory", "/bin/true", Some(Step::Directory));
        check(&[good], "/", "/no/such/program", Some(Step::Exec));
    }
}
