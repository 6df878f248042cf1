//! How many files this process may have open: as many as the system lets it. Every task costs a sidecar two or three, and
//! every connection costs a server one. A task has the limit back that the first process of ours was started with: programs
//! that use `select`, or close every number up to the limit, are hurt by a large one.

use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use crate::protocol::{self, RlimitKind};

/// Tells a sidecar the soft limit that its starter had before it raised its own.
const FORMER_VARIABLE: &str = "SIDECAR_TASK_OPEN_FILES";

static FORMER: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of this process, for a server. A sidecar that it starts still gives tasks the limit from before.
pub fn raise_open_files() {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    if before != raised && setrlimit(Resource::Nofile, raised).is_ok() {
        let _ = FORMER.set(before);
    }
}

/// Tells a sidecar that is about to be started which limit tasks have.
pub(crate) fn tell_former(command: &mut Command) {
    if let Some(soft) = FORMER.get().and_then(|former| former.current) {
        command.env(FORMER_VARIABLE, soft.to_string());
    }
}

/// The limit of tasks, where it is not that of the sidecar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskLimit(Option<Rlimit>);

impl TaskLimit {
    /// Raises the limit of this process.
    pub(crate) fn set_apart() -> Self {
        let here = getrlimit(Resource::Nofile);
        let told = std::env::var(FORMER_VARIABLE).ok().and_then(|soft| soft.parse().ok());
        let before = Rlimit { current: told.or(here.current), ..here };
        let raised = Rlimit { current: here.maximum, maximum: here.maximum };
        let is_raised = here == raised || setrlimit(Resource::Nofile, raised).is_ok();
        Self((is_raised && before != raised).then_some(before))
    }

    /// Gives it to a process that was just started. One system call, and none where there is no difference; a program is
    /// hardly loaded by then, and a fork that sets it before would cost it more than this whole start.
    pub(crate) fn give(self, pid: u32) {
        if let (Some(limit), Some(pid)) = (self.0, Pid::from_raw(pid as i32)) {
            let _ = prlimit(Some(pid), Resource::Nofile, limit);
        }
    }

    /// As a limit of an order, for a process that sets it by itself.
    pub(crate) fn rlimit(self) -> Option<protocol::Rlimit> {
        let kind = RlimitKind::OpenFiles;
        self.0.map(|limit| protocol::Rlimit { kind, soft: limit.current, hard: limit.maximum })
    }
}
